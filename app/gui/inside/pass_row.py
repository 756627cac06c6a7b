"""The line of a pass over tokens: the button that asks for it, how far it is, the button that ends it, and what is said.

Knows no service: whoever shows it tells its state, and what the pass costs.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QWidget

from app.gui import theme
from app.gui.widgets.labels import label
from app.services.attention_cost import AttentionCost
from app.services.units import byte_size, count

_PROGRESS_PX = 180
translate = QCoreApplication.translate


class PassRow(QHBoxLayout):
    """Shows one state at a time."""

    keyboard_left = Signal()
    """The button that had the keyboard goes, and none comes in its place."""

    def __init__(self, name: str, accessible_name: str) -> None:
        """`name` begins those of its widgets, `accessible_name` is the bar's."""
        super().__init__()
        self.ask = QPushButton()
        self.ask.setObjectName(f"{name}_button")
        self.progress = QProgressBar()
        self.progress.setObjectName(f"{name}_progress")
        self.progress.setAccessibleName(accessible_name)
        self.progress.setTextVisible(False)
        self.progress.setFixedWidth(theme.scaled(_PROGRESS_PX))
        self.cancel = QPushButton(self.tr("Cancel"))
        self.cancel.setObjectName(f"{name}_cancel")
        self.said = label(look="muted", name=f"{name}_told")
        self.said.setWordWrap(True)
        self.setSpacing(theme.SPACE_S)
        for widget in (self.ask, self.progress, self.cancel):
            self.addWidget(widget)
        self.addWidget(self.said, 1)

    def show_state(self, progress: tuple[int, int] | None, *, asks: bool, comes: QWidget | None = None) -> None:
        """Show how far a pass is, or the button that asks for one, or neither.

        The keyboard goes on from a button that goes to the one that comes, or to `comes`: nothing is scrolled away.
        """
        is_open = progress is not None
        if progress is not None:
            self.progress.setRange(0, progress[1])
            self.progress.setValue(progress[0])
        seen: dict[QWidget, bool] = {self.ask: asks and not is_open, self.progress: is_open, self.cancel: is_open}
        for widget in (each for each, is_seen in seen.items() if is_seen):
            widget.show()
        if any(widget.hasFocus() for widget, is_seen in seen.items() if not is_seen):
            heir = self.cancel if is_open else self.ask if asks else comes
            if heir is not None:
                heir.setFocus()
            else:
                self.keyboard_left.emit()
        for widget in (each for each, is_seen in seen.items() if not is_seen):
            widget.hide()


def progress_words(done: int, total: int) -> str:
    """Return how far a pass is."""
    return translate("PassRow", "{done} of {total} tokens").format(done=count(done), total=count(total))


def cost_words(cost: AttentionCost | None) -> str:
    """Return what a pass takes, before it is asked for; nothing where that is not known."""
    if cost is None:
        return ""
    said = translate("PassRow", "Reads {tokens} tokens once more").format(tokens=count(cost.tokens))
    if cost.tokens == 1:
        said = translate("PassRow", "Reads 1 token")
    if cost.seconds is not None:
        shown = f"{cost.seconds:,.0f}" if cost.seconds >= 10 else f"{max(cost.seconds, 0.1):.1f}"
        said += translate("PassRow", ", about {seconds} s").format(seconds=shown)
    if cost.memory_bytes is not None:
        said += translate("PassRow", ", about {size} meanwhile").format(size=byte_size(cost.memory_bytes))
    return said
