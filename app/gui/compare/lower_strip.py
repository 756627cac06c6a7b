"""The strip under the lanes: their figures, or a lane under other settings; folded, only its tabs are seen."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.compare.figures_table import FiguresTable
from app.gui.compare.what_if_panel import WhatIfPanel
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.page_tabs import PageTabs


class LowerStrip(QFrame):
    """As high as what it shows."""

    page_changed = Signal()
    """Something else is shown: `page`."""
    chosen = Signal()
    """Somebody wants to see it."""

    def __init__(self, themes: theme.Themes, icons: Icons) -> None:
        super().__init__()
        self.setObjectName("compare_strip")
        self.setProperty("look", "lane")
        self.figures = FiguresTable(themes)
        self.what_if = WhatIfPanel(themes)
        self._page = "figures"
        self._is_chosen = False
        """Whether somebody opened or closed it: then it stays so."""
        self._tabs = PageTabs(
            [
                ("figures", "compare_figures_tab", self.tr("Figures"), self.tr("What was measured of each lane")),
                (
                    "what_if",
                    "compare_what_if_tab",
                    self.tr("What if"),
                    self.tr("What other settings would have made of an answer that is written"),
                ),
            ]
        )
        self._fold = IconButton(icons, "down", "", object_name="compare_strip_fold")
        self.inside = QWidget()
        """What is shown, without the tabs."""
        self._lay_out()
        self._tabs.wanted.connect(self.choose)
        self._fold.clicked.connect(lambda: self.choose("" if self._page else "figures"))
        self.show_page("figures")

    @property
    def page(self) -> str:
        """What is shown: “figures”, “what_if”, or nothing."""
        return self._page

    def show_page(self, name: str) -> None:
        """Show the figures or a lane under other settings, or only the tabs."""
        self._page = name
        if name:
            self._tabs.show_page(name)
        if not name:
            self.inside.hide()  # first, as the lanes get another size with every step that is seen
        self.figures.setVisible(name == "figures")
        self.what_if.setVisible(name == "what_if")
        self.inside.setVisible(bool(name))
        self._fold.set_icon("down" if name else "unfold")
        self._fold.set_name(self.tr("Hide") if name else self.tr("Show the figures"))
        self.page_changed.emit()

    @property
    def height_with_figures(self) -> int:
        """How high it is while the figures are shown."""
        inside = self.inside.layout()
        assert inside is not None
        around = 3 * theme.SPACE_XS + inside.contentsMargins().bottom()
        return around + self._tabs.sizeHint().height() + self.figures.minimumHeight()

    def begin(self) -> None:
        """Another comparison begins: what somebody wanted to see of an earlier one was about that."""
        self._is_chosen = False

    def follow(self, *, is_running: bool, has_room: bool) -> None:
        """Leave the room to the lanes while they are written, and where there is little, unless somebody chose."""
        wanted = "" if is_running or not has_room else self._page or "figures"
        if not self._is_chosen and wanted != self._page:
            self.show_page(wanted)

    def choose(self, name: str) -> None:
        """Show what somebody wants to see; it stays until a comparison begins."""
        self._is_chosen = True
        self.show_page(name)
        self.chosen.emit()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.addWidget(self._tabs)
        head.addStretch(1)
        head.addWidget(self._fold)
        inside = QVBoxLayout(self.inside)
        inside.setContentsMargins(0, 0, 0, theme.SPACE_S)
        inside.setSpacing(0)
        inside.addWidget(self.figures)
        inside.addWidget(self.what_if)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_M, theme.SPACE_XS)
        column.setSpacing(theme.SPACE_XS)
        column.addLayout(head)
        column.addWidget(self.inside)
