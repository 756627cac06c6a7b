"""The column of sections: keeps their order, shows where a dragged one would land, scrolls as a whole, up and down only.

Its scroll bar always has its place, so that the sections are as wide with it as without. Details are left away by themselves where the sections would not fit otherwise, and come back where they do.

Knows nothing of settings: it says when people arranged it otherwise, and is told an order.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QScrollBar, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.widgets.section import DetailsChoice, Section
from app.gui.widgets.tab_stops import tab_stops

MARK_PX = 3
EDGE_PX = 24
"""How near to an edge a dragged section makes the column scroll."""


class QuietScrollBar(QScrollBar):
    """Keeps its place and shows nothing while there is nothing to scroll."""

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the bar where it is of use."""
        if self.maximum() > self.minimum():
            super().paintEvent(event)


class SectionColumn(QScrollArea):
    """Sections one below the other."""

    arranged = Signal()
    """People changed the order, folded or unfolded a section, or chose whether details are shown."""

    def __init__(self, sections: Sequence[Section], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sections = list(sections)
        self._by_place = [section.name for section in sections]
        self._measured_px = 0
        self.setObjectName("section_column")
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        bar = QuietScrollBar()
        bar.setAccessibleName(self.tr("Scroll the side panel"))
        self.setVerticalScrollBar(bar)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._content = QWidget()
        self._layout = QVBoxLayout(self._content)
        # on the right the place of the scroll bar is margin enough
        self._layout.setContentsMargins(theme.SPACE_S, theme.SPACE_S, 0, theme.SPACE_S)
        self._layout.setSpacing(theme.SPACE_S)
        for section in self._sections:
            self._layout.addWidget(section)
            section.folded_changed.connect(self._tell)
            section.details_wanted.connect(lambda shown, section=section: self._choose_details(section, shown))
            section.header.step_wanted.connect(lambda step, section=section: self._step(section, step))
            section.header.dragged.connect(self._show_mark)
            section.header.dropped.connect(lambda place, section=section: self._drop(section, place))
        self._layout.addStretch(0)
        self._mark = QFrame(self._content)
        self._mark.setObjectName("insertion_mark")
        self._mark.setProperty("look", "insertion")
        self._mark.hide()
        self.setWidget(self._content)  # which also lets `eventFilter` see the events of it
        self._spread()

    @property
    def order(self) -> tuple[str, ...]:
        """The names of the sections from top to bottom."""
        return tuple(section.name for section in self._sections)

    @property
    def folded(self) -> tuple[str, ...]:
        """The names of the sections that are folded, and what people chose of their details."""
        choices = (name for section in self._sections for name in section.remembered)
        return (*(section.name for section in self._sections if section.folded), *choices)

    @property
    def foldable(self) -> tuple[str, ...]:
        """Every name that `folded` may hold."""
        return tuple(name for each in self._sections for name in (each.name, each.details_name, each.always_name))

    def arrange(self, order: Sequence[str], folded: Sequence[str]) -> None:
        """Put the sections in an order; those that it does not name come after them."""
        known = [name for name in dict.fromkeys(order) if name in self._by_place]
        names = known + [name for name in self._by_place if name not in known]
        with QSignalBlocker(self):
            for section in self._sections:
                section.recall(folded)
        if self.order != tuple(names):
            self._put(names)
        else:
            self._spread()
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave details away, or show them again."""
        super().resizeEvent(event)
        if self.width() != self._measured_px:
            self._measured_px = self.width()
            for section in self._sections:
                section.forget_height()
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Look again what fits once a section needs another height."""
        done = super().eventFilter(watched, event)
        if watched is self._content and event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return done

    def _fit(self) -> None:
        fits = self._fits()
        for section in self._sections:
            section.fit(fits)

    def _fits(self) -> bool:
        """Return whether all sections with their details have room without scrolling."""
        margins, between = self._layout.contentsMargins(), self._layout.spacing() * (len(self._sections) - 1)
        needed = sum(section.height_px(whole=True) for section in self._sections)
        return needed + between + margins.top() + margins.bottom() <= self.viewport().height()

    def _choose_details(self, section: Section, shown: bool) -> None:
        """Keep what people chose as a choice only where it is not what fits anyway."""
        chosen: DetailsChoice = "shown" if shown else "hidden"
        fits = self._fits()
        section.choice = "fit" if shown == fits and section.is_measured else chosen
        section.fit(fits)
        self.arranged.emit()

    def _put(self, names: Sequence[str]) -> None:
        by_name = {section.name: section for section in self._sections}
        self._sections = [by_name[name] for name in names]
        for place, section in enumerate(self._sections):
            self._layout.removeWidget(section)
            self._layout.insertWidget(place, section)
        for before, after in pairwise(stop for section in self._sections for stop in tab_stops(section)):
            QWidget.setTabOrder(before, after)
        self._spread()

    def _spread(self) -> None:
        """Share the height that is left, or leave it below all sections where none of them grows."""
        growing = False
        for place, section in enumerate(self._sections):
            grows = section.grows and not section.folded
            growing = growing or grows
            self._layout.setStretch(place, int(grows))
            section.header.describe(place + 1, len(self._sections))
        self._layout.setStretch(len(self._sections), int(not growing))

    def _tell(self) -> None:
        self._spread()
        self.arranged.emit()

    def _step(self, section: Section, step: int) -> None:
        place = self._sections.index(section) + step
        if 0 <= place < len(self._sections):
            self._move(section, place)
            self.ensureWidgetVisible(section.header)

    def _move(self, section: Section, place: int) -> None:
        names = [each.name for each in self._sections if each is not section]
        names.insert(place, section.name)
        if tuple(names) != self.order:
            self._put(names)
            self.arranged.emit()

    def _gap_at(self, place: QPoint) -> int:
        """Return before which section, counted from the top, a point on the screen lies."""
        height = self._content.mapFromGlobal(place).y()
        return sum(height > section.geometry().center().y() for section in self._sections)

    def _show_mark(self, place: QPoint) -> None:
        gap = self._gap_at(place)
        height = self._content.mapFromGlobal(place).y()
        self.ensureVisible(0, height, 0, EDGE_PX)
        half = (theme.SPACE_S + MARK_PX) // 2
        if gap < len(self._sections):
            top = self._sections[gap].geometry().top() - half
        else:
            top = self._sections[-1].geometry().bottom() + half - MARK_PX
        self._mark.setGeometry(QRect(theme.SPACE_S, top, self._content.width() - theme.SPACE_S, MARK_PX))
        self._mark.show()
        self._mark.raise_()

    def _drop(self, section: Section, place: QPoint) -> None:
        self._mark.hide()
        gap = self._gap_at(place)
        self._move(section, gap - (gap > self._sections.index(section)))
