"""What is in the memory of each device: the open model's parts, other programs, and what is free.

Knows no engine and measures nothing: the figures are the services'.
"""

from __future__ import annotations

from PySide6.QtGui import QColor
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.devices import MAIN_MEMORY
from app.core.load_estimate import percent_more
from app.core.metrics import DeviceMemory
from app.gui import theme
from app.gui.icons import Icons
from app.gui.widgets.figure_row import BESIDE_PX, FigureRow
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.gauge import Gauge, Segment, lightness_step, mixed
from app.gui.widgets.labels import in_parts, label
from app.gui.widgets.legend import Legend, LegendItem
from app.gui.widgets.words import render, set_hint
from app.services.device_use import DeviceUse
from app.services.machine import Machine
from app.services.memory import Memory
from app.services.units import byte_share, byte_size, signed

_HUES = {
    "weights": ("stage_decode", 2),
    "kv": ("stage_kv", 2),
    "state": ("stage_kv", 6),
    "compute": ("stage_decode", 6),
    "output": ("stage_logits", 2),
}
"""Each part has the hue of the stage that reads or fills it, and a lightness step of that hue."""
_FAINT = 0.3


class DeviceRow(QWidget):
    """One device: all that is taken of it, the parts as a bar, and how the estimate compares."""

    def __init__(self, icons: Icons, number: int) -> None:
        super().__init__()
        ending = f"_{number}" if number else ""
        self.figure = FigureRow(
            icons, "memory", "muted", self.tr("Memory"), f"vram_value{ending}", room_for="00.0 / 00 GiB"
        )
        self._gauge = Gauge(f"vram_gauge{ending}")
        self._legend = Legend(rows=3)
        set_hint(
            self._legend,
            self.tr(
                "Weights: what the model has learned. KV: what it has in mind of the chat. Compute and output: room to "
                "work in. Others: what other programs take."
            ),
        )
        self._compared = FixedText(name=f"vram_estimate{ending}")
        self._has_details = True
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(BESIDE_PX)
        for widget in (self.figure, self._gauge, self._legend, self._compared):
            layout.addWidget(widget)

    def show_details(self, shown: bool) -> None:
        """Show everything, or from the next use on the value and its bar alone."""
        self._has_details = shown

    def show_use(self, use: DeviceUse, look: theme.Theme) -> None:
        """Show the figures of one device."""
        title = self.tr("Main memory") if use.device == MAIN_MEMORY else use.device
        self.figure.show_title(title, short=self.tr("Memory"))
        taken = use.used if use.used is not None else use.ours or None
        self.figure.show_value(byte_share(taken, use.total), self._hint(use))
        segments, items = [], []
        for key, words, size in self._parts(use):
            colour = self._colour(key, look)
            items.append(LegendItem(words.format(bytes=byte_size(size)), colour))
            if key != "free":
                segments.append(Segment(size / use.total if use.total else 0.0, colour))
        self._gauge.set_track(look.colour("border"))
        self._gauge.set_segments(segments)
        self._legend.set_items(items)
        self._legend.setVisible(self._has_details and bool(items))
        name = f"{title}: {self.figure.value.property('text')}. " + ", ".join(item.text for item in items)
        if name != self._gauge.accessibleName():
            self._gauge.setAccessibleName(name)
            set_hint(self._gauge, name)
        self._show_estimate(use)

    def _show_estimate(self, use: DeviceUse) -> None:
        is_known = use.real is not None or use.estimate is not None
        self._compared.setVisible(self._has_details and is_known)
        estimate = use.estimate.total if use.estimate is not None else None
        reserved = use.real.total if use.real is not None else None
        took = self.tr("reserved {bytes}").format(bytes=byte_size(reserved))
        if (more := percent_more(estimate, reserved)) is not None:
            took = self.tr("reserved {bytes} ({percent} %)").format(bytes=byte_size(reserved), percent=signed(more))
        words = (
            took,
            self.tr("estimated {bytes}").format(bytes=byte_size(estimate)),
        )
        self._compared.set_text(in_parts(words))
        set_hint(
            self._compared,
            self.tr(
                "What the open model took when it was loaded, how much more that is than estimated, and what Tokenlight "
                "had worked out beforehand. The two are measured in different ways and may differ a little."
            ),
        )

    def _parts(self, use: DeviceUse) -> list[tuple[str, str, int]]:
        """Return a key, words and bytes of each part that is known and not nothing, from the left."""
        real = use.real or DeviceMemory(use.device, None, None, None)
        known: tuple[tuple[str, str, int | None], ...] = (
            ("weights", self.tr("weights {bytes}"), real.weights),
            ("kv", self.tr("KV {bytes}"), real.kv),
            ("state", self.tr("state {bytes}"), real.state),
            ("compute", self.tr("compute {bytes}"), real.compute),
            ("output", self.tr("output {bytes}"), real.output),
            ("others", self._others_words(use), use.others),
            ("free", self.tr("free {bytes}"), use.free),
        )
        return [(key, words, size) for key, words, size in known if size]

    def _others_words(self, use: DeviceUse) -> str:
        if use.device == MAIN_MEMORY:
            return self.tr("others {bytes}")
        return self.tr("others + driver {bytes}")

    @staticmethod
    def _colour(key: str, look: theme.Theme) -> QColor:
        if key == "free":
            return look.colour("border")
        if key == "others":
            return mixed(look.colour("muted"), look.colour("surface"), _FAINT)
        hue, step = _HUES[key]
        return lightness_step(look.colour(hue), step, look.colour("text"), look.colour("surface"))

    def _hint(self, use: DeviceUse) -> str:
        parts = [use.name] if use.name else []
        if use.total is None and use.reason is None:
            parts.append(self.tr("Nothing is known of this memory yet."))
        elif use.used is not None:
            parts.append(self.tr("What the open model and all other programs take, of all the memory there is."))
        else:
            parts.append(self.tr("What the open model took when it was loaded, of all the memory there is."))
        if use.real is not None and use.real.weights:
            parts.append(self.tr("The file of a model is a little larger than its weights: it holds its words, too."))
        if use.reason is not None:
            parts.append(render(use.reason))
        return "\n".join(parts)


