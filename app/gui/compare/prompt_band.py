"""What all lanes share: the prompt, how far it is read, what reading it once saves, and the cells that are taken."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout

from app.core.attached_files import unframed
from app.core.events import PrefillProgress
from app.gui import theme
from app.gui.chat.system_prompt_line import first_words
from app.gui.compare.lane_words import BETWEEN, differing_words, kept_words, moment_words, plan_words, seed_words
from app.gui.icons import Icons
from app.gui.widgets.figure_row import ICON_PX as FIGURE_ICON_PX
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.labels import label
from app.gui.widgets.paragraph import Paragraph
from app.gui.widgets.words import set_hint
from app.services.lanes_run import LanesRun
from app.services.units import count, milliseconds, seconds

translate = QCoreApplication.translate
HINT_CHARACTERS = 600
BAR_PX = 160
_MS = 1e6
_SECOND_MS = 1_000
_ROUGH_MS, _MINUTE_MS = 10_000, 60_000


class _Read(NamedTuple):
    """What reading the prompt once took: tokens, those from the cache, ms, and for how many lanes."""

    evaluated: int
    from_cache: int
    ms: float
    lanes: int


class PromptBand(QFrame):
    """The band over the lanes."""

    wanted = Signal(str)
    """Something is wanted of the whole comparison: “stop”, “again”, “new” or “close”."""
    keyboard_left = Signal()
    """The button that had the keyboard is gone; nothing that would run should get it by chance."""

    def __init__(self, themes: theme.Themes, icons: Icons) -> None:
        super().__init__()
        self._themes = themes
        self._icons = icons
        self._run: LanesRun | None = None
        self._read: tuple[int, float] | None = None
        """The request whose prompt is read whole, and how many ms that took."""
        self.setObjectName("compare_prompt_band")
        self.setProperty("look", "prompt_band")
        self._prompt = Paragraph(lines=2, pixels=theme.READING_PX, name="compare_prompt_text")
        self._compared = FixedText(pixels=theme.BASE_PX, muted=False, name="compare_compared_text")
        self._moment = FixedText(right=True, name="compare_moment_text")
        self._picture = label()
        self._picture.setFixedWidth(FIGURE_ICON_PX)
        self._prefill = FixedText(pixels=theme.BASE_PX, muted=False, name="compare_prefill_text")
        self._cells = FixedText(pixels=theme.BASE_PX, right=True, fit="text", name="compare_cells_text")
        self._plan = Paragraph(lines=1, pixels=theme.SMALL_PX, name="compare_plan_text")
        self._bar = QProgressBar()
        self._bar.setObjectName("compare_prefill_progress")
        self._bar.setAccessibleName(self.tr("Reading the prompt"))
        self._bar.setTextVisible(False)
        self._bar.setFixedWidth(BAR_PX)
        self._buttons = {
            "stop": QPushButton(self.tr("Stop all")),
            "again": QPushButton(self.tr("Run again")),
            "new": QPushButton(self.tr("New comparison")),
            "close": QPushButton(self.tr("Close")),
        }
        for wish, button in self._buttons.items():
            button.setObjectName(f"compare_{wish}_button")
            button.clicked.connect(lambda _checked=False, wish=wish: self.wanted.emit(wish))
        set_hint(self._buttons["again"], self.tr("Run the same lanes once more, beside what is there"))
        set_hint(self._buttons["new"], self.tr("Set up other lanes for this prompt"))
        set_hint(self._buttons["close"], self.tr("Put the comparison away: it stays with its question in the chat"))
        set_hint(self._buttons["stop"], self.tr("End all lanes; what was written stays"), "stop_action")
        self._lay_out()
        themes.changed.connect(self._show_theme)
        self._show_theme()

    def show_run(self, run: LanesRun, refusal: str) -> None:
        """Show what is known of a comparison; `refusal` is why it cannot be run again now."""
        if run is not self._run:
            self._run = run
            self._prompt.set_text(first_words(run.question.words))
            set_hint(self._prompt, unframed(run.question.text)[:HINT_CHARACTERS])
        self._note_reading(run)
        self._show_progress(run.reading)
        words = self._prefill_words(run)
        read = self._read_of(run)
        self._prefill.set_text(words, saved_shortly(read.ms, read.lanes) if read is not None else "")
        lanes = len(run.comparison.lanes or run.lanes)
        alone = self.tr(
            "One prefill is shared: without that, each of {lanes} lanes would have read the prompt itself."
        )
        set_hint(self._prefill, "\n".join((words, alone.format(lanes=lanes) if lanes > 1 else "")).strip())
        self.show_cells()
        self._show_compared(run)
        had_keyboard = self._buttons["stop"].hasFocus()
        self._buttons["stop"].setVisible(run.is_running)
        self._buttons["again"].setEnabled(not run.is_running and not refusal)
        hint = self.tr("Run the same lanes once more, beside what is there")
        set_hint(self._buttons["again"], refusal or hint)
        if had_keyboard and not run.is_running:
            self.keyboard_left.emit()

    def show_cells(self) -> None:
        """Show how many cells the lanes take now, or took."""
        run = self._run
        prompt = self._prompt_tokens(run) if run is not None else None
        if run is None or prompt is None:
            self._cells.set_text("")
            return
        written = sum(lane.tokens for lane in run.lanes)
        if run.is_running and run.cells_used is not None:
            taken = max(run.cells_used - prompt, 0)
            words = self.tr("Cells: prompt {prompt} + lanes {lanes}").format(prompt=count(prompt), lanes=count(taken))
        else:
            words = self.tr("Prompt {prompt} + lanes {lanes} tokens").format(
                prompt=count(prompt), lanes=count(written)
            )
        self._cells.set_text(words)
        hint = self.tr("The prompt's cells are there once, for all lanes; each token of a lane takes one more.")
        set_hint(self._cells, hint)

    def _show_compared(self, run: LanesRun) -> None:
        """Say what was compared, when, what became of it, and what the seeds mean."""
        settings, comparison = [lane.settings for lane in run.lanes], run.comparison
        compared = differing_words(settings)
        when = "" if run.is_running else moment_words(comparison.created_ms)
        moment = BETWEEN.join(part for part in (when, kept_words(comparison, run.lanes)) if part)
        for text, words in ((self._compared, compared), (self._moment, moment[:1].upper() + moment[1:])):
            text.set_text(words)
            set_hint(text, words)
        plan = comparison.plan
        # How lanes shared the cells matters while they are written, and later only where it made them shorter.
        said = plan_words(plan) if plan is not None and (run.is_running or plan.lowered) else []
        self._plan.set_text(" ".join((*said, seed_words(settings, short=True))).strip(), muted=True)
        set_hint(self._plan, " ".join((*said, seed_words(settings))).strip())
        self._make_room()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give a long sentence a second line where it needs one."""
        super().resizeEvent(event)
        self._make_room()

    def _make_room(self) -> None:
        for words in (self._prompt, self._plan):
            needed = QFontMetrics(words.font()).horizontalAdvance(str(words.property("text")))
            words.set_lines(2 if needed > max(words.width(), 1) else 1)

    def _lay_out(self) -> None:
        texts = QVBoxLayout()
        texts.setSpacing(theme.SPACE_XS)
        texts.addWidget(self._prompt)
        texts.addWidget(self._compared)
        texts.addStretch(1)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.SPACE_S)
        for button in self._buttons.values():
            buttons.addWidget(button)
        upper = QHBoxLayout()
        upper.setSpacing(theme.SPACE_L)
        upper.addLayout(texts, 1)
        beside = QVBoxLayout()
        beside.setSpacing(theme.SPACE_XS)
        beside.addLayout(buttons)
        beside.addWidget(self._moment)
        beside.addStretch(1)
        upper.addLayout(beside)
        figures = QHBoxLayout()
        figures.setSpacing(theme.SPACE_S)
        figures.addWidget(self._picture)
        figures.addWidget(self._prefill, 1)
        figures.addWidget(self._bar)
        figures.addWidget(self._cells)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_S)
        column.setSpacing(theme.SPACE_XS)
        column.addLayout(upper)
        column.addLayout(figures)
        column.addWidget(self._plan)

    def _note_reading(self, run: LanesRun) -> None:
        """Remember how long the prompt took as soon as it is read: the lanes begin before anything else says so."""
        reading, ready = run.reading, run.ready
        if reading is not None and ready is not None and reading.done >= reading.total:
            self._read = (run.request, max(reading.at_ns - ready.at_ns, 0) / _MS)

    def _show_progress(self, reading: PrefillProgress | None) -> None:
        is_reading = reading is not None and reading.done < reading.total
        self._bar.setVisible(is_reading)
        if reading is not None and is_reading:
            self._bar.setRange(0, reading.total - reading.from_cache)
            self._bar.setValue(reading.done - reading.from_cache)

    def _prompt_tokens(self, run: LanesRun) -> int | None:
        if run.comparison.prefill is not None:
            return run.comparison.prefill.prompt_tokens
        return len(run.ready.ids) // 4 if run.ready is not None else None

    def _read_of(self, run: LanesRun) -> _Read | None:
        """Return what reading the prompt took; None before it is read."""
        prefill, ready = run.comparison.prefill, run.ready
        never = sum(not lane.is_open and not lane.turn.ids for lane in run.lanes)
        lanes = max(len(run.comparison.lanes or run.lanes) - never, 1)
        if prefill is not None:
            return _Read(prefill.evaluated, prefill.from_cache, prefill.prefill_ms, lanes)
        if ready is not None and self._read is not None and self._read[0] == run.request:
            return _Read(len(ready.ids) // 4 - ready.from_cache, ready.from_cache, self._read[1], lanes)
        return None

    def _prefill_words(self, run: LanesRun) -> str:
        """Return how far the prompt is read, or what reading it once took and saved."""
        read = self._read_of(run)
        if read is not None:
            return saved_words(*read)
        if run.ready is None:
            return self.tr("Waits for its turn") if run.is_running else self.tr("The prompt was not read.")
        if run.reading is None:
            return self.tr("Reading the prompt once, for all lanes")
        cached = run.reading.from_cache
        words = self.tr("Reading the prompt once, for all lanes: {done} of {total} tokens")
        said = words.format(done=count(run.reading.done - cached), total=count(run.reading.total - cached))
        return said + translate("Compare", " (and {tokens} from the cache)").format(tokens=count(cached)) * bool(
            cached
        )

    def _show_theme(self) -> None:
        colour = self._themes.current.colour("stage_prefill")
        self._picture.setPixmap(self._icons.icon("prefill", colour).pixmap(FIGURE_ICON_PX, FIGURE_ICON_PX))


def saved_shortly(prefill_ms: float, lanes: int) -> str:
    """Return what the one prefill saved in few words; empty for one lane."""
    if lanes < 2:
        return ""
    return translate("Compare", "Read once: saved about {time}").format(time=_about((lanes - 1) * prefill_ms))


def saved_words(evaluated: int, from_cache: int, prefill_ms: float, lanes: int) -> str:
    """Return what the one prefill took, and what it saved beside one for each lane."""
    said = translate("Compare", "Prompt read once for all {lanes} lanes: {tokens} in {time}")
    if lanes == 2:
        said = translate("Compare", "Prompt read once for both lanes: {tokens} in {time}")
    elif lanes < 2:
        said = translate("Compare", "Prompt read once: {tokens} in {time}")
    said = said.format(lanes=lanes, tokens=_tokens(evaluated), time=_time(prefill_ms))
    if from_cache:
        said += translate("Compare", " (and {tokens} from the cache)").format(tokens=count(from_cache))
    if lanes < 2:
        return said
    saved = translate("Compare", "{said}. That saved about {time}")
    return saved.format(said=said, time=_about((lanes - 1) * prefill_ms))


def _tokens(number: int) -> str:
    many = translate("Compare", "{count} tokens").format(count=count(number))
    return translate("Compare", "1 token") if number == 1 else many


def _about(ms: float) -> str:
    """Return about how long something takes: as whole seconds or minutes, where nobody needs more."""
    if ms >= 2 * _MINUTE_MS:
        return translate("Compare", "{count} min").format(count=count(round(ms / _MINUTE_MS)))
    return translate("Compare", "{count} s").format(count=round(ms / _SECOND_MS)) if ms >= _ROUGH_MS else _time(ms)


def _time(ms: float) -> str:
    return milliseconds(ms) if ms < _SECOND_MS else seconds(ms)
