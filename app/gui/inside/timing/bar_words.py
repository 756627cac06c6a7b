"""What the timeline says in words: its rows, each bar with start and length, what is unknown of it and why."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from app.gui.inside.timing.bars import Bar, BarKind, Row
from app.gui.widgets.labels import in_parts
from app.gui.widgets.token_words import quoted
from app.services.inspection import InspectedAnswer
from app.services.timeline_values import AnswerTimeline, Pause, Unknown
from app.services.units import count

translate = QCoreApplication.translate
_ICONS: dict[Row, str] = {
    "waiting": "clock",
    "tokens": "tokens",
    "prefill": "prefill",
    "decode": "decode",
    "sampling": "sampling",
}
_MOST_LETTERS = 24
"""Of a token, in its sentence."""


def icon_of(row: Row) -> str:
    """Return the name of the icon of a row."""
    return _ICONS[row]


def row_words(row: Row) -> str:
    """Return what a row is called."""
    match row:
        case "waiting":
            return translate("Timeline", "Waiting")
        case "tokens":
            return translate("Timeline", "Tokens")
        case "prefill":
            return translate("Timeline", "Prefill")
        case "decode":
            return translate("Timeline", "Decode")
        case "sampling":
            return translate("Timeline", "Sampling")


def kind_words(kind: BarKind) -> str:
    """Return what a bar is called."""
    match kind:
        case "save":
            return translate("Timeline", "Save")
        case "queue":
            return translate("Timeline", "Queue")
        case "before":
            return translate("Timeline", "Queue and tokens")
        case "template":
            return translate("Timeline", "Template")
        case "tokenise":
            return translate("Timeline", "Tokenise")
        case "tokens":
            return translate("Timeline", "Template and tokenise")
        case "prefill":
            return translate("Timeline", "Prefill")
        case "first_sample":
            return translate("Timeline", "First sample")
        case "decode":
            return translate("Timeline", "All decode steps")
        case "held_back":
            return translate("Timeline", "Held back")
        case "paint":
            return translate("Timeline", "Paint")
        case "step":
            return translate("Timeline", "Decode step")


def what_it_is(kind: BarKind) -> str:
    """Return in plain words what happens in a bar."""
    match kind:
        case "save":
            return translate("Timeline", "the question is written to disk before the model sees it")
        case "queue":
            return translate("Timeline", "the engine is not free for it yet")
        case "before":
            return translate("Timeline", "saved, waited, and made into tokens")
        case "template":
            return translate("Timeline", "the chat becomes the text that the model was taught to read")
        case "tokenise":
            return translate("Timeline", "the text becomes the numbers of its tokens")
        case "tokens":
            return translate("Timeline", "the chat becomes the numbers of its tokens")
        case "prefill":
            return translate("Timeline", "the model reads the prompt")
        case "first_sample":
            return translate(
                "Timeline",
                "logits read, samplers made ready, first token drawn; long where the processor is busy or a grammar large",
            )
        case "decode":
            return translate("Timeline", "the model writes, token by token")
        case "held_back":
            return translate(
                "Timeline", "there are tokens, but their text may still become part of a letter or of a stop string"
            )
        case "paint":
            return translate("Timeline", "the first letters come onto the screen")
        case "step":
            return translate("Timeline", "the model goes through all its layers for one more token")


def time_words(ns: float) -> str:
    """Return a length of time with as many digits as it deserves."""
    ms = ns / 1e6
    if ms >= 10_000:
        return in_seconds(f"{ms / 1000:,.2f}")
    if ms >= 100:
        return _in_ms(f"{ms:,.0f}")
    return _in_ms(f"{ms:.1f}" if ms >= 10 else f"{ms:.2f}")


def in_seconds(value: str) -> str:
    """Return a number with its unit."""
    return translate("Timeline", "{value} s").format(value=value)


def _in_ms(value: str) -> str:
    return translate("Timeline", "{value} ms").format(value=value)


def tick_words(ns: float, step_ns: float) -> str:
    """Return a moment of the ruler; `step_ns` is how far two of them are apart."""
    if step_ns >= 1e9:
        return in_seconds(f"{ns / 1e9:,.0f}")
    if step_ns >= 1e8:
        return in_seconds(f"{ns / 1e9:,.1f}")
    return _in_ms(f"{ns / 1e6:,.0f}" if step_ns >= 1e6 else f"{ns / 1e6:,.2f}")


def text_of(answer: InspectedAnswer | None, bar: Bar) -> str | None:
    """Return what the token of a decode step says; None where nobody knows."""
    if answer is None or bar.token is None or bar.token >= len(answer):
        return None
    return answer.texts[bar.token]


def said_words(answer: InspectedAnswer | None, bar: Bar) -> str:
    """Return what the token of a decode step says, or which one it is where it has no text; empty where nobody knows."""
    if answer is None or bar.token is None or bar.token >= len(answer):
        return ""
    text, token = answer.texts[bar.token], answer.ids[bar.token]
    if text:
        return quoted(text, token, _MOST_LETTERS)
    words = translate("Timeline", "(id {id})") if text is None else translate("Timeline", "(id {id}, no text)")
    return words.format(id=token)


def bar_sentence(bar: Bar, timeline: AnswerTimeline, said: str) -> str:
    """Return one sentence on a bar; `said` is what is said of the token of a decode step."""
    parts = [_title(bar, timeline, said)]
    parts.append(
        translate("Timeline", "starts at {start}, takes {length}").format(
            start=time_words(bar.start_ns), length=time_words(bar.ns)
        )
    )
    if bar.kind == "prefill" and bar.first is not None and bar.end is not None:
        parts.append(_stretch(bar.first, bar.end, has_given=bool(timeline.first)))
    if bar.kind in ("step", "first_sample") and timeline.sampling_ns is not None:
        parts.append(
            translate("Timeline", "a draw takes {length} of it on average").format(
                length=time_words(timeline.sampling_ns)
            )
        )
    parts.append(what_it_is(bar.kind))
    return " · ".join(parts)


def _stretch(first: int, end: int, *, has_given: bool) -> str:
    """Return which tokens were read; `has_given` where given words, which the answer begins with, are read with them."""
    one, several = (
        translate("Timeline", "token {first} of the prompt"),
        translate("Timeline", "tokens {first} to {last} of the prompt"),
    )
    if has_given:
        one, several = (
            translate("Timeline", "token {first} of the prompt and what the answer begins with"),
            translate("Timeline", "tokens {first} to {last} of the prompt and what the answer begins with"),
        )
    return (one if end - first == 1 else several).format(first=count(first + 1), last=count(end))


def _title(bar: Bar, timeline: AnswerTimeline, said: str) -> str:
    if bar.token is None:
        return kind_words(bar.kind)
    said = f" {said}" if said else ""
    if bar.token in timeline.paused_before:
        return translate("Timeline", "Token {token}{text}, time before it left out").format(
            token=count(bar.token + 1), text=said
        )
    return translate("Timeline", "Decode step to token {token}{text}").format(token=count(bar.token + 1), text=said)


def band_words(steps: int) -> str:
    """Return what stands in a band of steps that are too narrow to be told apart."""
    one, several = (
        translate("Timeline", "1 step: zoom in to see it"),
        translate("Timeline", "{steps} steps: zoom in to see each"),
    )
    return one if steps == 1 else several.format(steps=count(steps))


def pause_words(pause: Pause, timeline: AnswerTimeline) -> str:
    """Return what is said of time that is left out."""
    if timeline.is_behind(pause):
        if pause.ns is None:
            return translate(
                "Timeline", "At its end the answer was held, nobody knows for how long: that is left out."
            )
        return translate("Timeline", "At its end the answer was held for {length}: that is left out.").format(
            length=time_words(pause.ns)
        )
    if pause.ns is None:
        return translate(
            "Timeline", "Before token {token} time passed that belongs to no step: it is left out."
        ).format(token=count(pause.token + 1))
    return translate("Timeline", "Before token {token} the answer was held for {length}: that is left out.").format(
        token=count(pause.token + 1), length=time_words(pause.ns)
    )


def pauses_sentence(timeline: AnswerTimeline) -> str:
    """Return what the signs of pauses stand for, and how much they leave out; nothing where there is none."""
    held = [pause.ns for pause in timeline.pauses if pause.ns is not None]
    said: list[str] = []
    if held:
        words = translate("Timeline", "The answer was held {count} ×, {length} in all: that time is left out.")
        said.append(words.format(count=count(len(held)), length=time_words(sum(held))))
    if lost := len(timeline.pauses) - len(held):
        words = translate("Timeline", "{count} × time passed that belongs to no step: it is left out.")
        said.append(words.format(count=count(lost)))
    if timeline.lost_holds_ns:
        words = translate(
            "Timeline",
            "The answer was held, {length} in all: that time is left out. Before which tokens: –, because that is known "
            "only until Tokenlight ends or the answer goes on.",
        )
        said.append(words.format(length=time_words(timeline.lost_holds_ns)))
    return " ".join(said)


def unknown_words(unknown: Unknown) -> str:
    """Return why something is not there."""
    match unknown:
        case "parts":
            return translate(
                "Timeline",
                "Before the first token: –, because the answer was interrupted and its figures were not kept.",
            )
        case "beginning":
            return translate(
                "Timeline", "Before the first token: –, because the answer begins with one that was written before."
            )
        case "waits":
            return translate(
                "Timeline", "No time is measured yet: it counts from when the question goes to the model."
            )
        case "chunks":
            return translate(
                "Timeline", "Single chunks of the prefill: –, because they are kept only until Tokenlight ends."
            )
        case "template":
            return translate("Timeline", "Template apart from tokenising: –, because nobody measured it apart.")
        case "steps":
            return translate(
                "Timeline",
                "Single decode steps: –, because the record of tokens was off, so only all together is known.",
            )
        case "reading":
            return translate("Timeline", "Single decode steps: –, because the record of tokens is still being read.")
        case "sampling":
            return translate("Timeline", "Time of the draws: –, because nobody measured it.")
        case "paint":
            return translate("Timeline", "Paint: –, because nobody saw the first letters come onto the screen.")


def unknown_sentence(timeline: AnswerTimeline) -> str:
    """Return all that is not known of a timeline, and why, a line each."""
    shown: Sequence[Unknown] = timeline.unknown
    if timeline.is_open:  # what only comes at the end is no news, and that it waits is said above
        shown = [each for each in shown if each not in ("waits", "template", "sampling", "paint")]
    return "\n".join(map(unknown_words, shown))


def summary_words(timeline: AnswerTimeline) -> str:
    """Return the timeline in one line: until the first text, the decode, all."""
    if not timeline.end_ns:
        return ""
    said: list[str] = []
    parts = {part.kind: part for part in timeline.parts}
    shown = [part for part in timeline.parts if part.kind not in ("decode", "prefill")]
    if shown and not timeline.is_open and ("first_sample" in parts or "held_back" in parts):
        said.append(
            translate("Timeline", "first text after {length}").format(
                length=time_words(max(part.end_ns for part in shown))
            )
        )
    if timeline.timed_steps:
        length = time_words(timeline.drawn_ns[-1] - timeline.drawn_ns[0])
        words = translate("Timeline", "{steps} decode steps in {length}")
        if timeline.timed_steps == 1:
            words = translate("Timeline", "1 decode step in {length}")
        said.append(words.format(steps=count(timeline.timed_steps), length=length))
    elif "decode" in parts:
        said.append(
            translate("Timeline", "all decode steps in {length}").format(length=time_words(parts["decode"].ns))
        )
    said.append(translate("Timeline", "all in {length}").format(length=time_words(timeline.end_ns)))
    line = in_parts(said)
    return line[:1].upper() + line[1:]
