"""The one error that people see, and the exit codes of the command line."""

from __future__ import annotations

from enum import IntEnum

from app.core.words import Sentence


class ExitCode(IntEnum):
    """What a command ends with; scripts rely on these numbers."""

    DONE = 0
    WRONG_USE = 2
    MODEL_UNUSABLE = 3
    ENGINE_DIED = 4
    INTERRUPTED = 130


class UserError(Exception):
    """A known failure: one plain sentence that says what is wrong and what to do next."""

    def __init__(self, sentence: Sentence, exit_code: ExitCode = ExitCode.MODEL_UNUSABLE) -> None:
        super().__init__(sentence.english())
        self.sentence = sentence
        self.exit_code = exit_code
