"""What is said of lanes: what each is called after what differs, what they share, and how they run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QCoreApplication, QDate, QDateTime, QLocale
from PySide6.QtGui import QKeySequence

from app.core.comparison import LETTERS, MOST_AT_ONCE, Comparison, LanePlan, Layout
from app.core.sampling import STAGES, SamplingSettings
from app.core.version import VERSION
from app.gui.chat.footer import short_names, shown_value
from app.gui.sampling.controls import dry, main_controls, penalties, typical_control, xtc
from app.gui.sampling.escapes import with_escapes
from app.gui.widgets.grammar_words import fits_words, grammar_name
from app.gui.widgets.stage_words import off_words, order_words, stages_in_words
from app.gui.widgets.words import render
from app.services.lane_outlook import Outlook
from app.services.lane_starts import WITHOUT_EFFECT_AT_0, differing, is_greedy
from app.services.lanes_run import Lane, LanesRun
from app.services.units import count, stop_words

translate = QCoreApplication.translate
BETWEEN = " · "
LONGEST_SEED = 6
"""Digits of a seed that a short name has room for."""


def setting_titles() -> dict[str, str]:
    """Return what each setting is called where there is room."""
    controls = [*main_controls(), typical_control(), *penalties().controls, *dry().controls, *xtc().controls]
    titles = {each.name: each.spoken or each.title for each in controls}
    return titles | {
        "dry_sequence_breakers": translate("Compare", "DRY starts anew at"),
        "seed": translate("Compare", "Seed"),
        "max_tokens": translate("Compare", "Longest answer"),
        "stop": translate("Compare", "Stop strings"),
        "order": translate("Compare", "Order of the stages"),
        "off": translate("Compare", "Switched off"),
        "grammar": translate("Compare", "Grammar"),
    }


def setting_value(settings: SamplingSettings, name: str) -> str:
    """Return the value of a setting in words."""
    value = getattr(settings, name)
    if name == "order":
        return order_words(settings)
    if name == "off":
        return stages_in_words(settings.off) or translate("Compare", "none")
    if name == "grammar":
        return grammar_name(settings.grammar)
    if isinstance(value, tuple):
        return " ".join(f"“{with_escapes(text)}”" for text in value) or translate("Compare", "none")
    if name == "seed":
        return translate("Compare", "random") if value is None else str(value)
    if name == "max_tokens":
        return count(value) if value else translate("Compare", "no limit")
    return shown_value(settings, name)


def short_seed(settings: SamplingSettings) -> str:
    """Return a seed in few digits: the last ones tell neighbours apart."""
    said = setting_value(settings, "seed")
    is_long = settings.seed is not None and len(said) > LONGEST_SEED
    return f"{said[:2]}…{said[-4:]}" if is_long else said


def lane_name(settings: SamplingSettings, differs: Sequence[str]) -> str:
    """Return what a lane is called: the settings in which it differs from the others, with their values."""
    return BETWEEN.join(_named(settings, differs, setting_titles())) or translate("Compare", "The same settings")


def short_lane_parts(settings: SamplingSettings, differs: Sequence[str]) -> list[str]:
    """Return the settings in which a lane differs from the others under their short names, with their values."""
    return _named(settings, differs, setting_titles() | short_names(), is_short=True)


def _named(
    settings: SamplingSettings, differs: Sequence[str], titles: Mapping[str, str], *, is_short: bool = False
) -> list[str]:
    if "temperature" in differs and is_greedy(settings):
        return [translate("Compare", "Greedy")]
    idle = (*WITHOUT_EFFECT_AT_0, "seed", "order") if settings.is_greedy and "temperature" in differs else ()
    names = [name for name in differs if name not in idle]
    said = {"order": order_words(settings), "off": off_words(settings), "grammar": fits_words(settings.grammar)}
    return [said.get(name) or f"{titles[name]} {_value(settings, name, is_short=is_short)}" for name in names]


def _value(settings: SamplingSettings, name: str, *, is_short: bool) -> str:
    return short_seed(settings) if is_short and name == "seed" else setting_value(settings, name)


def shared_words(settings: SamplingSettings, differs: Sequence[str]) -> str:
    """Return in few words what else is in use: no setting that differs, and not the seed, which is told of all lanes."""
    off = translate("TurnBlock", "off")
    said = [translate("Compare", "always the likeliest token")] if settings.is_greedy else []
    for name, words in short_names().items():
        without_effect = settings.is_greedy and name in ("temperature", *WITHOUT_EFFECT_AT_0)
        value = shown_value(settings, name)
        if name not in differs and not without_effect and value != off:
            said.append(f"{words} {value}")
    if settings.order != STAGES and "order" not in differs and not settings.is_greedy:
        said.append(order_words(settings))
    if settings.off and "off" not in differs:
        said.append(off_words(settings))
    if settings.grammar is not None and "grammar" not in differs:
        said.append(fits_words(settings.grammar))
    return BETWEEN.join(said)


def cell_name(layout: Layout, settings: SamplingSettings) -> str:
    """Return what a cell of a grid is called: its two values."""
    names, titles = short_names(), setting_titles()
    pair = (layout.column_setting, layout.row_setting)
    return BETWEEN.join(f"{names.get(name, titles[name])} {setting_value(settings, name)}" for name in pair)


def short_cell_name(layout: Layout, settings: SamplingSettings) -> str:
    """Return what a cell is called where there is little room: that of the row is its value alone."""
    first = cell_name(layout, settings).partition(BETWEEN)[0]
    return BETWEEN.join((first, setting_value(settings, layout.row_setting)))


def run_lane_name(run: LanesRun, lane: Lane) -> str:
    """Return what a lane of a comparison is called."""
    if run.comparison.layout.columns:
        return cell_name(run.comparison.layout, lane.settings)
    return lane_name(lane.settings, differing(each.settings for each in run.lanes))


def seed_words(settings: Sequence[SamplingSettings], *, short: bool = False) -> str:
    """Return what the seeds of lanes mean for what people see, in few words where asked; empty for one lane."""
    seeds = {each.seed for each in settings}
    if len(settings) < 2:
        return ""
    if len(seeds) > 1:
        return translate("Compare", "The seeds differ, so other numbers are drawn in each lane.")
    if None in seeds:
        return translate("Compare", "All lanes draw the same numbers: what differs is the setting, up to rounding.")
    if short:
        said = translate("Compare", "Same seed ({seed}): what differs is the setting, up to rounding.")
        return said.format(seed=next(iter(seeds)))
    said = translate(
        "Compare",
        "Same seed ({seed}): all lanes draw the same numbers, so what differs is the setting, up to rounding: where two "
        "tokens are almost equally likely, equal settings can part.",
    )
    return said.format(seed=next(iter(seeds)))


def compared_words(settings: Sequence[SamplingSettings], lanes: int) -> str:
    """Return what was compared: the settings that differ from lane to lane, with the values where it is one, and how many
    lanes there are."""
    differs, titles = differing(settings), setting_titles()
    said = BETWEEN.join(titles[name] for name in differs) or translate("Compare", "The same settings")
    if len(differs) == 1:
        values = dict.fromkeys(_value(each, differs[0], is_short=True) for each in settings)
        said = f"{said} {BETWEEN.join(values)}"
    words = translate("Compare", "{what} (1 lane)") if lanes == 1 else translate("Compare", "{what} ({lanes} lanes)")
    return words.format(what=said, lanes=lanes)


def differing_words(settings: Sequence[SamplingSettings]) -> str:
    """Return in a few plain words how many lanes there are and in which settings they differ."""
    differs, titles = differing(settings), setting_titles()
    if len(settings) == 1:
        return translate("Compare", "1 lane")
    if not differs:
        return translate("Compare", "{lanes} lanes with the same settings").format(lanes=len(settings))
    names = BETWEEN.join(titles[name] for name in differs)
    if len(differs) > 1:
        return translate("Compare", "{lanes} lanes that differ in {settings}").format(
            lanes=len(settings), settings=names
        )
    values = BETWEEN.join(dict.fromkeys(setting_value(each, differs[0]) for each in settings))
    said = translate("Compare", "{lanes} lanes that differ in {settings}: {values}")
    return said.format(lanes=len(settings), settings=names, values=values)


def kept_words(comparison: Comparison, lanes: Sequence[Lane]) -> str:
    """Return which of the lanes that are there became answers in the chat; empty where none did."""
    kept = [LETTERS[lane.index] for lane in lanes if lane.index in comparison.kept]
    if not kept:
        return ""
    if len(kept) == 1:
        return translate("Compare", "lane {letter} is in the chat").format(letter=kept[0])
    return translate("Compare", "lanes {letters} are in the chat").format(letters=", ".join(kept))


def moment_words(moment_ms: int, *, with_seconds: bool = False) -> str:
    """Return when something was, as people say it: today only the time, else the day, too."""
    moment, today = QDateTime.fromMSecsSinceEpoch(moment_ms), QDate.currentDate()
    form = QLocale().timeFormat(QLocale.FormatType.ShortFormat)
    time = QLocale().toString(moment.time(), form.replace("mm", "mm:ss") if with_seconds else form)
    if moment.date() == today:
        return translate("Compare", "today, {time}").format(time=time)
    if moment.date() == today.addDays(-1):
        return translate("Compare", "yesterday, {time}").format(time=time)
    return f"{QLocale().toString(moment.date(), QLocale.FormatType.ShortFormat)}, {time}"


def day_words(moment_ms: int) -> str:
    """Return when something was, for somebody who reads it on another day."""
    moment = QDateTime.fromMSecsSinceEpoch(moment_ms)
    day = QLocale().toString(moment.date(), QLocale.FormatType.LongFormat)
    return f"{day}, {QLocale().toString(moment.time(), QLocale.FormatType.ShortFormat)}"


def model_words(run: LanesRun) -> str:
    """Return which model wrote the lanes; empty where that is not known."""
    return ", ".join(dict.fromkeys(lane.turn.author for lane in run.lanes if lane.turn.author))


def made_words(run: LanesRun) -> str:
    """Return which model wrote what is seen, when, and with which program."""
    program = translate("Compare", "Made with {program}").format(program=f"Tokenlight {VERSION}")
    return BETWEEN.join(part for part in (model_words(run), day_words(run.comparison.created_ms), program) if part)


def outlook_words(outlook: Outlook, settings: Sequence[SamplingSettings]) -> str:
    """Return what a comparison would take before it begins; empty where nothing is known of it."""
    if outlook.refusal is not None:
        return render(outlook.refusal)
    if outlook.prompt is None or outlook.cells is None:
        return ""
    words = translate("Compare", "Prompt: {prompt} of {cells} cells; {lanes} lanes × {tokens} tokens.")
    if len(settings) == 1:
        words = translate("Compare", "Prompt: {prompt} of {cells} cells; 1 lane of {tokens} tokens.")
    if outlook.plan is None:
        words = translate("Compare", "Prompt: {prompt} of {cells} cells.")
    limits = dict.fromkeys(each.max_tokens for each in settings)
    least, most = min(limits, default=0), max(limits, default=0)
    if not least:
        words = translate("Compare", "Prompt: {prompt} of {cells} cells; {lanes} lanes without a limit.")
        if len(settings) == 1:
            words = translate("Compare", "Prompt: {prompt} of {cells} cells; 1 lane without a limit.")
    tokens = count(least) if least == most else f"{count(least)}–{count(most)}"
    said = words.format(prompt=count(outlook.prompt), cells=count(outlook.cells), lanes=len(settings), tokens=tokens)
    short = translate("Compare", "There is not enough memory to keep the state of all lanes at once.")
    why = (short,) if outlook.is_short else ()
    return " ".join((said, *why, *(plan_words(outlook.plan) if outlook.plan is not None else ())))


def plan_words(plan: LanePlan) -> list[str]:
    """Return how lanes share the cells: together, in waves or one by one, and what that costs them."""
    lanes = sum(len(wave) for wave in plan.waves)
    said = []
    if plan.how == "one_by_one":
        said.append(translate("Compare", "The lanes run one after another, each from the saved prompt."))
    elif len(plan.waves) > 1:
        most = max(len(wave) for wave in plan.waves)
        words = translate("Compare", "The lanes run in {waves} waves, at most {most} at once")
        which = translate("Compare", ", then ").join(_letters(wave) for wave in plan.waves)
        said.append(f"{words.format(waves=len(plan.waves), most=most)}: {which}.")
    elif lanes == 2:
        said.append(translate("Compare", "Both lanes run at once."))
    elif lanes > 1:
        said.append(translate("Compare", "All {count} lanes run at once.").format(count=lanes))
    if plan.lowered and plan.limits:
        low, high = min(plan.limits), max(plan.limits)
        words = translate("Compare", "So that all of them fit, a lane gets at most {tokens} tokens.")
        said.append(words.format(tokens=count(low) if low == high else f"{count(low)}–{count(high)}"))
    return said


def state_words(run: LanesRun, lane: Lane) -> str:
    """Return what a lane does, or how it ended."""
    turn = lane.turn
    if turn.state == "waiting":
        reading = run.reading
        if run.comparison.plan is None or (reading is not None and reading.done < reading.total):
            return translate("Compare", "Reads the prompt")
        wave = next((number for number, wave in enumerate(run.comparison.plan.waves) if lane.index in wave), 0)
        first = run.comparison.plan.how == "together" and not wave
        return translate("Compare", "Begins") if first else translate("Compare", "Waits for its turn")
    if turn.state == "writing":
        return translate("Compare", "Writes")
    if turn.finished is not None:
        said = render(stop_words(turn.finished.stop_reason))
        return said[:1].upper() + said[1:]
    return render(turn.reason) if turn.reason is not None else interrupted_word()


def interrupted_word() -> str:
    """Return how a lane ended that did not come to an end, where there is no room for why."""
    return translate("Compare", "Interrupted")


def lane_key(place: int) -> str:
    """Return the key that the lane at a place is reached by."""
    return f"Ctrl+{place + 1}"


def lane_keys() -> list[tuple[str, tuple[QKeySequence, ...]]]:
    """Return what keys do on the page Compare: in words, and the keys."""
    first, last = (QKeySequence(lane_key(place)) for place in (0, MOST_AT_ONCE - 1))
    return [
        (translate("Compare", "First to eighth lane"), (first, last)),
        (translate("Compare", "The lane beside this one"), _keys("Left", "Right")),
        (translate("Compare", "Why a lane differs, on the line “At …” of its header"), _keys("Space")),
        (translate("Compare", "The lane before or after on that card"), _keys("Left", "Right")),
        (translate("Compare", "Lane of a row of the figures"), _keys("Return", "Enter")),
        (translate("Compare", "From stretch to stretch of the branches"), _keys("Left", "Right", "Up", "Down")),
        (translate("Compare", "Larger, smaller or all of the branches"), _keys("+", "-", "0")),
    ]


def _keys(*names: str) -> tuple[QKeySequence, ...]:
    return tuple(map(QKeySequence, names))


def _letters(lanes: Sequence[int]) -> str:
    names = [LETTERS[lane] for lane in lanes]
    in_a_row = list(lanes) == list(range(lanes[0], lanes[0] + len(lanes))) if lanes else False
    return f"{names[0]}–{names[-1]}" if in_a_row and len(names) > 2 else ", ".join(names)
