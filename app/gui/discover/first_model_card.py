"""What somebody without any model is offered: the one that suits this machine, a small one to begin with, the way to others."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout

from app.core.download import wanted_of
from app.gui import theme
from app.gui.discover.catalogue_words import purpose_of
from app.gui.discover.download_row import DownloadButtons
from app.gui.icons import Icons
from app.gui.widgets.fit_line import FitLine
from app.gui.widgets.labels import label, wrapped
from app.gui.widgets.words import render
from app.services.downloads import Downloads
from app.services.recommending import JudgedModel, ModelChoice, Recommending


class FirstModelCard(QFrame):
    """Works out what fits as long as it is seen."""

    downloads_wanted = Signal()
    """Somebody wants to see the downloads."""
    load_wanted = Signal(str)
    """Somebody wants to chat with what is here: its file."""
    others_wanted = Signal()
    """Somebody wants to see what else there is."""

    def __init__(self, recommending: Recommending, downloads: Downloads, icons: Icons, themes: theme.Themes) -> None:
        super().__init__()
        self.setObjectName("first_model_card")
        self.setProperty("look", "card")
        self._recommending, self._icons, self._themes = recommending, icons, themes
        self._heading = label(
            self.tr("Recommended for this machine"), look="muted", pixels=theme.SMALL_PX, name="first_model_heading"
        )
        self._title = wrapped(label(pixels=theme.HEADING_PX, bold=True, name="first_model_title"))
        self._purpose = wrapped(label(name="first_model_purpose"))
        self._fit = FitLine("first_model_fit", look="muted")
        self._reason = wrapped(label(look="muted", pixels=theme.SMALL_PX, name="first_model_reason"))
        self._download = DownloadButtons(downloads, "first_model")
        self._starter_reason = wrapped(label(look="muted", name="first_model_starter_reason"))
        self._starter = DownloadButtons(downloads, "first_model_starter")
        self._starter.button.setProperty("look", "")  # one button alone is the first choice
        self._others = QPushButton(self.tr("Other models…"))
        self._others.setObjectName("first_model_others_button")
        self._others.setAccessibleName(self.tr("Other models"))
        self._others.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        for buttons in (self._download, self._starter):
            buttons.downloads_wanted.connect(self.downloads_wanted)
            buttons.load_wanted.connect(self.load_wanted)
        self._others.clicked.connect(lambda _checked=False: self.others_wanted.emit())
        self._lay_out()
        themes.changed.connect(self._show)
        self._disconnect = recommending.changed.connect(self._show)
        self._show()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self._disconnect()
        self._download.disconnect_services()
        self._starter.disconnect_services()

    def showEvent(self, event: QShowEvent) -> None:
        """Have worked out what suits this machine."""
        super().showEvent(event)
        self._recommending.want_models(self)

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody looks."""
        super().hideEvent(event)
        self._recommending.rest_models(self)

    def _show(self) -> None:
        choice = self._recommending.models
        best = next((each for each in choice.models if each.model == choice.recommended), None)
        for part in (self._heading, self._title, self._fit, self._download):
            part.setVisible(best is not None)
        # Of one that fits in part, that is the reason as well: it is said once.
        is_told = best is not None and choice.reason is not None and choice.reason != best.fit.reason
        self._reason.setVisible(is_told)
        if is_told and choice.reason is not None:
            self._reason.setText(render(choice.reason))
        self._show_starter(choice)
        if best is not None:
            self._show_model(best)
        elif choice.reason is not None and self._recommending.is_listed:
            self._purpose.setText(render(choice.reason))
        else:
            self._purpose.setText(self.tr("Looking which model suits this machine …"))

    def _show_starter(self, choice: ModelChoice) -> None:
        model, reason = choice.starter, choice.starter_reason
        for part in (self._starter_reason, self._starter):
            part.setVisible(model is not None)
        if model is not None and reason is not None:
            self._starter_reason.setText(render(reason))
            self._starter.show_model(wanted_of(model.hub_model), model.name)

    def _show_model(self, best: JudgedModel) -> None:
        model = best.model
        self._title.setText(model.name)
        self._purpose.setText(purpose_of(model))
        self._fit.show_fit(best.fit, self._icons, self._themes.current)
        self._download.show_model(wanted_of(model.hub_model), self.tr("and chat"))

    def _lay_out(self) -> None:
        below = QHBoxLayout()
        below.setSpacing(theme.SPACE_S)
        below.addWidget(self._download, 1)
        below.addWidget(self._others, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self._heading)
        column.addWidget(self._title)
        column.addWidget(self._purpose)
        column.addWidget(self._fit)
        column.addWidget(self._reason)
        column.addLayout(below)
        column.addWidget(self._starter_reason)
        column.addWidget(self._starter)