class MemoryRows(QWidget):
    """A row for each device that holds something of the open model, and why no GPU is used."""

    def __init__(self, memory: Memory, machine: Machine, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._memory = memory
        self._machine = machine
        self._icons = icons
        self._look: theme.Theme | None = None
        self._rows: list[DeviceRow] = []
        self._has_details = True
        self._reason = label(look="muted", pixels=theme.SMALL_PX, name="no_gpu_text")
        self._reason.setWordWrap(True)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(theme.SPACE_XS)
        self._layout.addWidget(self._reason)

    def show_details(self, shown: bool) -> None:
        """Show everything, or the figures of the first device alone: it is the one that computes."""
        self._has_details = shown
        for row in self._rows:
            row.show_details(shown)
        self.show_uses()

    def show_theme(self, look: theme.Theme) -> None:
        """Use the colours of a theme."""
        self._look = look
        for row in self._rows:
            row.figure.show_theme(look)
        self.show_uses()

    def show_uses(self) -> None:
        """Show what is in each memory now."""
        if self._look is None:
            return
        uses = self._memory.uses(self._machine.memory, self._machine.gpus)
        while len(self._rows) < len(uses):
            self._add_row(self._look)
        for row, use in zip(self._rows, uses, strict=False):
            row.show_use(use, self._look)
        for number, row in enumerate(self._rows):
            row.setVisible(number < (len(uses) if self._has_details else 1))
        reason = self._memory.why_no_gpu(self._machine.gpus)
        text = render(reason) if reason is not None else ""
        if text != self._reason.text():
            self._reason.setText(text)
        self._reason.setVisible(self._has_details and bool(text))

    def _add_row(self, look: theme.Theme) -> None:
        row = DeviceRow(self._icons, len(self._rows))
        row.figure.show_theme(look)
        row.show_details(self._has_details)
        self._layout.insertWidget(len(self._rows), row)
        self._rows.append(row)
