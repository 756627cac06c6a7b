"""What can be set in the preferences: each option with its name in the settings, its label and its hint, once.

Defaults stand in the settings themselves; knows no widget.
"""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from app.system.settings_file import LEAST_TEXT_SIZE, MOST_STATES_GB, MOST_TEXT_SIZE

translate = QCoreApplication.translate
OFFLINE = "offline"
"""The setting that more than the settings file decides."""


class Choice(NamedTuple):
    """One of a few values."""

    name: str
    label: str
    hint: str
    values: tuple[tuple[str, str], ...]
    """Each value and what people read for it."""


class Switch(NamedTuple):
    """On or off."""

    name: str
    label: str
    hint: str
    fixed: str = ""
    """Why it cannot be changed, in place of the hint; empty where it can."""


class Number(NamedTuple):
    """A whole number between two ends."""

    name: str
    label: str
    hint: str
    least: int
    most: int
    step: int


class Text(NamedTuple):
    """Some lines of text."""

    name: str
    label: str
    hint: str
    placeholder: str


class Tags(NamedTuple):
    """Names of tags on one line."""

    name: str
    label: str
    hint: str
    placeholder: str


Option = Choice | Switch | Number | Text | Tags


class Group(NamedTuple):
    """Options that belong together under a heading."""

    title: str
    options: tuple[Option, ...]


def groups(offline_variable: str = "") -> tuple[Group, ...]:
    """Return all options in the order of the form; a variable of the environment may decide whether to stay offline."""
    return (_appearance(), _chats(), _thinking(), _internet(offline_variable))


def _appearance() -> Group:
    return Group(
        translate("Preferences", "Appearance"),
        (
            Choice(
                "theme",
                translate("Preferences", "Theme"),
                translate("Preferences", "As the system: light, dark or high contrast, and changes with it."),
                (
                    ("system", translate("Preferences", "As the system")),
                    ("light", translate("Preferences", "Light")),
                    ("dark", translate("Preferences", "Dark")),
                    ("contrast", translate("Preferences", "High contrast")),
                ),
            ),
            Number(
                "text_size",
                translate("Preferences", "Text size in %"),
                translate(
                    "Preferences",
                    "Of messages and of what you write; Ctrl\u00a0+ and Ctrl\u00a0− change it anywhere.",
                ),
                LEAST_TEXT_SIZE,
                MOST_TEXT_SIZE,
                10,
            ),
            Switch(
                "reduce_motion",
                translate("Preferences", "Reduce motion"),
                translate("Preferences", "Panels appear at once instead of sliding in."),
            ),
        ),
    )


def _chats() -> Group:
    return Group(
        translate("Preferences", "Chats"),
        (
            Text(
                "system_prompt",
                translate("Preferences", "System prompt for new chats"),
                translate(
                    "Preferences",
                    "What the model is told before the first message; open chats keep theirs. A chat preset that new"
                    " chats start with goes before it.",
                ),
                translate("Preferences", "None"),
            ),
            Choice(
                "keep_record",
                translate("Preferences", "Save for each token"),
                translate("Preferences", "What is saved with an answer, to look at its tokens later."),
                (
                    ("all", translate("Preferences", "All likely candidates")),
                    ("chosen", translate("Preferences", "The chosen token only")),
                    ("off", translate("Preferences", "Nothing")),
                ),
            ),
            Number(
                "kept_states_gb",
                translate("Preferences", "Keep chats read, in GB"),
                translate(
                    "Preferences",
                    "How much disk the memory of models (their KV cache) may take, so that a chat goes on at once after a"
                    " restart or a change of chats. 0 keeps nothing. The files are as private as the chats themselves.",
                ),
                0,
                MOST_STATES_GB,
                1,
            ),
        ),
    )


def _thinking() -> Group:
    return Group(
        translate("Preferences", "Thinking"),
        (
            Switch(
                "unfold_thinking",
                translate("Preferences", "Unfold thinking while it is written"),
                translate("Preferences", "Otherwise one line stands for it, which unfolds it."),
            ),
            Tags(
                "thinking_tags",
                translate("Preferences", "Own thinking tags"),
                translate(
                    "Preferences",
                    "For models whose chat template does not name the tags around their thinking. Separate several"
                    " by spaces; they hold from the next answer on.",
                ),
                translate("Preferences", "Such as: reflection <scratchpad>"),
            ),
        ),
    )


def _internet(variable: str) -> Group:
    fixed = translate(
        "Preferences",
        "This is on because {variable} is set: take the variable away and start Tokenlight again to change it here.",
    )
    return Group(
        translate("Preferences", "Internet"),
        (
            Switch(
                OFFLINE,
                translate("Preferences", "Stay offline"),
                translate(
                    "Preferences",
                    "No connection to the internet is opened: searches show what they found before, and downloads wait.",
                ),
                fixed.format(variable=variable) if variable else "",
            ),
        ),
    )
