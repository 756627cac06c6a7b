"""An engine that counts what is written, and the line under the draft that says it."""

from __future__ import annotations

from array import array
from collections.abc import Callable

from app.core.chat import ChatPrompt
from app.core.commands import Render, Tokenize
from app.core.events import Failed, Rendered, Tokenized
from app.core.words import translate
from tests.fake_engine import CONTEXT
from tests.gui.conftest import Stage


def status(stage: Stage) -> str:
    return stage.find("composer_status").accessibleName()


def settles(stage: Stage) -> None:
    """Wait until the draft that is written now has been handed on to be counted."""
    page = stage.window.parts.chat_page
    stage.bot.waitUntil(lambda: not page._settled.isActive(), timeout=60_000)


def ids_of(count: int, same: int = 41) -> bytes:
    """Return tokens of which so many are those of the prompt and the answer of one token that the engine of tests has."""
    return array("i", (*(*range(40), 0)[:same], *range(1000 + same, 1000 + max(count, same)))[:count]).tobytes()


def counts(
    stage: Stage,
    draft: int,
    prompt: int | Callable[[ChatPrompt], int],
    dropped: tuple[int, ...] = (),
    same: int = 41,
) -> None:
    """Let the engine count what was asked of it, until it is asked nothing more; what is too long it refuses.

    A prompt begins with so many tokens of the last one and its answer.
    """
    tokens = prompt if callable(prompt) else lambda _asked: prompt
    done = 0
    settles(stage)
    while done < len(open_questions := [each for each in stage.engine.sent if isinstance(each, (Tokenize, Render))]):
        for question in open_questions[done:]:
            if isinstance(question, Tokenize):
                stage.engine.say(Tokenized(question.request, ids_of(draft)))
            elif (number := tokens(question.prompt)) < CONTEXT:
                gone = tuple(index for index in dropped if index < len(question.prompt.messages) - 1)
                stage.engine.say(Rendered(question.request, "", ids_of(number, same), (), dropped=gone))
            else:
                reason = translate("Test", "Too long.")
                stage.engine.say(Failed(question.request, "prompt_too_long", reason, tokens=number))
        done = len(open_questions)
        stage.settle()
