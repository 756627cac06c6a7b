"""The keys that do something in the window, to search in and, those of the window itself, to change.

Shows what it is given: which keys actions have the shortcuts know, and which there are beside them `key_places`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.actions import Actions, shown_keys, words_alone
from app.gui.icons import Icons
from app.gui.preferences.key_button import KeyButton
from app.gui.preferences.keys import Keys, KeysOf
from app.gui.shortcuts import Shortcuts
from app.gui.widgets.buttons import IconButton, text_button
from app.gui.widgets.clear_line import ClearLine
from app.gui.widgets.labels import label, wrapped
from app.gui.widgets.tall_dialog import TallDialog

WIDTH_PX = 880
KeysByPlace = Mapping[KeysOf, Sequence[Keys]]
_LEFT = (KeysOf.WINDOW,)
"""They are more than half of the lines."""


class KeyboardDialog(TallDialog):
    """A list for each place where keys hold, in two columns, under a line to search in."""

    def __init__(
        self,
        actions: Actions,
        shortcuts: Shortcuts,
        fixed: KeysByPlace,
        unlisted: KeysByPlace,
        icons: Icons,
        parent: QWidget | None = None,
    ) -> None:
        """`fixed` are the keys that nobody can change, `unlisted` more of them that stand in no list."""
        super().__init__(parent)
        self._taken = [(place, each) for kind in (fixed, unlisted) for place, keys in kind.items() for each in keys]
        self._shortcuts = shortcuts
        self._icons = icons
        self._places: list[tuple[QWidget, list[tuple[QWidget, str]]]] = []
        """Each place with its rows, and what is searched for in each but the keys that can be changed."""
        self._buttons: dict[str, tuple[KeyButton, IconButton]] = {}
        self.setObjectName("keyboard_dialog")
        self.setWindowTitle(self.tr("Keyboard"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(theme.scaled(WIDTH_PX))
        self._contents = QWidget()
        whole = QVBoxLayout(self._contents)
        whole.setSpacing(theme.SPACE_M)
        whole.addWidget(label(self.tr("Keyboard"), pixels=theme.HEADING_PX, bold=True))
        self._words_line = ClearLine()
        self._words_line.setObjectName("keyboard_search")
        self._words_line.setProperty("look", "field")
        self._words_line.setPlaceholderText(self.tr("Search keys and what they do"))
        self._words_line.setAccessibleName(self._words_line.placeholderText())
        self._words_line.textChanged.connect(self._search)
        whole.addWidget(self._words_line)
        self._nothing = label(self.tr("No key does that: search for other words."), look="muted")
        self._nothing.hide()
        whole.addWidget(self._nothing)
        window_rows = [self._action_row(action.objectName(), words_alone(action)) for action in actions.in_order]
        rows = {place: list(map(self._fixed_row, keys)) for place, keys in fixed.items()}
        whole.addLayout(self._columns({KeysOf.WINDOW: window_rows, **rows}))
        whole.addStretch(1)
        self.hold(self._contents, self._foot())
        self._area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # where it is higher than the screen, keys scroll it
        self._area.setAccessibleName(self.tr("Keys"))
        shortcuts.changed.connect(self._show)
        self._show()
        self._words_line.setFocus()

    def _columns(self, rows: dict[KeysOf, list[tuple[QWidget, str]]]) -> QHBoxLayout:
        columns = QHBoxLayout()
        columns.setSpacing(theme.SPACE_XL)
        for is_left in (True, False):
            column = QVBoxLayout()
            column.setSpacing(theme.SPACE_L)
            for place, listed in rows.items():
                if (place in _LEFT) == is_left:
                    column.addWidget(self._place(place, listed))
            column.addStretch(1)
            columns.addLayout(column, 1)
        return columns

    def _place(self, place: KeysOf, rows: list[tuple[QWidget, str]]) -> QWidget:
        made = QWidget()
        column = QVBoxLayout(made)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_XS if place not in _LEFT else 0)
        column.addWidget(label(self._title(place), bold=True))
        if hint := self._hint(place):
            column.addWidget(wrapped(label(hint, look="muted", pixels=theme.SMALL_PX)))
        for row, _words in rows:
            column.addWidget(row)
        self._places.append((made, rows))
        return made

    def _action_row(self, name: str, words: str) -> tuple[QWidget, str]:
        keys = KeyButton(name, words)
        usual = shown_keys(self._shortcuts.usual(name)) or self.tr("None")
        again = self.tr("“{action}” as usual: {keys}").format(action=words, keys=usual)
        reset = IconButton(self._icons, "again", again, object_name=f"{name}_reset")
        kept = reset.sizePolicy()
        kept.setRetainSizeWhenHidden(True)
        reset.setSizePolicy(kept)
        keys.taken.connect(lambda taken: self._take(name, taken))
        keys.listens.connect(lambda _listens: self._say(""))
        reset.clicked.connect(lambda _checked=False: self._reset(name))
        self._buttons[name] = (keys, reset)
        return _row(wrapped(label(words)), keys, reset), words

    def _fixed_row(self, each: Keys) -> tuple[QWidget, str]:
        shown = label(each.shown, look="muted")
        shown.setAccessibleName(f"{each.words}: {each.shown}")
        return _row(wrapped(label(each.words)), shown), f"{each.words} {each.shown}"

    def _foot(self) -> QHBoxLayout:
        self._problem = wrapped(label(look="problem", name="keyboard_problem"))
        self._reset_all = text_button(self.tr("All keys as usual"), "keyboard_reset_button")
        self._reset_all.clicked.connect(lambda _checked=False: self._shortcuts.reset_all())
        close = text_button(self.tr("Close"), "keyboard_close_button")
        close.clicked.connect(self.close)
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self._problem, 1)
        for button in (self._reset_all, close):
            button.setAutoDefault(False)
            row.addWidget(button)
        return row

    def _take(self, name: str, keys: Sequence[QKeySequence]) -> None:
        """Have keys for an action, or say why not."""
        self._say(
            self._shortcuts.refusal(name, keys) or self._refusal(name, keys) or self._shortcuts.choose(name, keys)
        )

    def _reset(self, name: str) -> None:
        self._say(self._shortcuts.reset(name))
        self._buttons[name][0].setFocus()

    def _refusal(self, name: str, keys: Sequence[QKeySequence]) -> str:
        """Return what keys mean already in one place of the window; nothing where that is what the action does as usual."""
        for key in keys:
            for place, holder in self._taken:
                if key in holder.keys and key not in self._shortcuts.usual(name):
                    said = self.tr("{keys} means “{words}” already ({place}): choose other keys.")
                    return said.format(keys=shown_keys([key]), words=holder.words, place=self._title(place))
        return ""

    def _say(self, problem: str) -> None:
        self._problem.setText(problem)
        if problem:
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._problem, problem))

    def _show(self) -> None:
        for name, (keys, reset) in self._buttons.items():
            keys.show_keys(self._shortcuts.keys(name))
            reset.setVisible(not self._shortcuts.is_usual(name))
        self._reset_all.setEnabled(not self._shortcuts.are_usual)
        self._say("")

    def _search(self, typed: str) -> None:
        """Show the rows that hold all words that are typed, in any order."""
        self._contents.setMinimumHeight(self._contents.height())  # nothing jumps while somebody types
        wanted = typed.casefold().split()
        buttons = {keys.parentWidget(): keys.text() for keys, _reset in self._buttons.values()}
        found = False
        for place, rows in self._places:
            shown = [row for row, words in rows if _holds(f"{words} {buttons.get(row, '')}", wanted)]
            for row, _words in rows:
                row.setVisible(row in shown)
            place.setVisible(bool(shown))
            found = found or bool(shown)
        self._nothing.setVisible(not found)

    def _title(self, place: KeysOf) -> str:
        return {
            KeysOf.WINDOW: self.tr("In the window"),
            KeysOf.COMPARISON: self.tr("In a comparison"),
            KeysOf.MESSAGE: self.tr("With a message at hand"),
            KeysOf.COMPOSER: self.tr("While a message is written"),
            KeysOf.EDITOR: self.tr("While a text is changed"),
            KeysOf.QUEUE: self.tr("On a question that waits"),
            KeysOf.CHATS: self.tr("In the list of chats"),
            KeysOf.MODELS: self.tr("In the list of models on this machine"),
            KeysOf.SECTION: self.tr("On a heading of the side panel"),
            KeysOf.CANDIDATE: self.tr("On a candidate for the next token"),
            KeysOf.TOKEN: self.tr("Inside, on a token of an answer"),
            KeysOf.STAGE: self.tr("Inside, on a stage of the sampler"),
            KeysOf.CHART: self.tr("On a chart of the planner"),
        }[place]

    def _hint(self, place: KeysOf) -> str:
        if place is KeysOf.WINDOW:
            return self.tr("Press what stands beside a line, then other keys for it; Delete takes them away.")
        hint = self.tr("“Previous message” and “Next message” put one at hand; it has a ring around it.")
        return hint if place is KeysOf.MESSAGE else ""


def _row(words: QLabel, *beside: QWidget) -> QWidget:
    made = QWidget()
    row = QHBoxLayout(made)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(theme.SPACE_S)
    row.addWidget(words, 1)
    for widget in beside:
        row.addWidget(widget)
    return made


def _holds(text: str, words: Sequence[str]) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)
