"""The candidates of the token that an answer waits for, to choose one from: on the page Inside while the answer is held.

Follows the steps; chooses nothing by itself.
"""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.next_token.candidates import CandidatesChart
from app.gui.widgets.labels import label
from app.services.inspecting import Inspecting
from app.services.next_token import CandidatesView, NextToken
from app.services.step_mode import StepMode


class NextChoice(QWidget):
    """There only while the answer that is looked at waits for somebody."""

    def __init__(
        self,
        services: tuple[Inspecting, NextToken, StepMode],
        themes: theme.Themes,
        icons: Icons,
    ) -> None:
        super().__init__()
        self.setObjectName("inside_next_choice")
        self._inspecting, self._next_token, self._step_mode = services
        self._view: CandidatesView | None = None
        self._themes = themes
        self.chart = CandidatesChart(icons)
        self.chart.setObjectName("inside_candidates")
        self.chart.setMinimumHeight(0)
        self.chart.taken.connect(self._take)
        heading = label(self.tr("The answer waits: choose its next token, or let one be drawn."), bold=True)
        heading.setWordWrap(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(heading)
        column.addWidget(self.chart, 1)
        self._disconnect = [
            self._next_token.changed.connect(lambda _moved: self._show()),
            self._step_mode.changed.connect(self._show),
            self._inspecting.opened.connect(self._show),
        ]
        themes.changed.connect(self._show_theme)
        self._show_theme()
        self._show()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        for disconnect in self._disconnect:
            disconnect()

    def _show(self) -> None:
        held = self._step_mode.held
        is_looked_at = held is not None and held.turn is self._inspecting.turn
        view = self._next_token.candidates() if is_looked_at else None
        if view is not None and held is not None and view.request != held.request:
            view = None
        if view is not self._view:
            self._view = view
            rows = () if view is None else view.rows
            request, step = (0, 0) if view is None else (view.request, view.token)
            self.chart.show_rows(rows, request, step, can_take=view is not None and view.is_held)
        self.setVisible(view is not None)

    def _take(self, token: int) -> None:
        if self._view is not None:
            self._step_mode.choose(self._view.request, self._view.token, token)

    def _show_theme(self) -> None:
        self.chart.show_theme(self._themes.current)
