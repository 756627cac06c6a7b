"""Where the size of a file goes: a bar for each layer, and one for each type of number."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.gguf_view import GgufView
from app.gui import theme
from app.gui.file_view.size_chart import SizeChart, SizeLegend
from app.gui.file_view.size_rows import layer_chart, type_chart
from app.gui.widgets.boxes import ChoiceBox
from app.gui.widgets.labels import label

_TYPES_PX = 330


class SizesPane(QWidget):
    """The bars of the layers are made of what their tensors are for, or of their types."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self._view: GgufView | None = None
        self.setObjectName("file_view_sizes")
        self.sentence = label(
            self.tr("What each layer takes: a model goes through all of its layers for every token that it writes."),
            look="muted",
            name="file_view_sentence",
        )
        self.sentence.setWordWrap(True)
        self.sentence.setMinimumWidth(1)
        self.stack = ChoiceBox()
        self.stack.setObjectName("file_view_stack_box")
        self.stack.setAccessibleName(self.tr("What the bars are made of"))
        self.stack.addItem(self.tr("By what it is for"), False)
        self.stack.addItem(self.tr("By type of number"), True)
        self.layers = SizeChart(themes, "file_view_layers", self.tr("Size by layer"))
        self.types = SizeChart(themes, "file_view_types", self.tr("Size by type"))
        self.legend = SizeLegend(themes)
        self.none = label(self.tr("This file holds no weights."), look="muted", name="file_view_no_sizes")
        self.stack.activated.connect(lambda _row: self._show())
        self.setFocusProxy(self.layers)
        self._lay_out()

    def show_view(self, view: GgufView) -> None:
        """Show another file, which is another one where its places are."""
        is_same = self._view is not None and view.places is self._view.places
        self._view = view
        if not is_same:
            self._show()

    def _show(self) -> None:
        if self._view is None:
            return
        by_type = bool(self.stack.currentData())
        chart = layer_chart(self._view, by_type=by_type)
        self.layers.show_chart(chart)
        self.legend.show_names(chart.names)
        types = type_chart(self._view.types, chart.names if by_type else ())
        self.types.show_chart(types)
        has_any = bool(chart.bars)
        self.none.setVisible(not has_any)
        self._room.setVisible(has_any)

    def _lay_out(self) -> None:
        left = QVBoxLayout()
        left.setSpacing(theme.SPACE_S)
        above = QHBoxLayout()
        above.setSpacing(theme.SPACE_M)
        above.addWidget(self.stack)
        above.addWidget(self.legend, 1, Qt.AlignmentFlag.AlignVCenter)
        left.addLayout(above)
        left.addWidget(self.layers, 1)
        right = QVBoxLayout()
        right.setSpacing(theme.SPACE_S)
        title = label(self.tr("By type of number: fewer bits take less room and are less exact"), look="muted")
        title.setWordWrap(True)
        right.addWidget(title)
        right.addWidget(self.types, 1)
        types = QWidget()
        types.setFixedWidth(theme.scaled(_TYPES_PX))
        types.setLayout(right)
        right.setContentsMargins(0, 0, 0, 0)
        self._room = QWidget()
        row = QHBoxLayout(self._room)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_L)
        row.addLayout(left, 1)
        row.addWidget(types)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self.sentence)
        column.addWidget(self.none)
        column.addWidget(self._room, 1)
        column.addStretch(0)
