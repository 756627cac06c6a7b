"""What is said around an answer: who says it, and under it its figures and settings in one quiet line, and everything else on hover."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QFontMetricsF

from app.core.commands import SettingsChange
from app.core.events import Finished
from app.core.sampling import STAGE_FIELDS, STAGES, SamplingSettings
from app.gui.widgets.grammar_words import fits_words, grammar_name
from app.gui.widgets.labels import in_parts
from app.gui.widgets.stage_words import chain_words, off_words, order_words, stages_in_words
from app.gui.widgets.words import render
from app.services.thinking import Thoughts
from app.services.turns import Turn
from app.services.units import UNKNOWN, count, milliseconds, rate, seconds, stop_words

translate = QCoreApplication.translate
_BETWEEN = " · "
_NEUTRAL = {"repeat_penalty": 1.0, "frequency_penalty": 0.0, "presence_penalty": 0.0}
NO_WAIT = "0.0"
"""What a wait of less than 0.05 s reads as in seconds."""
_FROM_SECONDS_MS = 10_000
"""A time from here on is told in seconds, and the shorter one beside it as well."""
_MOST_SHARE = 0.6
"""Of a line, for one of several parts: the name of a model can be very long."""


def _names() -> dict[str, str]:
    """Return what the settings are called here."""
    return {
        "temperature": translate("TurnBlock", "temperature"),
        "top_k": "top-k",
        "top_p": "top-p",
        "min_p": "min-p",
        "typical_p": "typical-p",
        "repeat_penalty": translate("TurnBlock", "repeat penalty"),
        "frequency_penalty": translate("TurnBlock", "frequency penalty"),
        "presence_penalty": translate("TurnBlock", "presence penalty"),
        "penalty_last_n": translate("TurnBlock", "penalties over the last tokens"),
        "dry_multiplier": translate("TurnBlock", "DRY strength"),
        "dry_base": translate("TurnBlock", "DRY growth"),
        "dry_allowed_length": translate("TurnBlock", "DRY free length"),
        "dry_penalty_last_n": translate("TurnBlock", "DRY over the last tokens"),
        "xtc_probability": translate("TurnBlock", "XTC chance"),
        "xtc_threshold": translate("TurnBlock", "XTC threshold"),
        "max_tokens": translate("TurnBlock", "longest answer"),
    }


def short_names() -> dict[str, str]:
    """Return what settings are called in few words: the temperature, and every filter by one of its numbers."""
    return {
        "temperature": "T",
        "top_k": "top-k",
        "top_p": "top-p",
        "min_p": "min-p",
        "typical_p": "typical-p",
        "repeat_penalty": translate("TurnBlock", "repeat"),
        "frequency_penalty": translate("TurnBlock", "frequency"),
        "presence_penalty": translate("TurnBlock", "presence"),
        "dry_multiplier": "DRY",
        "xtc_probability": "XTC",
    }


def who(turn: Turn) -> str:
    """Return who says it."""
    if turn.role == "user":
        return translate("TurnBlock", "You")
    name = turn.author or translate("TurnBlock", "Answer")
    return translate("TurnBlock", "{name} · edited by you").format(name=name) if turn.edited else name


def dropped(turn: Turn) -> str:
    """Return what is said above an answer that was written without earlier messages."""
    if turn.dropped == 1:
        return translate("TurnBlock", "1 earlier message was not sent: the context is full")
    if turn.dropped:
        text = translate("TurnBlock", "{count} earlier messages were not sent: the context is full")
        return text.format(count=count(turn.dropped))
    return ""


def waiting(turn: Turn) -> str:
    """Return what is said in place of an answer that has no text yet: what goes on, or that something does."""
    if turn.is_held:
        return translate("TurnBlock", "Waits for you before its first word")
    return render(turn.doing) if turn.doing is not None else "…"


def lines(parts: Sequence[str], width: float, metrics: QFontMetricsF) -> list[str]:
    """Return parts in lines with dots between them: no line begins or ends with a dot, none is broken in a part."""
    if len(parts) == 1:
        return _wrapped(parts[0], width, metrics)
    found: list[str] = []
    most = width * _MOST_SHARE
    for whole in parts:
        part = metrics.elidedText(whole, Qt.TextElideMode.ElideMiddle, most)
        longer = f"{found[-1]}{_BETWEEN}{part}" if found else part
        if found and metrics.horizontalAdvance(longer) <= width:
            found[-1] = longer
        else:
            found.append(part)
    return found


def _wrapped(text: str, width: float, metrics: QFontMetricsF) -> list[str]:
    """Return a sentence in lines of whole words."""
    found: list[str] = []
    for word in text.split():
        longer = f"{found[-1]} {word}" if found else word
        if found and metrics.horizontalAdvance(longer) <= width:
            found[-1] = longer
        else:
            found.append(metrics.elidedText(word, Qt.TextElideMode.ElideMiddle, width))
    return found


def parts(turn: Turn) -> list[str]:
    """Return the parts of the line under an answer, none of them empty; while it is written, only that it waits."""
    return [part for part in _parts(turn) if part]


def line(turn: Turn) -> str:
    """Return the line under an answer in one piece."""
    return " · ".join(parts(turn))


def _parts(turn: Turn) -> list[str]:
    finished = turn.finished
    if turn.state == "interrupted" and turn.reason is not None:
        interrupted = translate("TurnBlock", "Interrupted: what was written stays.")
        return [interrupted if turn.text else render(turn.reason)]
    if turn.state == "writing" and turn.is_held:
        return [translate("TurnBlock", "Waits for you before its next token")]
    if turn.state != "done" or finished is None:
        return []
    if not turn.text:
        return [_without_a_word(finished)]
    metrics = finished.metrics
    tokens = translate("TurnBlock", "{count} tokens").format(count=count(metrics.sampled_tokens))
    said = [translate("TurnBlock", "1 token") if metrics.sampled_tokens == 1 else tokens]
    if turn.chosen:
        said.append(translate("TurnBlock", "{count} chosen by hand").format(count=count(turn.chosen)))
    if metrics.decode_tokens_per_s is not None:
        said.append(translate("TurnBlock", "{rate} tok/s").format(rate=rate(metrics.decode_tokens_per_s)))
    ttft = turn.ttft_ms if turn.ttft_ms is not None else metrics.ttft_ms
    if ttft is not None:
        ttft_words = _ttft(ttft, turn.thoughts)
        shared = translate("TurnBlock", "{ttft} (shared with the other lanes)")
        said.append(shared.format(ttft=ttft_words) if turn.was_lane else ttft_words)
    said.append(render(stop_words(finished.stop_reason)))
    if turn.author:
        said.append(turn.author)
    return said + _settings_in_short(finished)


def _without_a_word(finished: Finished) -> str:
    """Return why there is an answer without any text."""
    match finished.stop_reason:
        case "cancelled":
            return translate("TurnBlock", "Stopped before the first word.")
        case "context_full":
            return translate("TurnBlock", "The context was full before the first word.")
        case "length":
            return translate("TurnBlock", "The length limit was reached before the first word.")
    return translate("TurnBlock", "The model ended its answer before the first word.")


def _ttft(ttft: float, thoughts: Thoughts | None) -> str:
    """Return the time to the first token, and where the answer thought first, that to the first of the answer too."""
    thinking = thoughts.thinking if thoughts is not None else None
    if thinking is None or thinking.first_answer_ms is None:
        return translate("TurnBlock", "TTFT {time}").format(time=milliseconds(ttft))
    answer_ms = thinking.first_answer_ms
    in_unit = seconds if max(ttft, answer_ms) >= _FROM_SECONDS_MS else milliseconds
    both = translate("TurnBlock", "TTFT {thinking} (thinking) · {answer} (answer)")
    return both.format(thinking=in_unit(ttft), answer=in_unit(answer_ms))


def details(turn: Turn) -> str:
    """Return what is said on hover: every setting that was active, the seed and the figures of the prompt."""
    finished = turn.finished
    if turn.state != "done" or finished is None:
        return ""
    lines = [f"{name}: {value}" for name, value in figures(turn)]
    for change in finished.settings:
        active = in_parts([f"{name} {value}" for name, value in active_settings(change.settings)])
        lines.append(f"{since(change)}: {active}")
    return "\n".join([*lines, *notes(turn)])


def figures(turn: Turn) -> list[tuple[str, str]]:
    """Return what is known of how an answer came about, beside its settings: names and values."""
    finished = turn.finished
    if turn.state != "done" or finished is None:
        return []
    metrics = finished.metrics
    prompt = translate("TurnBlock", "{tokens} tokens, {cached} of them from the cache")
    prefill = translate("TurnBlock", "{rate} tok/s")
    return [
        (
            translate("TurnBlock", "Prompt"),
            prompt.format(tokens=count(metrics.prompt_tokens), cached=count(metrics.prompt_tokens_from_cache)),
        ),
        (translate("TurnBlock", "Prefill"), prefill.format(rate=rate(metrics.prefill_tokens_per_s))),
        (translate("TurnBlock", "Seed"), UNKNOWN if finished.seed is None else str(finished.seed)),
    ]


def since(change: SettingsChange) -> str:
    """Return from where on settings held in an answer."""
    later = translate("TurnBlock", "From token {token} on")
    return later.format(token=count(change.token)) if change.token else translate("TurnBlock", "Settings")


def notes(turn: Turn) -> list[str]:
    """Return what else is to be said of an answer; that it waited for no time is nothing to say."""
    return [render(note) for note in turn.notes if note.values.get("seconds") != NO_WAIT]


def _settings_in_short(finished: Finished) -> list[str]:
    if not finished.settings:
        return []
    used = [change.settings for change in finished.settings]
    said = [
        f"{words} {_course([shown_value(each, name) for each in used])}"
        for name, words in short_names().items()
        if any(name not in _off(each) for each in used)
    ]
    if any(each.order != STAGES for each in used):
        said.append(_course([order_words(each) for each in used]))
    if any(each.off for each in used):
        said.append(_course([off_words(each) for each in used]))
    if any(each.grammar for each in used):
        said.append(_course([fits_words(each.grammar) for each in used]))
    if finished.seed is not None:
        said.append(translate("TurnBlock", "seed {seed}").format(seed=finished.seed))
    return said


def shown_value(settings: SamplingSettings, name: str) -> str:
    """Return the value of a setting in words: those that shape nothing are off."""
    return translate("TurnBlock", "off") if name in _off(settings) else f"{getattr(settings, name):g}"


def _course(values: Sequence[str]) -> str:
    """Return what a setting was over an answer: its first and its last value, and a mark for others in between."""
    steps = [value for number, value in enumerate(values) if number == 0 or value != values[number - 1]]
    return " → ".join(steps if len(steps) < 3 else (steps[0], "…", steps[-1]))


def active_settings(settings: SamplingSettings) -> list[tuple[str, str]]:
    """Return names and values of the settings that shape the draw, in the order of the stages' names."""
    off = _off(settings) - {name for name in _NEUTRAL if settings.penalty_reach(1)}
    said = [(words, f"{getattr(settings, name):g}") for name, words in _names().items() if name not in off]
    if settings.order != STAGES:
        said.append((translate("TurnBlock", "order"), chain_words(settings.stages)))
    if settings.off:
        said.append((translate("TurnBlock", "switched off"), stages_in_words(settings.off)))
    if settings.grammar is not None:
        said.append((translate("TurnBlock", "grammar"), grammar_name(settings.grammar)))
    return said


def _off(settings: SamplingSettings) -> set[str]:
    """Return the names of the settings that shape nothing."""
    off = {name for name, neutral in _NEUTRAL.items() if getattr(settings, name) == neutral}
    if settings.penalty_reach(1) == 0:
        off |= {"repeat_penalty", "frequency_penalty", "presence_penalty", "penalty_last_n"}
    if settings.dry_reach(1) == 0:
        off |= {"dry_multiplier", "dry_base", "dry_allowed_length", "dry_penalty_last_n"}
    if settings.xtc_probability <= 0:
        off |= {"xtc_probability", "xtc_threshold"}
    off |= {name for stage in settings.off for name in STAGE_FIELDS.get(stage, ())}
    off |= {name for name in ("top_k", "min_p", "max_tokens") if getattr(settings, name) <= 0}
    return off | {name for name in ("top_p", "typical_p") if getattr(settings, name) >= 1}
