"""The KV cache: cells in use of those that were reserved, as a bar of what they hold.

Knows the service's figures only; the parts of a stage are steps of its hue, with their names and numbers beside them.
"""

from __future__ import annotations

from PySide6.QtGui import QColor
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.widgets.figure_row import BESIDE_PX, FigureRow
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.gauge import Gauge, Segment, lightness_step
from app.gui.widgets.labels import in_parts
from app.gui.widgets.legend import Legend, LegendItem
from app.gui.widgets.part_steps import PART_STEPS
from app.gui.widgets.part_words import part_words
from app.gui.widgets.words import set_hint
from app.services.cache_parts import PARTS, CachePart, PartName
from app.services.figures import Figures
from app.services.units import UNKNOWN, byte_size, count

AMBER_SHARE = 0.80
RED_SHARE = 0.95


class CacheRows(QWidget):
    """The value, the bar, the legend, and the bytes."""

    def __init__(self, icons: Icons) -> None:
        super().__init__()
        self._row = FigureRow(icons, "kv", "stage_kv", self.tr("KV cache"), "kv_value", room_for="0,000 / 0,000")
        self._gauge = Gauge("kv_gauge")
        self._legend = Legend(rows=2)
        self._bytes = FixedText(name="kv_bytes")
        set_hint(self._bytes, self._reserved_hint())
        self._saved = FigureRow(icons, "kv", "stage_kv", self.tr("Checkpoints"), "checkpoints_value")
        self._look: theme.Theme | None = None
        self._colours: dict[tuple[PartName, str], QColor] = {}
        self._names = {part: part_words(part) for part in PARTS}
        self._shown_saved: tuple[int | None, int] = (-1, 0)
        self._has_details = True
        self._figures = Figures()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(BESIDE_PX)
        for widget in (self._row, self._gauge, self._legend, self._bytes, self._saved):
            layout.addWidget(widget)

    def show_figures(self, figures: Figures) -> None:
        """Show what is in the cache."""
        self._figures = figures
        used, cells = figures.kv_cells_used, figures.kv_cells
        recurrent = figures.memory_kind == "recurrent"
        self._row.show_title(self._title(figures))
        text = f"{count(used)} / {count(cells)}" if cells else UNKNOWN
        self._row.show_value(text, self._hint(figures))
        self._show_parts()
        self._bytes.set_text(self._byte_words(figures, recurrent=recurrent))
        saved = (figures.checkpoints, figures.checkpoint_bytes)
        if saved != self._shown_saved:
            self._shown_saved = saved
            self._show_saved(figures)

    def show_details(self, shown: bool) -> None:
        """Show everything, or the value and its bar alone."""
        self._has_details = shown
        for widget in (self._legend, self._bytes):
            widget.setVisible(shown)
        self._saved.setVisible(shown and self._figures.checkpoints is not None)

    def show_theme(self, look: theme.Theme) -> None:
        """Use the colours of a theme."""
        self._look = look
        self._row.show_theme(look)
        self._saved.show_theme(look)
        self._colours.clear()
        self._gauge.set_track(look.colour("border"))
        self._show_parts()

    def _show_parts(self) -> None:
        figures = self._figures
        if self._look is None:
            return
        share = figures.kv_cells_used / figures.kv_cells if figures.kv_cells else 0.0
        word, token = self._state(share)
        if figures.kv_holds and figures.kv_cells_used:
            self._row.show_beside(self.tr("other chat"))
        else:
            self._row.show_beside(word, self._look.colour(token) if word else None)
        parts = figures.kv_parts or (CachePart("prompt", figures.kv_cells_used),)
        segments, items = [], []
        for part in parts:
            colour = self._colour(part.name, token)
            segments.append(Segment(part.tokens / figures.kv_cells if figures.kv_cells else 0.0, colour))
            if figures.kv_parts:
                items.append(LegendItem(f"{self._names[part.name]} {count(part.tokens)}", colour))
        self._gauge.set_segments(segments)
        self._legend.set_items(items)
        free = self.tr("free {tokens}").format(tokens=count(max(0, figures.kv_cells - figures.kv_cells_used)))
        words = ", ".join([*(item.text for item in items), *([free] if figures.kv_cells else [])])
        name = self.tr("{title}: {used} of {cells} tokens. {parts}").format(
            title=self._title(figures), used=count(figures.kv_cells_used), cells=count(figures.kv_cells), parts=words
        )
        if word:
            name = f"{name}. {word}"
        if figures.kv_holds:
            name = f"{name}. {self._holds_words(figures)}"
        if name != self._gauge.accessibleName():
            self._gauge.setAccessibleName(name)
            set_hint(self._gauge, name)

    def _state(self, share: float) -> tuple[str, str]:
        """Return a word for how full it is, and the token of the colour that goes with it."""
        if share >= RED_SHARE:
            return self.tr("nearly full"), "red"
        if share >= AMBER_SHARE:
            return self.tr("filling up"), "amber"
        return "", "stage_kv"

    def _colour(self, part: PartName, token: str) -> QColor:
        """Return the step of a hue that a part has; made once for each theme."""
        key = (part, token)
        if key not in self._colours and self._look is not None:
            look = self._look
            text, surface = look.colour("text"), look.colour("surface")
            self._colours[key] = lightness_step(look.colour(token), PART_STEPS[part], text, surface)
        return self._colours[key]

    def _byte_words(self, figures: Figures, *, recurrent: bool) -> str:
        if not figures.kv_cells:
            return self.tr("no model loaded, nothing reserved")
        parts = []
        if figures.kv_bytes is not None and recurrent:
            parts.append(self.tr("state {bytes}").format(bytes=byte_size(figures.kv_bytes)))
        elif figures.kv_bytes is not None and figures.kv_bytes_reserved is not None:
            used, reserved = byte_size(figures.kv_bytes), byte_size(figures.kv_bytes_reserved)
            parts.append(self.tr("{used} of {reserved} reserved").format(used=used, reserved=reserved))
        elif figures.kv_bytes is not None:
            parts.append(self.tr("{used} in use").format(used=byte_size(figures.kv_bytes)))
        if figures.window_cells is not None:
            used, cells = count(figures.window_cells_used), count(figures.window_cells)
            parts.append(self.tr("window {used} / {cells}").format(used=used, cells=cells))
        return in_parts(parts)

    def _title(self, figures: Figures) -> str:
        """Return what is counted: tokens of the context where they have no cell each."""
        is_context = figures.memory_kind == "recurrent" or not figures.keeps_all
        return self.tr("Context") if is_context else self.tr("KV cache")

    def _hint(self, figures: Figures) -> str:
        if not figures.kv_cells:
            return self.tr("No model is loaded, so that no memory is set aside for a chat.")
        hint = self.tr("What the model has in mind of a chat: tokens held now, of the most that there is room for. ")
        if not figures.keeps_all:
            hint = self.tr(
                "What was read of a chat: tokens, of the most that there is room for. Only the latest are held: every layer "
                "that keeps tokens has a sliding window. "
            )
        hint += self._reserved_hint()
        return f"{hint}\n{self._holds_words(figures)}" if figures.kv_holds else hint

    def _holds_words(self, figures: Figures) -> str:
        return self.tr("It holds another chat now: {title}").format(title=figures.kv_holds)

    def _reserved_hint(self) -> str:
        return self.tr("Its memory is set aside when the model is loaded, and does not grow while the model writes.")

    def _show_saved(self, figures: Figures) -> None:
        self._saved.setVisible(self._has_details and figures.checkpoints is not None)
        self._saved.show_value(
            f"{count(figures.checkpoints)} · {byte_size(figures.checkpoint_bytes)}",
            self.tr(
                "This model cannot forget only the end of a chat, so that what it has in mind is saved after each question "
                "and answer: how many times, and the main memory that takes."
            ),
        )
