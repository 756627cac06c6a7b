"""Where the grammar of answers is written: none, a grammar in GBNF or a JSON schema, checked while somebody types.

What is typed in a chat and not used stays there until the program ends; only what was checked can be used.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QPushButton, QToolButton, QVBoxLayout, QWidget

from app.core.gbnf_rule_words import too_long
from app.core.grammar import LONGEST_GRAMMAR, Grammar, GrammarKind
from app.gui import theme
from app.gui.sampling.grammar_editor import GrammarEditor
from app.gui.sampling.grammar_examples import Example, examples
from app.gui.theme import Themes
from app.gui.widgets.boxes import ChoiceBox
from app.gui.widgets.labels import label
from app.gui.widgets.tall_dialog import TallDialog
from app.gui.widgets.words import render, set_hint
from app.services.grammar_editing import GrammarEditing

WIDTH_PX = 680
SETTLED_MS = 150
"""After so long without a key the text is checked."""
PROBLEM_LINES = 2
KINDS: tuple[GrammarKind | None, ...] = (None, "gbnf", "json_schema")


class GrammarDialog(TallDialog):
    """One editor for either kind; each keeps its own text."""

    def __init__(self, editing: GrammarEditing, themes: Themes, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("grammar_dialog")
        self.setWindowTitle(self.tr("Grammar"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(theme.scaled(WIDTH_PX))
        self._editing = editing
        self._kind: GrammarKind | None = None
        self._begun = self._shown = ""
        self._box = self._kind_box()
        self._examples = self._examples_button()
        self._edit = GrammarEditor(themes)
        self._caret = label(look="muted", pixels=theme.SMALL_PX, name="grammar_caret")
        self._state = label(look="muted", pixels=theme.SMALL_PX, name="grammar_state")
        self._problem = label(look="problem", pixels=theme.SMALL_PX, name="grammar_problem")
        for said in (self._state, self._problem):
            said.setWordWrap(True)
            said.setAlignment(Qt.AlignmentFlag.AlignTop)
            said.setMinimumHeight(PROBLEM_LINES * said.fontMetrics().lineSpacing())  # what is below stays where it is
        self._go = QToolButton()
        self._go.setObjectName("grammar_go_button")
        self._go.setProperty("look", "outlined")
        self._go.setText(self.tr("Go there"))
        set_hint(self._go, self.tr("Put the caret where something is wrong"))
        self._go.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        policy = self._go.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._go.setSizePolicy(policy)
        self._use = _button(self.tr("Use"), "grammar_use_button")
        self._use.setProperty("look", "primary")
        self._close = _button(self.tr("Close"), "grammar_close_button")
        set_hint(self._close, self.tr("Close (Esc): what you typed stays here until you use it"))
        self._settled = QTimer(self)
        self._settled.setSingleShot(True)
        self._settled.setInterval(SETTLED_MS)
        self._settled.timeout.connect(self._check)
        self.hold(self._contents(), self._buttons())
        self._connect()
        in_force = editing.in_force
        self._show_kind(in_force.kind if in_force is not None else None)
        if in_force is not None:
            self._edit.setFocus()

    def done(self, result: int) -> None:
        """Keep what is typed, listen no longer, and close."""
        self._settled.stop()
        if (grammar := self._written) is not None:
            self._editing.write(grammar)
        self._disconnect()
        super().done(result)

    @property
    def _written(self) -> Grammar | None:
        if self._kind is None:
            return None
        text = self._edit.toPlainText()
        # an editor has its own line ends: what nobody touched stays as it came
        return Grammar(self._kind, self._begun if text == self._shown else text)

    def _connect(self) -> None:
        self._box.activated.connect(lambda index: self._choose_kind(KINDS[index]))
        self._edit.textChanged.connect(self._take_edit)
        self._edit.cursorPositionChanged.connect(self._show_caret)
        self._edit.used.connect(self._take)
        self._edit.refused.connect(self._tell_too_long)
        self._go.clicked.connect(self._go_to_problem)
        self._use.clicked.connect(self._take)
        self._close.clicked.connect(self.reject)
        self._disconnect = self._editing.changed.connect(self._show)

    def _kind_box(self) -> ChoiceBox:
        box = ChoiceBox()
        box.setObjectName("grammar_kind_box")
        box.setAccessibleName(self.tr("What answers have to fit"))
        box.addItems([self.tr("None"), self.tr("Grammar (GBNF)"), self.tr("JSON schema")])
        return box

    def _examples_button(self) -> QToolButton:
        button = QToolButton()
        button.setObjectName("grammar_examples_button")
        button.setProperty("look", "outlined")
        button.setText(self.tr("Examples"))
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        set_hint(button, self.tr("Begin with one that is ready; Ctrl+Z brings back what you typed"))
        menu = QMenu(button)
        for example in examples():
            action = QAction(example.title, menu)
            action.triggered.connect(lambda _checked=False, example=example: self._begin_with(example))
            menu.addAction(action)
        button.setMenu(menu)
        return button

    def _contents(self) -> QWidget:
        contents = QWidget()
        column = QVBoxLayout(contents)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(label(self.tr("Grammar"), pixels=theme.HEADING_PX, bold=True))
        hint = self.tr(
            "The whole answer has to fit it: at each step the tokens that would not are cut before all other stages. It "
            "holds from the next answer on."
        )
        column.addWidget(_wrapped(hint))
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self._box)
        row.addWidget(self._examples)
        row.addStretch(1)
        row.addWidget(self._caret)
        column.addLayout(row)
        column.addWidget(self._edit)
        below = QHBoxLayout()
        below.setSpacing(theme.SPACE_S)
        below.addWidget(self._state, 1)
        below.addWidget(self._problem, 1)
        below.addWidget(self._go, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(below)
        return contents

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        row.addStretch(1)
        row.addWidget(self._close)
        row.addWidget(self._use)
        return row

    def _choose_kind(self, kind: GrammarKind | None) -> None:
        if kind != self._kind:
            if (grammar := self._written) is not None:
                self._editing.write(grammar)
            self._show_kind(kind)

    def _show_kind(self, kind: GrammarKind | None) -> None:
        self._kind = kind
        self._box.setCurrentIndex(KINDS.index(kind))
        self._edit.setEnabled(kind is not None)
        hints = {"gbnf": 'root ::= "yes" | "no"', "json_schema": '{"type": "object"}'}
        self._edit.setPlaceholderText(hints.get(kind or "", ""))
        self._begun = "" if kind is None else self._editing.text(kind)
        self._edit.setPlainText(self._begun)
        self._shown = self._edit.toPlainText()
        self._check()

    def _begin_with(self, example: Example) -> None:
        self._choose_kind(example.grammar.kind)
        self._edit.replace_all(example.grammar.text)
        self._edit.setFocus()
        self._check()

    def _take_edit(self) -> None:
        self._settled.start()
        self._show()

    def _check(self) -> None:
        self._settled.stop()
        if (grammar := self._written) is not None and grammar.text.strip():
            self._editing.write(grammar)
        self._show()

    def _take(self) -> None:
        if self._use.isEnabled():
            self._editing.use(self._written)
            self.accept()

    def _go_to_problem(self) -> None:
        grammar = self._written
        verdict = None if grammar is None else self._editing.verdict(grammar)
        if verdict is not None and verdict.problem is not None and verdict.problem.place is not None:
            self._edit.go_to(verdict.problem.place)

    def _tell_too_long(self) -> None:
        """Say why nothing was pasted, until something is typed."""
        self._problem.setText(render(too_long(LONGEST_GRAMMAR).sentence))
        self._problem.show()
        self._state.hide()

    def _show_caret(self) -> None:
        place = self._edit.place
        words = self.tr("Line {line}, column {column}").format(line=place.line, column=place.column)
        self._caret.setText(words if self._kind is not None else "")

    def _show(self) -> None:
        """Say what is known of the text as it stands."""
        grammar = self._written
        is_empty = grammar is not None and not grammar.text.strip()
        verdict = None if grammar is None or is_empty else self._editing.verdict(grammar)
        problem = verdict.problem if verdict is not None else None
        if grammar is None:
            state = self.tr("Answers can be anything.")
        elif is_empty:
            state = self.tr("Write one, or begin with an example.")
        elif verdict is None:
            state = self.tr("Checking…")
        elif grammar == self._editing.in_force:
            state = self.tr("This is in force.")
        else:
            state = self.tr("It can be used.")
        said = "" if problem is None else render(problem.sentence)
        self._state.setText(state)
        self._state.setVisible(problem is None)
        self._problem.setText(said)
        self._problem.setVisible(problem is not None)
        self._edit.setAccessibleDescription(said or state)
        place = problem.place if problem is not None else None
        self._edit.mark(place)
        if place is None and self._go.hasFocus():
            self._edit.setFocus()
        self._go.setVisible(place is not None)
        is_other = grammar != self._editing.in_force
        can_use = is_other and (grammar is None or (verdict is not None and problem is None))
        self._use.setEnabled(can_use)
        self._use.setText(self.tr("Use none") if grammar is None else self.tr("Use"))
        set_hint(self._use, self._use_hint(is_other=is_other))
        self._show_caret()

    def _use_hint(self, *, is_other: bool) -> str:
        if not is_other:
            return self.tr("This is in force already")
        return self.tr("Use it (Ctrl+Enter): it holds from the next answer on")


def _wrapped(text: str) -> QLabel:
    made = label(text, look="muted", pixels=theme.SMALL_PX)
    made.setWordWrap(True)
    return made


def _button(words: str, name: str) -> QPushButton:
    button = QPushButton(words)
    button.setObjectName(name)
    button.setAutoDefault(False)
    return button
