"""The figures of the answer that is being written, each with a word, an icon in its stage's colour, and a reason
where it is unknown. Repaints at most ten times a second and not at all when nothing changes.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QTimer
from PySide6.QtWidgets import QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.memory import MemoryRows
from app.gui.widgets.card import Card
from app.gui.widgets.figure_row import FigureRow
from app.gui.widgets.gauge import Gauge
from app.gui.widgets.labels import in_parts, label
from app.gui.widgets.words import render
from app.services.live import Figures, Live
from app.services.memory import Memory
from app.services.units import UNKNOWN, byte_size, count, milliseconds, rate, stop_words

translate = QCoreApplication.translate

REPAINT_MS = 100


class LivePanel(Card):
    """The card with the figures."""

    def __init__(
        self, live: Live, memory: Memory, themes: theme.Themes, icons: Icons, parent: QWidget | None = None
    ) -> None:
        super().__init__(translate("LivePanel", "Live"), parent)
        self._live = live
        self._themes = themes
        self._rows = {
            "ttft": FigureRow(icons, "clock", "muted", self.tr("TTFT"), "ttft_value"),
            "prefill": FigureRow(icons, "prefill", "stage_prefill", self.tr("Prefill"), "prefill_rate_value"),
            "decode": FigureRow(icons, "decode", "stage_decode", self.tr("Decode"), "decode_rate_value"),
            "kv": FigureRow(icons, "kv", "stage_kv", self.tr("KV cache"), "kv_value"),
            "checkpoints": FigureRow(icons, "kv", "stage_kv", self.tr("Checkpoints"), "checkpoints_value"),
            "stop": FigureRow(icons, "ended", "muted", self.tr("Ended"), "stop_reason_value"),
        }
        self._gauge = Gauge("kv_gauge")
        self._below_gauge = label(look="muted", pixels=theme.SMALL_PX)
        self._below_gauge.setWordWrap(True)
        self._memory = MemoryRows(memory, icons)
        for key, row in self._rows.items():
            self.body.addWidget(row)
            if key == "kv":
                self.body.addWidget(self._gauge)
                self.body.addWidget(self._below_gauge)
            elif key == "checkpoints":
                self.body.addWidget(self._memory)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(REPAINT_MS)
        self._timer.timeout.connect(self._show)
        self._disconnect = live.changed.connect(self._want)
        themes.changed.connect(self._show_theme)
        self._show_theme()
        self._show()

    def disconnect_services(self) -> None:
        """Listen to the figures no longer."""
        self._disconnect()
        self._memory.disconnect_services()
        self._timer.stop()

    def _want(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def _show(self) -> None:
        figures = self._live.figures
        self._rows["ttft"].show_value(milliseconds(figures.ttft_ms), self._ttft_hint(figures))
        self._rows["prefill"].show_value(_per_second(figures.prefill_tokens_per_s), self._prefill_hint(figures))
        self._rows["decode"].show_value(_per_second(figures.decode_tokens_per_s), self._decode_hint(figures))
        reason = figures.stop_reason
        stop = render(stop_words(reason)) if reason is not None else UNKNOWN
        self._rows["stop"].show_value(stop, self.tr("Why the last answer ended."))
        self._show_cache(figures)
        self._show_checkpoints(figures)

    def _show_cache(self, figures: Figures) -> None:
        used, cells = figures.kv_cells_used, figures.kv_cells
        known = used is not None and cells is not None and cells > 0
        hint = self.tr("Cells in use of the cells that were reserved when the model was loaded.")
        if not known:
            hint = self.tr("Unknown while no model is loaded.")
        text = f"{count(used)} / {count(cells)}" if known else UNKNOWN
        recurrent = figures.memory_kind == "recurrent"
        self._rows["kv"].show_title(self.tr("Context") if recurrent else self.tr("KV cache"))
        self._rows["kv"].show_value(text, hint)
        self._gauge.set_share(used / cells if used is not None and cells else 0.0)
        self._gauge.setAccessibleName(self.tr("KV cache: {text} tokens").format(text=text))
        below = []
        if known and figures.kv_bytes is not None:
            used_bytes = byte_size(figures.kv_bytes)
            below.append(
                (self.tr("state {bytes}") if recurrent else self.tr("{bytes} in use")).format(bytes=used_bytes)
            )
        if figures.window_cells is not None and known:
            used_in_window, window = count(figures.window_cells_used), count(figures.window_cells)
            below.append(self.tr("window {used} / {cells}").format(used=used_in_window, cells=window))
        if figures.prompt_tokens is not None:
            below.append(
                self.tr("prompt: {reused} of {total} reused").format(
                    reused=count(figures.prompt_tokens_from_cache), total=count(figures.prompt_tokens)
                )
            )
        self._below_gauge.setText(in_parts(below) or (self.tr("empty") if known else self.tr("no model loaded")))

    def _show_checkpoints(self, figures: Figures) -> None:
        row = self._rows["checkpoints"]
        row.setVisible(figures.checkpoints is not None)
        row.show_value(
            f"{count(figures.checkpoints)} · {byte_size(figures.checkpoint_bytes)}",
            self.tr(
                "This model cannot rewind its memory, so that its state is saved at the ends of prompts and answers: "
                "how many states, and the main memory they take."
            ),
        )

    def _ttft_hint(self, figures: Figures) -> str:
        if figures.ttft_ms is None:
            return self.tr("Time to first token: unknown until the first character of an answer is on the screen.")
        return self.tr(
            "Time to first token: from sending to the first visible character; loading a model is not part of it."
        )

    def _prefill_hint(self, figures: Figures) -> str:
        if figures.prefill_tokens_per_s is not None:
            return self.tr("Prompt tokens that were evaluated, divided by the time that took.")
        if figures.stop_reason is not None:
            return self.tr("Fewer than 16 prompt tokens were evaluated: too few for a rate.")
        return self.tr("Unknown until some of the prompt is read, or the answer has ended.")

    def _decode_hint(self, figures: Figures) -> str:
        if figures.decode_tokens_per_s is None:
            return self.tr("Unknown until an answer has two tokens.")
        if figures.stop_reason is None:
            return self.tr("Tokens per second over the last 1.5 seconds.")
        return self.tr("Tokens after the first, divided by the time from the first to the last.")

    def _show_theme(self) -> None:
        look = self._themes.current
        for row in self._rows.values():
            row.show_theme(look)
        self._memory.show_theme(look)
        self._gauge.set_colours(look.colour("stage_kv"), look.colour("border"))


def _per_second(value: float | None) -> str:
    return UNKNOWN if value is None else f"{rate(value)} tok/s"
