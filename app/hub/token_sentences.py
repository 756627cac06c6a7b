"""What people are told about an access token and the keyring that keeps it."""

from __future__ import annotations

from app.core.errors import ExitCode, UserError
from app.core.words import translate


def no_token() -> UserError:
    """What was given is no token."""
    return UserError(
        translate("Hub", "That is no access token: copy it again from your account's page, without spaces."),
        ExitCode.WRONG_USE,
    )


def no_keyring() -> UserError:
    """There is no keyring, or one that would not keep a secret."""
    return UserError(
        translate(
            "Hub",
            "This system has no keyring that keeps a secret: start one, such as GNOME Keyring or KWallet, or set HF_TOKEN"
            " for each start instead.",
        )
    )


def not_kept() -> UserError:
    """The keyring took it and does not have it, or did not take it."""
    return UserError(
        translate("Hub", "The keyring did not keep the token: unlock it and try again, or set HF_TOKEN instead.")
    )


def not_given() -> UserError:
    """It is there, and the keyring does not tell it."""
    return UserError(
        translate("Hub", "The keyring does not give the token: unlock it and try again, or set HF_TOKEN instead.")
    )


def not_forgotten() -> UserError:
    """It is still there."""
    return UserError(
        translate("Hub", "The keyring did not delete the token: unlock it and try again, or delete it there by hand.")
    )


def not_noted(name: str) -> UserError:
    """The note of hosts cannot be written."""
    return UserError(
        translate("Hub", "{name} cannot be written: check the permissions and the room on the disk.", name=name)
    )
