"""One model that Tokenlight knows: what it is for, what it takes, whether it fits, and the way to have it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.core.download import wanted_of
from app.gui import theme
from app.gui.discover.catalogue_words import facts_of, languages_of, purpose_of
from app.gui.discover.download_row import DownloadButtons
from app.gui.icons import Icons
from app.gui.widgets.fit_line import FitLine
from app.gui.widgets.labels import in_parts, label, wrapped
from app.gui.widgets.words import render, set_hint
from app.services.downloads import Downloads
from app.services.recommending import JudgedModel, ModelChoice


class CataloguePane(QWidget):
    """Needs no network but for the download itself."""

    downloads_wanted = Signal()
    """Somebody wants to see the downloads."""
    load_wanted = Signal(str)
    """Somebody wants to chat with it: its file."""
    repository_wanted = Signal(str)
    """Somebody wants to see everything its repository holds."""

    def __init__(self, downloads: Downloads, icons: Icons, themes: theme.Themes) -> None:
        super().__init__()
        self._icons, self._themes = icons, themes
        self._judged: JudgedModel | None = None
        self.title = wrapped(label(pixels=theme.HEADING_PX, bold=True, name="catalogue_title"))
        self.purpose = wrapped(label(name="catalogue_purpose"))
        self.fit = FitLine("catalogue_fit")
        self.facts = wrapped(label(look="muted", pixels=theme.SMALL_PX, name="catalogue_facts"))
        self.languages = wrapped(label(look="muted", pixels=theme.SMALL_PX, name="catalogue_languages"))
        self.reason = wrapped(label(name="catalogue_reason"))
        self.download = DownloadButtons(downloads, "catalogue")
        self.repository = QPushButton(self.tr("All its files on the hub"))
        self.repository.setObjectName("catalogue_repository_button")
        self.repository.setAccessibleName(self.repository.text())
        set_hint(
            self.repository, self.tr("Ask the hub for its page: other quantisations, and what its authors write")
        )
        self.repository.clicked.connect(lambda _checked=False: self._open_repository())
        self.download.downloads_wanted.connect(self.downloads_wanted)
        self.download.load_wanted.connect(self.load_wanted)
        themes.changed.connect(self._show_fit)
        self._lay_out()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self.download.disconnect_services()

    def show_model(self, judged: JudgedModel | None, choice: ModelChoice) -> None:
        """Show one of the catalogue; None where there is none, which has its reason."""
        self._judged = judged
        is_there = judged is not None
        for part in (self.title, self.purpose, self.fit, self.facts, self.languages, self.download):
            part.setVisible(is_there)
        self.repository.setVisible(is_there)
        is_first = judged is not None and judged.model == choice.recommended
        said = render(choice.reason) if choice.reason is not None else ""
        if is_first and said:
            said = self.tr("Recommended for this machine: {reason}").format(reason=said)
        self.reason.setText(said)
        self.reason.setVisible(bool(said) and (is_first or choice.recommended is None))
        if judged is None:
            return
        model = judged.model
        self.title.setText(model.name)
        self.title.setAccessibleName(model.name)
        self.purpose.setText(purpose_of(model))
        self.facts.setText(in_parts(facts_of(model)))
        self.languages.setText(self.tr("Languages: {languages}").format(languages=languages_of(model.languages)))
        self.download.show_model(wanted_of(model.hub_model), model.quantisation)
        self._show_fit()

    def _show_fit(self) -> None:
        if self._judged is None:
            return
        self.fit.show_fit(self._judged.fit, self._icons, self._themes.current)

    def _open_repository(self) -> None:
        if self._judged is not None:
            self.repository_wanted.emit(self._judged.model.repository)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_M)
        column.addWidget(self.title)
        column.addWidget(self.purpose)
        column.addWidget(self.fit)
        column.addWidget(self.reason)
        column.addWidget(self.facts)
        column.addWidget(self.languages)
        column.addWidget(self.download)
        column.addWidget(self.repository, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)
