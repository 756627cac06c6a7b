"""Everything that the machine does while it answers, and one sentence on where the time went.

It shows the conversation that is shown; an answer that is written elsewhere is one quiet line. Without its details there
are five figures with their bars, and the sentence.
Repaints at most ten times a second, only what has changed, and not at all while it is hidden; the machine is sampled
only while somebody can see it.
"""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.metrics import MIN_PREFILL_TOKENS
from app.gui import theme
from app.gui.charts.gap_chart import GapChart
from app.gui.icons import Icons
from app.gui.live.cache import CacheRows
from app.gui.live.end_text import EndText
from app.gui.live.first_token import FirstTokenRow
from app.gui.live.hardware import HardwareRows
from app.gui.live.memory import MemoryRows
from app.gui.live.traffic_words import share_words, traffic_hint
from app.gui.live.why_shown import WhyShown
from app.gui.widgets.figure_row import BESIDE_PX, FigureRow
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.words import render, set_hint
from app.services.figures import Figures
from app.services.live import MOST_KEPT, Live
from app.services.machine import Machine
from app.services.memory import Memory
from app.services.units import UNKNOWN, count, rate, stop_words

REPAINT_MS = 250
"""With the next event after it, about four pictures a second: more than anybody reads."""
ENDED_MS = 15
"""People who stop an answer wait for its end; what belongs to it comes within one batch of events or two."""
SHOWS_PER_HINT = 5
"""While an answer is written, what is said of its gaps on hover follows with every fifth picture: once a second."""
DIAGNOSIS_LINES, NARROW_LINES = 2, 3
NARROW_PX = 266
"""Below this width the sentence has a line more."""
APART_PX, CLOSE_PX = 6, 4


