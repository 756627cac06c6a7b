"""The figures of the answer that is being written, each with a word, an icon in its stage's colour, and a reason
where it is unknown. Repaints at most ten times a second and not at all when nothing changes.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QTimer
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.widgets.card import Card
from app.gui.widgets.gauge import Gauge
from app.gui.widgets.labels import ElidedLabel, label
from app.gui.widgets.words import render
from app.services.live import Figures, Live
from app.services.units import UNKNOWN, byte_size, count, milliseconds, rate, stop_words

translate = QCoreApplication.translate

REPAINT_MS = 100
_ICON_PX = 16


class Row(QWidget):
    """One figure: icon, name, value."""

    def __init__(self, icons: Icons, icon: str, token: str, title: str, name: str) -> None:
        super().__init__()
        self._icons = icons
        self._icon = icon
        self._token = token
        self._title = title
        self._picture = QLabel()
        self._picture.setFixedSize(_ICON_PX, _ICON_PX)
        self.value = label(UNKNOWN, pixels=theme.FIGURE_PX, bold=True, name=name)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(self._picture)
        layout.addWidget(label(title))
        layout.addStretch(1)
        layout.addWidget(self.value)
        self.show_value(UNKNOWN, "")

    def show_value(self, text: str, hint: str) -> None:
        """Show a value, and on hover what it means or why it is unknown."""
        if text != self.value.text() or hint != self.toolTip():
            self.value.setText(text)
            self.value.setAccessibleName(f"{self._title}: {text}")
            self.setToolTip(hint)

    def show_theme(self, look: theme.Theme) -> None:
        """Draw the icon in the colour of its stage."""
        self._picture.setPixmap(self._icons.icon(self._icon, look.colour(self._token)).pixmap(_ICON_PX, _ICON_PX))


class LivePanel(Card):
    """The card with the figures."""

    def __init__(self, live: Live, themes: theme.Themes, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(translate("LivePanel", "Live"), parent)
        self._live = live
        self._themes = themes
        self._rows = {
            "ttft": Row(icons, "clock", "muted", self.tr("TTFT"), "ttft_value"),
            "prefill": Row(icons, "prefill", "stage_prefill", self.tr("Prefill"), "prefill_rate_value"),
            "decode": Row(icons, "decode", "stage_decode", self.tr("Decode"), "decode_rate_value"),
            "kv": Row(icons, "kv", "stage_kv", self.tr("KV cache"), "kv_value"),
            "stop": Row(icons, "ended", "muted", self.tr("Ended"), "stop_reason_value"),
        }
        self._gauge = Gauge("kv_gauge")
        self._below_gauge = ElidedLabel(theme.SMALL_PX)
        for key, row in self._rows.items():
            self.body.addWidget(row)
            if key == "kv":
                self.body.addWidget(self._gauge)
                self.body.addWidget(self._below_gauge)
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

    def _show_cache(self, figures: Figures) -> None:
        used, cells = figures.kv_cells_used, figures.kv_cells
        known = used is not None and cells is not None and cells > 0
        hint = self.tr("Cells in use of the cells that were reserved when the model was loaded.")
        if not known:
            hint = self.tr("Unknown while no model is loaded.")
        text = f"{count(used)} / {count(cells)}" if known else UNKNOWN
        self._rows["kv"].show_value(text, hint)
        self._gauge.set_share(used / cells if used is not None and cells else 0.0)
        self._gauge.setAccessibleName(self.tr("KV cache: {text} tokens").format(text=text))
        below = []
        if known and figures.kv_bytes is not None:
            below.append(self.tr("{bytes}").format(bytes=byte_size(figures.kv_bytes)))
        if figures.prompt_tokens is not None:
            below.append(
                self.tr("prompt: {reused} of {total} reused").format(
                    reused=count(figures.prompt_tokens_from_cache), total=count(figures.prompt_tokens)
                )
            )
        self._below_gauge.set_text(" · ".join(below) or (self.tr("empty") if known else self.tr("no model loaded")))

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
        self._gauge.set_colours(look.colour("stage_kv"), look.colour("border"))


def _per_second(value: float | None) -> str:
    return UNKNOWN if value is None else f"{rate(value)} tok/s"
