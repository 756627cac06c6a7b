"""The page of a repository: what it is, what it asks for, its quantisations, and what its authors write."""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.core.download import wanted_of
from app.core.hub_page import HubPage
from app.core.hub_search import unread_words
from app.gui import theme
from app.gui.chat.text_alone import Background
from app.gui.discover.card_view import CardView
from app.gui.discover.download_row import DownloadButtons
from app.gui.discover.gate_row import GateRow
from app.gui.discover.quantisation_list import QuantisationList
from app.gui.discover.words import ago, facts_of, more_facts_of, shown
from app.gui.icons import Icons
from app.gui.widgets.buttons import text_button
from app.gui.widgets.clear_line import ClearLine
from app.gui.widgets.labels import in_parts, label, wrapped
from app.gui.widgets.words import render, set_hint
from app.services.program import Program

_CARD_PX = 96


class RepositoryPane(QWidget):
    """Shows the page that is open; what is read of it stays while it is read anew."""

    downloads_wanted = Signal()
    """Somebody wants to see the downloads."""
    load_wanted = Signal(str)
    """Somebody wants to chat with a model that is here: its file."""

    def __init__(self, program: Program, themes: theme.Themes, background: Background) -> None:
        super().__init__()
        self._discovering = program.discovering
        self._judging = program.planner.recommending
        self._judged: HubPage | None = None
        self._themes = themes
        self.title = wrapped(label(pixels=theme.HEADING_PX, bold=True, name="discover_title"))
        self.facts = wrapped(label(look="muted", pixels=theme.SMALL_PX, name="discover_facts"))
        self.age = wrapped(label(look="muted", pixels=theme.SMALL_PX, name="discover_page_age"))
        self.age_token = text_button(self.tr("Access token…"), "discover_age_token_button")
        self.page_button = text_button(self.tr("Open its web page"), "discover_web_button")
        set_hint(self.page_button, self.tr("Opens the model's page in your browser"))
        self.gate = GateRow(program.hub_token)
        self.list = QuantisationList(Icons(program.resources), themes)
        self.line = ClearLine()
        self.line.searches_page = True
        self.line.setObjectName("discover_quantisations_line")
        self.line.setProperty("look", "field")
        self.line.setPlaceholderText(self.tr("Search its files"))
        self.line.setAccessibleName(self.tr("Search its files"))
        self.reason = wrapped(label(pixels=theme.SMALL_PX, name="discover_reason"))
        self.note = wrapped(label(look="muted", pixels=theme.SMALL_PX, name="discover_note"))
        self.download = DownloadButtons(program.downloads, "discover")
        self.card = CardView(themes, background)
        self.card_problem = wrapped(label(look="muted", pixels=theme.SMALL_PX, name="discover_card_problem"))
        self.nothing = wrapped(label(look="muted", name="discover_nothing"))
        self.retry = text_button(self.tr("Try again"), "discover_page_retry_button")
        self.token = text_button(self.tr("Access token…"), "discover_page_token_button")
        self._stack = QStackedWidget()
        self._lay_out()
        self.page_button.clicked.connect(lambda _checked=False: self._open_page())
        self.download.downloads_wanted.connect(self.downloads_wanted)
        self.download.load_wanted.connect(self.load_wanted)
        self.retry.clicked.connect(lambda _checked=False: self._read_again())
        self.token.clicked.connect(lambda _checked=False: self.gate.open_token())
        self.age_token.clicked.connect(lambda _checked=False: self.gate.open_token())
        self.gate.kept.connect(self._read_again)
        self.line.textChanged.connect(self.list.narrow)
        self.list.chosen.connect(self._show_download)
        self.list.download_wanted.connect(self.download.download)
        themes.changed.connect(self._show_fits)
        self._disconnect = [
            self._discovering.paged.connect(self._show),
            self._judging.changed.connect(self._show_fits),
        ]
        self._show()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        for disconnect in self._disconnect:
            disconnect()
        self.gate.disconnect_services()
        self.download.disconnect_services()
        self._judging.rest_files()

    def _read_again(self) -> None:
        if self._discovering.repository:
            self._discovering.open(self._discovering.repository)

    def _open_page(self) -> None:
        page = self._discovering.page
        if page is not None:
            QDesktopServices.openUrl(QUrl(page.web))

    def _show(self) -> None:
        page = self._discovering.page
        is_gated = page is not None and bool(page.repository.is_gated)
        self.gate.show_model(page.web if page is not None else "", is_gated=is_gated)
        if page is None:
            self._show_nothing()
            return
        had_keyboard = any(map(self._has_keyboard, (self.retry, self.token, self.age_token)))
        self._stack.setCurrentIndex(1)
        told = page.repository
        self.page_button.setEnabled(bool(page.web))
        self.title.setText(shown(told.id))
        self.title.setAccessibleName(shown(told.id))
        facts = [*facts_of(told), *more_facts_of(told)]
        self.facts.setText(in_parts(facts))
        self.facts.setVisible(bool(facts))
        age = self._age_words(page)
        self.age.setText(age)
        self.age.setVisible(bool(age))
        # over the page of a gated model there is one already
        wants_token = self._discovering.page_wants_token or page.wants_token
        self.age_token.setVisible(wants_token and not is_gated and not self._discovering.is_reading)
        self._show_card(page)
        if self._judged is None or self._judged.repository.id != page.repository.id:
            self.line.clear()
        self.list.show_quantisations(page.quantisations)
        self.line.setVisible(self.list.is_long)
        if not self.list.is_long:
            self.line.clear()
        self.list.setVisible(bool(page.quantisations))
        if page != self._judged:
            self._judged = page
            self._judging.want_files(page)
        elif not self._discovering.is_reading:
            self._judging.look_again()  # it was asked for anew: with a token by now, it may be
        self._show_fits()
        self._show_download()
        if had_keyboard and not (
            self._has_keyboard(self.age_token) and not self.age_token.isHidden()
        ):  # what it was on has gone with the problem
            (self.list if page.quantisations else self.page_button).setFocus()

    def _show_nothing(self) -> None:
        found = self._discovering
        self._stack.setCurrentIndex(0)
        if self._judged is not None:
            self._judged = None
            self._judging.rest_files()
        name = shown(found.repository)
        if found.is_reading:
            words = self.tr("Reading the page of {name} …").format(name=name)
        elif found.page_problem is not None:
            words = render(found.page_problem)
        else:
            words = self.tr("Choose a model on the left to see what it is, what it takes, and whether it fits.")
        is_problem = found.page_problem is not None and not found.is_reading
        if self.nothing.property("look") != ("problem" if is_problem else "muted"):
            self.nothing.setProperty("look", "problem" if is_problem else "muted")
            self.nothing.style().polish(self.nothing)
        self.nothing.setText(words)
        wants_token = is_problem and found.page_wants_token
        if self._has_keyboard(self.token) and not wants_token:
            self.retry.setFocus()
        # the keyboard stays where it is while it is tried again
        self.retry.setVisible(is_problem or (found.is_reading and self._has_keyboard(self.retry)))
        self.token.setVisible(wants_token)

    def _has_keyboard(self, widget: QWidget) -> bool:
        """Whether the keyboard is on it, or will be once the dialog over the window is closed."""
        return self.window().focusWidget() is widget

    def _age_words(self, page: HubPage) -> str:
        found = self._discovering
        if found.is_reading:
            return self.tr("It is being read anew …")
        problem = found.page_problem or page.problem
        if problem is None:
            return render(unread_words(page.unread)) if page.unread else ""
        if not page.age_s:
            return render(problem)
        words = self.tr("Read {ago}. {problem}")
        return words.format(ago=ago(page.age_s), problem=render(problem))

    def _show_card(self, page: HubPage) -> None:
        card = page.card
        self.card.setVisible(bool(card.text))
        self.card.show_card(card.text)
        self.card_problem.setVisible(not card.text)
        said = (
            render(card.problem)
            if card.problem is not None
            else self.tr("Its authors have written nothing about it.")
        )
        self.card_problem.setText(said)

    def _show_fits(self) -> None:
        """Say what fits and what it loses, which is recommended, and where no header was read, that and why."""
        if self._judged is None:
            return
        choice = self._judging.files
        self.list.show_choice(choice)
        self.reason.setVisible(choice.reason is not None)
        said = [render(each) for each in (choice.note, choice.problem) if each is not None]
        self.note.setText("\n".join(said))
        self.note.setVisible(bool(said))
        if choice.reason is None:
            return
        named = next((each.name for each in self._judged.quantisations if each.path == choice.recommended), "")
        words = render(choice.reason)
        if named:
            words = self.tr("Recommended: {name}. {reason}").format(name=shown(named), reason=words)
        self.reason.setText(words)

    def _show_download(self) -> None:
        page, chosen = self._discovering.page, self.list.current
        if page is None or not page.quantisations:
            words = self.tr("It holds no GGUF file: look for the same model with “GGUF” in its name.")
            self.download.show_model(None, "", words, is_offered=False)
            return
        if chosen is None:
            self.download.show_model(None, "", is_offered=False)
            return
        words = self.tr("The repository does not hold all of its parts: choose another one.")
        note = self.tr("It sees or hears for a model, and is no model to chat with.")
        self.download.show_model(
            wanted_of(page.model(chosen)),
            shown(chosen.name),
            words if chosen.missing_parts else "",
            note=note if chosen.is_projector else "",
        )

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(theme.SPACE_S)
        head.addWidget(self.title, 1)
        head.addWidget(self.page_button, 0, Qt.AlignmentFlag.AlignTop)
        self.card.setMinimumHeight(theme.scaled(_CARD_PX))
        shown_page = QWidget()
        column = _column(shown_page)
        column.addLayout(head)
        column.addWidget(self.facts)
        column.addWidget(self.age)
        column.addWidget(self.age_token, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.line)
        column.addWidget(self.list, 7)  # as high as its rows where there is room: the card scrolls in what is left
        column.addWidget(self.reason)
        column.addWidget(self.note)
        column.addWidget(self.download)
        column.addWidget(self.card, 1)
        column.addWidget(self.card_problem, 0)
        column.addStretch(0)
        empty = QWidget()
        column = _column(empty)
        column.addWidget(self.nothing)
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self.retry)
        row.addWidget(self.token)
        row.addStretch(1)
        column.addLayout(row)
        column.addStretch(1)
        self._stack.addWidget(empty)
        self._stack.addWidget(shown_page)
        column = _column(self)
        column.addWidget(self.gate)
        column.addWidget(self._stack, 1)


def _column(widget: QWidget) -> QVBoxLayout:
    column = QVBoxLayout(widget)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(theme.SPACE_S)
    return column
