"""The time to the first token, and a bar of its parts in the colours of their stages.

Knows the service's figures only; the parts are named on hover and for people who cannot see the bar.
"""

from __future__ import annotations

from PySide6.QtGui import QColor
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.widgets.figure_row import BESIDE_PX, FigureRow
from app.gui.widgets.gauge import Gauge, Segment, mixed
from app.gui.widgets.words import set_hint
from app.services.figures import Figures
from app.services.ttft import TtftKind, TtftPart
from app.services.units import milliseconds, short_milliseconds

_TOKENS: dict[TtftKind, str] = {
    "queue_and_tokens": "stage_tokens",
    "tokens": "stage_tokens",
    "prefill": "stage_prefill",
    "first_sample": "stage_sampling",
}
_FAINT = {"queue": 0.35, "paint": 0.35}
"""Grey parts that lie beside other grey ones are a step lighter."""


class FirstTokenRow(QWidget):
    """The value with its bar under it."""

    def __init__(self, icons: Icons) -> None:
        super().__init__()
        self._row = FigureRow(icons, "clock", "muted", self.tr("TTFT"), "ttft_value", room_for="99,999 ms")
        self._bar = Gauge("ttft_bar")
        self._look: theme.Theme | None = None
        self._parts: tuple[TtftPart, ...] = ()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(BESIDE_PX)
        layout.addWidget(self._row)
        layout.addWidget(self._bar)

    def show_figures(self, figures: Figures) -> None:
        """Show the time and its parts."""
        self._row.show_value(milliseconds(figures.ttft_ms), self._hint(figures))
        legend = self._legend(figures)
        if legend != self._bar.accessibleName():
            self._parts = figures.ttft_parts
            self._bar.setAccessibleName(legend)
            set_hint(self._bar, legend)
            self._show_parts()

    def show_theme(self, look: theme.Theme) -> None:
        """Use the colours of a theme."""
        self._look = look
        self._row.show_theme(look)
        self._bar.set_track(look.colour("border"))
        self._show_parts()

    def _show_parts(self) -> None:
        total = sum(part.ms for part in self._parts)
        if self._look is not None:
            look = self._look
            self._bar.set_segments(
                [Segment(part.ms / total, self._colour(part.kind, look)) for part in self._parts if total > 0]
            )
        largest = max(self._parts, key=lambda part: part.ms, default=None)
        text = ""
        if largest is not None:
            text = f"{self._name(largest.kind)} {milliseconds(largest.ms)}"
        self._row.show_beside(text)

    @staticmethod
    def _colour(kind: TtftKind, look: theme.Theme) -> QColor:
        if kind in _TOKENS:
            return look.colour(_TOKENS[kind])
        return mixed(look.colour("muted"), look.colour("surface"), _FAINT.get(kind, 0.0))

    def _legend(self, figures: Figures) -> str:
        if figures.ttft_is_lost:
            return self.tr(
                "The time to the first token is not known: the answer was interrupted after its first letters, or "
                "begins with those of another version."
            )
        if not figures.ttft_parts and figures.ttft_ms is not None:
            return self.tr("The parts of the time to the first token are not known: only the whole was kept.")
        if not figures.ttft_parts:
            return self.tr("The parts of the time to the first token: unknown until there is one.")
        parts = ", ".join(f"{self._name(part.kind)} {short_milliseconds(part.ms)}" for part in figures.ttft_parts)
        return self.tr("TTFT {total}: {parts}").format(total=milliseconds(figures.ttft_ms), parts=parts)

    def _name(self, kind: TtftKind) -> str:
        match kind:
            case "save":
                return self.tr("save")
            case "queue":
                return self.tr("queue")
            case "queue_and_tokens":
                return self.tr("queue and tokens")
            case "tokens":
                return self.tr("tokens")
            case "prefill":
                return self.tr("prefill")
            case "first_sample":
                return self.tr("first sample")
            case "held_back":
                return self.tr("held back")
            case "until_shown":
                return self.tr("until shown")
            case "paint":
                return self.tr("paint")

    def _hint(self, figures: Figures) -> str:
        if figures.ttft_is_lost:
            return self.tr(
                "Time to first token: not known. The answer was interrupted after its first letters, and the time was not "
                "kept."
            )
        if figures.ttft_ms is None:
            return self.tr("Time to first token: unknown until the first letters of an answer are on the screen.")
        return self.tr(
            "Time to first token: how long it took from sending the message to the first letters of the answer. Loading a "
            "model is not part of it."
        )