class LivePanel(QWidget):
    """The figures, from the first token to the end of the answer."""

    timeline_wanted = Signal()
    """Somebody wants to see where the time of the answer went."""
    remedy_wanted = Signal(object)
    """Somebody wants the change that would help most, a `Remedy`."""

    def __init__(
        self,
        live: Live,
        memory: Memory,
        machine: Machine,
        themes: theme.Themes,
        icons: Icons,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Live"))
        self._live = live
        self._machine = machine
        self._themes = themes
        self._drawn: Figures | None = None
        self._memory_is_old = True
        self._first_token = FirstTokenRow(icons)
        self._decode = FigureRow(icons, "decode", "stage_decode", self.tr("Decode"), "decode_rate_value")
        self._chart = GapChart("itl_chart")
        self._shows = 0
        self._prefill = FigureRow(icons, "prefill", "stage_prefill", self.tr("Prefill"), "prefill_rate_value")
        self._reused = FixedText(name="prefill_reused")
        set_hint(self._reused, self.tr("Tokens that the model still knew from before: it need not read them again."))
        self._cache = CacheRows(icons)
        self._memory = MemoryRows(memory, machine, icons)
        self._traffic = FigureRow(
            icons, "decode", "stage_decode", self.tr("Memory traffic"), "traffic_value", room_for="0,000 GB/s"
        )
        self._hardware = HardwareRows(memory, machine, icons)
        self._stop = FigureRow(icons, "ended", "muted", self.tr("Ended"), "stop_reason_value", room_for="")
        self._end = EndText()
        self.why = WhyShown(self._end, icons, lambda: self._live.figures.diagnosis)
        self.why.timeline_wanted.connect(self.timeline_wanted)
        self.why.remedy_wanted.connect(self.remedy_wanted)
        self._lay_out()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._show)
        self._disconnects = [
            live.changed.connect(self._want),
            memory.changed.connect(self._want_memory),
            machine.changed.connect(self._want_memory),
        ]
        themes.changed.connect(self._show_theme)
        self._show_theme()
        self._show()

    def disconnect_services(self) -> None:
        """Listen to the figures no longer, and let the machine be."""
        if self._disconnects:
            self._machine.watch(False)
        for disconnect in self._disconnects:
            disconnect()
        self._disconnects.clear()
        self._timer.stop()

    def show_details(self, shown: bool) -> None:
        """Show everything, or the figures alone."""
        for widget in (self._reused, self._traffic, self._hardware, self._stop):
            widget.setVisible(shown)
        self._column.setSpacing(APART_PX if shown else CLOSE_PX)
        self._cache.show_details(shown)
        self._memory.show_details(shown)

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up, and sample the machine from now on."""
        super().showEvent(event)
        if self._disconnects:
            self._machine.watch(True)
            self._show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the sentence a line more where the column is narrow."""
        super().resizeEvent(event)
        is_narrow = event.size().width() < theme.scaled(NARROW_PX)
        self._end.set_lines(NARROW_LINES if is_narrow else DIAGNOSIS_LINES)

    def hideEvent(self, event: QHideEvent) -> None:
        """Rest: nobody can see it."""
        super().hideEvent(event)
        self._timer.stop()
        self.why.put_away()
        if self._disconnects:
            self._machine.watch(False)

    def _lay_out(self) -> None:
        layout = self._column = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(APART_PX)
        layout.addWidget(self._first_token)
        for upper, lower in ((self._decode, self._chart), (self._prefill, self._reused)):
            together = QVBoxLayout()
            together.setSpacing(BESIDE_PX)
            together.addWidget(upper)
            together.addWidget(lower)
            layout.addLayout(together)
        for widget in (self._cache, self._memory, self._traffic, self._hardware, self._stop):
            layout.addWidget(widget)
        layout.addWidget(self._end)

    def _want(self) -> None:
        """Draw soon: the figures of an answer that has ended as soon as all of them are there."""
        wait_ms = REPAINT_MS if self._live.figures.is_writing else ENDED_MS
        if self.isVisible() and (not self._timer.isActive() or self._timer.remainingTime() > wait_ms):
            self._timer.start(wait_ms)

    def _want_memory(self) -> None:
        self._memory_is_old = True
        self._want()

    def _show(self) -> None:
        if self._memory_is_old:
            self._memory_is_old = False
            self._memory.show_uses()
            self._hardware.show_machine()
        figures, before = self._live.figures, self._drawn
        if figures is before:
            return
        self._drawn = figures
        if _differ(before, figures, "ttft_ms", "ttft_parts", "ttft_is_lost"):
            self._first_token.show_figures(figures)
        if _differ(
            before, figures, "prefill_tokens_per_s", "prompt_tokens", "prompt_tokens_from_cache", "stop_reason"
        ):
            self._prefill.show_value(_per_second(figures.prefill_tokens_per_s), self._prefill_hint(figures))
            self._reused.set_text(self._reused_words(figures))
        if figures.is_cut_off or _differ(before, figures, "stop_reason", "diagnosis", "is_writing", "is_cut_off"):
            self._show_end(figures)
        if _differ(before, figures, "elsewhere"):
            self._end.show_elsewhere(figures.elsewhere)
        self._decode.show_value(_per_second(figures.decode_tokens_per_s), self._decode_hint(figures))
        self._decode.show_beside(self._mean_words(figures))
        self._show_gaps(figures)
        self._cache.show_figures(figures)
        traffic = figures.traffic_gb_per_s
        share = share_words(figures)
        self._traffic.show_title(self.tr("Traffic") if share else self.tr("Memory traffic"))
        self._traffic.show_value(UNKNOWN if traffic is None else f"{rate(traffic)} GB/s", traffic_hint(figures))
        self._traffic.show_beside(share)

    def _show_end(self, figures: Figures) -> None:
        reason = figures.stop_reason
        stop = render(stop_words(reason)) if reason is not None else UNKNOWN
        self._stop.show_value(stop, self._stop_hint(figures))
        if reason is None:
            self.why.put_away()
            self._end.show_none("" if figures.is_writing else self._no_figures(figures))
        else:
            self.why.show_again()
            self._end.show_end(render(figures.diagnosis.sentence) if figures.diagnosis is not None else "", stop)

    def _no_figures(self, figures: Figures) -> str:
        if not figures.is_cut_off:
            return self.tr("No figures: no answer has ended here yet.")
        if figures.sampled_tokens:
            return self.tr("The last answer was interrupted: the figures are those of its beginning.")
        return self.tr("The last answer was interrupted: its figures are not known.")

    def _show_gaps(self, figures: Figures) -> None:
        itl = figures.itl_ms
        p50, p95 = (itl.p50, itl.p95) if itl is not None else (None, None)
        self._chart.show_gaps(self._live.gaps_ms, figures.gap_count, p50, p95)
        self._shows = self._shows + 1 if itl is not None and figures.is_writing else 0
        if self._shows and self._shows % SHOWS_PER_HINT != 1:
            return
        told = self.tr("Time between neighbouring tokens: unknown until an answer has two.")
        if itl is None and figures.sampled_tokens > 1 and not figures.is_writing:
            told = self.tr("Time between neighbouring tokens: unknown, as the answer was written in parts.")
        if itl is not None and figures.is_writing:
            told = self.tr(
                "Time between neighbouring tokens, over the last {count}: p50 {p50:.1f} ms, p95 {p95:.1f} ms"
            ).format(count=count(len(self._chart.gaps)), p50=itl.p50, p95=itl.p95)
        elif itl is not None:
            told = self.tr(
                "Time between neighbouring tokens: p50 {p50:.1f} ms, p95 {p95:.1f} ms, p99 {p99:.1f} ms"
            ).format(p50=itl.p50, p95=itl.p95, p99=itl.p99)
        if told != self._chart.accessibleName():
            self._chart.setAccessibleName(told)
            set_hint(self._chart, f"{told}\n{self._gap_hint(figures)}")

    def _gap_hint(self, figures: Figures) -> str:
        hint = self.tr(
            "How evenly the answer flows. Half of the waits between two tokens are shorter than p50, and 19 of 20 are "
            "shorter than p95."
        )
        if figures.itl_ms is not None and not self._chart.gaps:
            kept = self.tr("The line itself is kept of the last {count} answers, until Tokenlight ends.")
            return f"{hint} {kept.format(count=MOST_KEPT)}"
        return hint

    def _mean_words(self, figures: Figures) -> str:
        if not figures.is_writing or figures.decode_mean_tokens_per_s is None:
            return ""
        return self.tr("mean {rate}").format(rate=rate(figures.decode_mean_tokens_per_s))

    def _reused_words(self, figures: Figures) -> str:
        if figures.prompt_tokens is None:
            return ""
        return self.tr("{reused} of {total} from cache").format(
            reused=count(figures.prompt_tokens_from_cache), total=count(figures.prompt_tokens)
        )

    def _prefill_hint(self, figures: Figures) -> str:
        if figures.prefill_tokens_per_s is not None:
            return self.tr(
                "Reading: how fast the model reads what it was sent, before it writes. A token is a word or a piece of one."
            )
        if figures.prompt_tokens is not None:
            read = figures.prompt_tokens - (figures.prompt_tokens_from_cache or 0)
            if read < MIN_PREFILL_TOKENS:
                return self.tr(
                    "Unknown: only {read} of {total} tokens had to be read, and below {least} it cannot be told how fast."
                ).format(read=count(read), total=count(figures.prompt_tokens), least=MIN_PREFILL_TOKENS)
        return self.tr("How fast the model reads what it was sent: unknown until it has read some of it.")

    def _decode_hint(self, figures: Figures) -> str:
        if figures.decode_tokens_per_s is None and figures.sampled_tokens > 1 and not figures.is_writing:
            return self.tr("Unknown: the answer was written in parts, and how fast each was is not known.")
        if figures.decode_tokens_per_s is None:
            return self.tr("How fast the model writes: unknown until an answer has two tokens.")
        if figures.is_writing:
            return self.tr(
                "Writing: how many tokens a second just now, and beside it the mean since the answer began. A token is a "
                "word or a piece of one."
            )
        return self.tr("Writing: how many tokens a second. A token is a word or a piece of one.")

    def _stop_hint(self, figures: Figures) -> str:
        if figures.is_cut_off:
            return self.tr("Why the last answer ended: it was interrupted. The chat says by what.")
        if figures.stop_reason is None:
            return self.tr("Why the last answer ended: unknown until one has.")
        return self.tr("Why the last answer ended.")

    def _show_theme(self) -> None:
        look = self._themes.current
        for row in (self._first_token, self._decode, self._prefill, self._cache, self._traffic, self._stop):
            row.show_theme(look)
        self._memory.show_theme(look)
        self._hardware.show_theme(look)
        self._chart.set_colours(look.colour("stage_decode"), look.colour("muted"), look.colour("border"))


def _per_second(value: float | None) -> str:
    return UNKNOWN if value is None else f"{rate(value)} tok/s"


def _differ(before: Figures | None, figures: Figures, *names: str) -> bool:
    """Return whether any of these figures is another one."""
    return before is None or any(getattr(before, name) != getattr(figures, name) for name in names)
