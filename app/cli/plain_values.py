"""Values as JSON knows them: fields by their names, sentences in English, unknown is null."""

from __future__ import annotations

from typing import Any

import msgspec

from app.core.words import Sentence


def plain(value: Any) -> Any:
    """Return a value of dicts, lists, texts and numbers."""
    if isinstance(value, Sentence):
        return value.english()
    if isinstance(value, msgspec.Struct):
        return {field.name: plain(getattr(value, field.name)) for field in msgspec.structs.fields(value)}
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    return value
