"""Where the access token for a hub is; the token itself is no value that services or a window ever hold on to."""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.words import Sentence

TokenPlace = Literal["none", "environment", "keyring"]
LONGEST_TOKEN = 500


class HubToken(msgspec.Struct, frozen=True):
    """What is known of a token without telling it."""

    place: TokenPlace
    host: str
    """The hub that it is for, and that alone sees it."""
    problem: Sentence | None = None
    """Why the keyring does not give it."""


def is_token(text: str) -> bool:
    """Whether a text can be an access token, which also goes into a header as it is."""
    return 0 < len(text) <= LONGEST_TOKEN and text.isascii() and text.isprintable() and " " not in text
