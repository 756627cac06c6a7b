"""What stands in the box of each stage of the loop: a figure, two lines, and a small picture. Words only, no painting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from PySide6.QtCore import QCoreApplication

from app.core.sampling import SamplingSettings, in_effect
from app.gui.inside.loop.memory_words import counted, kept_figure, kept_lines, layer_lines
from app.gui.inside.loop.number_words import nothing_drawn, said, why_no_model, why_no_step, why_not_read
from app.gui.inside.loop.reading_words import why_no_speed
from app.gui.widgets.stage_words import chain_words
from app.gui.widgets.token_words import known_per_cent, quoted
from app.gui.widgets.words import render
from app.services.loop_values import LoopCandidate, LoopStep, LoopValues, StageName
from app.services.units import UNKNOWN, count, rate, stop_words

translate = QCoreApplication.translate
State = Literal["", "running", "waits", "ended"]
_MOST_CHARACTERS = 12
_MOST_BARS = 4


class Bar(NamedTuple):
    """A token with its chance."""

    text: str
    share: float | None
    is_taken: bool


class Face(NamedTuple):
    """All that a box shows; two that are alike are painted alike."""

    figure: str = ""
    lines: tuple[str, ...] = ()
    meter: tuple[float, ...] = ()
    """Parts of a bar from its beginning, shares of 0 to 1; none where there is no bar. A third one is at work."""
    bars: tuple[Bar, ...] = ()
    strip: tuple[float, ...] = ()
    """Numbers of a row, as they are."""
    state: State = ""
    why: str = ""
    """Why a figure is unknown."""
    tail: str = ""
    """A text of which the end is shown, in what lines are left."""


def face_of(stage: StageName, values: LoopValues) -> Face:
    """Return what the box of a stage shows."""
    face = _FACES[stage](values)
    state: State = ""
    if stage in values.running:
        state = "waits" if values.phase == "held" else "running"
    elif values.end_here is not None and stage == "stop":
        state = "ended"
    return face._replace(state=state)


def state_words(state: State) -> str:
    """Return in a word what goes on at a stage."""
    if state == "running":
        return translate("Loop", "running")
    if state == "waits":
        return translate("Loop", "waits for you")
    return translate("Loop", "ended here") if state == "ended" else ""


def _prompt(values: LoopValues) -> Face:
    question = values.prompt.question
    if not question:
        return Face(UNKNOWN, why=why_no_step(values))
    one, several = (
        translate("Loop", "1 character, in the chat template"),
        translate("Loop", "{count} characters, in the chat template"),
    )
    words = counted(one, several, values.prompt.characters)
    return Face(f"“{question}”", (words,))


def _tokens(values: LoopValues) -> Face:
    if values.prompt.tokens is None:
        return Face(UNKNOWN, why=why_no_step(values))
    first = tuple(f"{quoted(each.text, each.token, _MOST_CHARACTERS)}  {each.token}" for each in values.prompt.first)
    one, several = translate("Loop", "1 token"), translate("Loop", "{count} tokens")
    return Face(counted(one, several, values.prompt.tokens), first[:2])


def _embedding(values: LoopValues) -> Face:
    if values.model is None:
        return Face(UNKNOWN, why=why_no_model(values))
    width = count(values.model.shape.embedding)
    lines = [translate("Loop", "for each token")]
    if not values.embedding and not values.is_example:
        lines.append(translate("Loop", "as a strip, once they are read"))
    return Face(translate("Loop", "{count} numbers").format(count=width), tuple(lines), strip=values.embedding)


def _prefill(values: LoopValues) -> Face:
    read = values.prefill
    if read is None:
        return Face(UNKNOWN, why=why_not_read(values))
    figure = translate("Loop", "{rate} tok/s").format(rate=rate(read.tokens_per_s))
    if values.phase == "reading" or read.tokens_per_s is None:
        figure = translate("Loop", "{done} of {total}").format(done=count(read.done), total=count(read.total))
    lines = [
        translate("Loop", "{cached} of {total} cached").format(cached=count(read.from_cache), total=count(read.total))
    ]
    if read.begun:
        lines.append(translate("Loop", "{begun} of the answer").format(begun=count(read.begun)))
    elif values.model is not None:
        lines.append(translate("Loop", "≤\u00a0{count} at once").format(count=count(values.model.most_at_once)))
    total = max(read.total, 1)
    meter: tuple[float, ...] = (read.from_cache / total, (read.done - read.from_cache) / total)
    if values.phase == "reading" and values.model is not None:
        meter = (*meter, min(values.model.most_at_once, read.total - read.done) / total)
    return Face(figure, tuple(lines), meter, why=why_no_speed(values))


def _transformer(values: LoopValues) -> Face:
    model = values.model
    if model is None:
        return Face(UNKNOWN, why=why_no_model(values))
    one, several = translate("Loop", "1 layer"), translate("Loop", "{count} layers")
    return Face(counted(one, several, model.layers), layer_lines(model))


def _kv(values: LoopValues) -> Face:
    model = values.model
    cells = values.room
    if cells is None:
        return Face(UNKNOWN, why=why_no_model(values))
    is_state = model is not None and model.memory_kind == "recurrent"
    meter = () if is_state else ((values.held or 0) / max(cells, 1),)
    return Face(kept_figure(values, cells), kept_lines(values), meter)


def _logits(values: LoopValues) -> Face:
    if values.model is None:
        return Face(UNKNOWN, why=why_no_model(values))
    lines = (translate("Loop", "scores, one for each token of the vocabulary"),)
    return Face(count(values.model.vocabulary), lines)


def _probabilities(values: LoopValues) -> Face:
    step = values.step
    if step is None or not step.candidates:
        why = why_no_step(values) or translate("Loop", "It was not recorded what else could have come here.")
        return Face(UNKNOWN, why=why)
    bars = tuple(
        Bar(quoted(each.text, each.token, _MOST_CHARACTERS), each.raw, each.is_taken and step.is_drawn)
        for each in _shown(step)
    )
    return Face(bars=bars)


def _shown(step: LoopStep) -> tuple[LoopCandidate, ...]:
    """Return the likeliest tokens that have room, and the drawn one in any case."""
    taken, most = step.taken, step.candidates[:_MOST_BARS]
    if taken is None:
        drawn = step.token if step.is_drawn else None
        is_unknown = drawn is not None and all(each.token != drawn for each in step.candidates)
        taken = (
            LoopCandidate(drawn, step.text, None, None, is_taken=True) if drawn is not None and is_unknown else None
        )
    if taken is None or taken in most:
        return most
    return (*most[: _MOST_BARS - 1], taken)


def _chain(settings: SamplingSettings | None) -> str:
    if settings is None:
        return ""
    names = in_effect(settings).order
    return chain_words(names) if names else translate("Loop", "no stage does anything")


def _sampling(values: LoopValues) -> Face:
    step = values.step
    if step is None or step.survivors is None:
        why = why_no_step(values) or translate("Loop", "It was not recorded how many tokens were left here.")
        return Face(UNKNOWN, (_chain(values.settings),), why=why)
    left = count(step.survivors) if step.is_exact else f"≥\u00a0{count(step.survivors)}"
    return Face(translate("Loop", "{left} left").format(left=left), (_chain(values.settings),))


def _token(values: LoopValues) -> Face:
    step = values.step
    if step is None:
        return Face(UNKNOWN, why=why_no_step(values))
    place = translate("Loop", "token {place}").format(place=count(step.place + 1))
    if not step.is_drawn:
        waits = (place, translate("Loop", "not drawn yet"))
        if values.before is None:
            return Face("?", waits)
        before = quoted(values.before.text, values.before.token, _MOST_CHARACTERS)
        return Face("?", (*waits, translate("Loop", "after {token}").format(token=before)))
    taken = step.taken
    if taken is not None:
        chance = translate("Loop", "{share} of the draw").format(share=known_per_cent(taken.after))
        return Face(said(taken), (f"{place} · id {taken.token}", chance))
    lines = (place,) if step.token is None else (f"{place} · id {step.token}",)
    return Face(quoted(step.text, step.token, _MOST_CHARACTERS), lines)


def _stop(values: LoopValues) -> Face:
    if values.phase == "empty":
        return Face(UNKNOWN, why=why_no_step(values))
    if values.is_drawn_last:
        return Face(translate("Loop", "yes"), (translate("Loop", "the next token waits for you"),))
    if values.is_back:
        return Face(translate("Loop", "yes"), (translate("Loop", "on to the next token"),))
    if values.end is not None:
        reason = values.end.reason
        short = values.end.short or (stop_words(reason) if reason is not None else values.end.words)
        words = render(short)
        return Face(translate("Loop", "no"), (words,))
    settings, checks = values.settings, [translate("Loop", "end token")]
    if settings is not None and settings.max_tokens:
        checks.append(translate("Loop", "limit {count}").format(count=count(settings.max_tokens)))
    if settings is not None and settings.stop:
        one, several = translate("Loop", "1 stop text"), translate("Loop", "{count} stop texts")
        checks.append(counted(one, several, len(settings.stop)))
    figure = translate("Loop", "yes") if values.written else UNKNOWN
    lines = (translate("Loop", "looks for: {checks}").format(checks=", ".join(checks)),)
    return Face(figure, lines, why="" if values.written else why_no_step(values) or nothing_drawn())


def _answer(values: LoopValues) -> Face:
    if values.phase == "empty":
        return Face(UNKNOWN, why=why_no_step(values))
    one, several = translate("Loop", "1 token"), translate("Loop", "{count} tokens")
    figure = counted(one, several, values.written)
    speed = translate("Loop", "mean {rate} tok/s").format(rate=rate(values.tokens_per_s))
    if values.tokens_per_s is None:
        speed = translate("Loop", "{rate} tok/s").format(rate=UNKNOWN)
    if values.had is not None and not values.is_drawn_last:
        words = (
            translate("Loop", "of {count} so far")
            if values.end is None
            else translate("Loop", "of {count} in the end")
        )
        lines = (words.format(count=count(values.written)), speed)
        return Face(counted(one, several, values.had), lines, tail=values.last_words)
    if values.last_words:
        return Face(figure, (speed,), tail=values.last_words)
    is_over = translate("Loop", "it is over") if values.end is not None else translate("Loop", "not whole yet")
    return Face(figure, (speed, is_over))


_FACES: dict[StageName, Callable[[LoopValues], Face]] = {
    "prompt": _prompt,
    "tokens": _tokens,
    "embedding": _embedding,
    "prefill": _prefill,
    "transformer": _transformer,
    "kv": _kv,
    "logits": _logits,
    "probabilities": _probabilities,
    "sampling": _sampling,
    "token": _token,
    "stop": _stop,
    "answer": _answer,
}
