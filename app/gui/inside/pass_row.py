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


def progress_of_another(done: int, total: int) -> str:
    """Return how far a pass over the tokens of another answer is."""
    return translate("PassRow", "{done} of {total} tokens of another answer").format(
        done=count(done), total=count(total)
    )


def cost_words(cost: AttentionCost | None) -> str:
    """Return what a pass takes, before it is asked for; nothing where that is not known."""
    if cost is None:
        return ""
    words = _of_one if cost.tokens == 1 else _of_several
    seconds = cost.seconds or 0.0
    return words(has_time=cost.seconds is not None, has_size=cost.memory_bytes is not None).format(
        tokens=count(cost.tokens),
        seconds=f"{seconds:,.0f}" if seconds >= 10 else f"{max(seconds, 0.1):.1f}",
        size=byte_size(cost.memory_bytes),
    )


def _of_one(*, has_time: bool, has_size: bool) -> str:
    """Return the sentence on a pass over one token; whole, as languages put its parts in other places."""
    if has_time and has_size:
        return translate("PassRow", "Reads 1 token, about {seconds} s, about {size} meanwhile")
    if has_time:
        return translate("PassRow", "Reads 1 token, about {seconds} s")
    if has_size:
        return translate("PassRow", "Reads 1 token, about {size} meanwhile")
    return translate("PassRow", "Reads 1 token")


def _of_several(*, has_time: bool, has_size: bool) -> str:
    if has_time and has_size:
        return translate("PassRow", "Reads {tokens} tokens once more, about {seconds} s, about {size} meanwhile")
    if has_time:
        return translate("PassRow", "Reads {tokens} tokens once more, about {seconds} s")
    if has_size:
        return translate("PassRow", "Reads {tokens} tokens once more, about {size} meanwhile")
    return translate("PassRow", "Reads {tokens} tokens once more")
