"""The tokenizer of a file: its kind, the tokens that mean something to the model, and all of them to search."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.gguf_view import GgufView, TokenizerView, TokenView
from app.gui import theme
from app.gui.file_view.file_table import FileTable
from app.gui.file_view.table_pane import SaveButton, TablePane
from app.gui.file_view.table_rows import Cells, Column, TableRows
from app.gui.widgets.labels import in_parts, label
from app.gui.widgets.words import render
from app.services.model_viewing import ModelViewing
from app.services.units import UNKNOWN, count
from app.services.view_export import tokens_csv
from app.services.viewing_words import one_line, role_words, token_kind_words

if TYPE_CHECKING:
    from pathlib import Path

_SPECIAL_PX = 420


class TokensPane(QWidget):
    """All tokens are read when they are first seen."""

    def __init__(self, viewing: ModelViewing, save: SaveButton) -> None:
        super().__init__()
        self._viewing, self._tokens = viewing, viewing.tokens
        self._path: Path | None = None
        self._tokenizer: TokenizerView | None = None
        self.setObjectName("file_view_tokenizer")
        self.facts = label(name="file_view_tokenizer_facts")
        self.facts.setWordWrap(True)
        self.facts.setMinimumWidth(1)
        number, text = Column(self.tr("Number"), "", is_figure=True), Column(self.tr("Text"))
        special = TableRows((number, text, Column(self.tr("What it is for"))), _special_cells)
        self.special = TablePane(
            self.tr("Special tokens are no text: they tell the model where something begins and ends."),
            FileTable(special, "file_view_special", self.tr("Special tokens"), wide=2),
        )
        rows = TableRows((number, text, Column(self.tr("Kind"))), self._cells)
        self.all = TablePane(
            self.tr("All tokens that it knows. Many kinds of tokenizers write Ġ or ▁ for a space."),
            FileTable(rows, "file_view_tokens", self.tr("All tokens"), wide=1),
            save,
            search=self.tr("Search text or number"),
        )
        save.made = self._make
        self.all.line.textChanged.connect(self._tokens.search)
        self._disconnect = self._tokens.changed.connect(self._show_tokens)
        self.setFocusProxy(self.all)
        self._lay_out()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self._disconnect()

    def show_view(self, path: Path, view: GgufView) -> None:
        """Show another file, whose tokens are read now."""
        told = view.tokenizer
        if self._path == path and told is self._tokenizer:
            return
        self._path, self._tokenizer = path, told
        self.all.line.clear()
        self.all.table.rows.show(())
        has_any = bool(told.kind or told.vocabulary)
        self.facts.setText(self._facts_of(told) if has_any else self.tr("This file holds no tokenizer."))
        self._room.setVisible(has_any)
        self.special.table.rows.show(told.special)
        left_out = self.tr("{count} more are not shown.").format(count=count(told.special_left_out))
        self.special.state.setText(left_out if told.special_left_out else "")
        self.special.state.setVisible(bool(told.special_left_out))
        self._read()

    def _read(self) -> None:
        if self._path is not None and self._tokenizer is not None and self._tokenizer.vocabulary:
            self._tokens.open(self._path)
            self._show_tokens()

    def _show_tokens(self) -> None:
        shown = self._tokens.shown
        if self.all.table.rows.rows is not shown.rows:
            self.all.table.rows.show(shown.rows)
        there = len(shown.table.texts)
        if shown.problem is not None:
            said = render(shown.problem)
        elif self._tokens.is_reading and not there:
            said = self.tr("Reading the tokens …")
        elif len(shown.rows) < there:
            words = self.tr("{shown} of {count} tokens")
            said = words.format(shown=count(len(shown.rows)), count=count(there))
        else:
            said = self.tr("1 token") if there == 1 else self.tr("{count} tokens").format(count=count(there))
        if shown.table.left_out:
            left_out = self.tr("The last {count} are not shown.").format(count=count(shown.table.left_out))
            said = f"{said}. {left_out}"
        self.all.state.setText(said)
        if self.all.save is not None:
            self.all.save.setEnabled(bool(shown.rows))

    def _facts_of(self, told: TokenizerView) -> str:
        kind = one_line(told.kind or UNKNOWN)
        facts = [self.tr("Kind: {kind}").format(kind=f"{kind} ({one_line(told.pre)})" if told.pre else kind)]
        if told.vocabulary is not None:
            facts.append(self.tr("{count} tokens").format(count=count(told.vocabulary)))
        if told.merges is not None:
            facts.append(self.tr("{count} rules by which pieces become larger ones").format(count=count(told.merges)))
        return in_parts(facts)

    def _cells(self, token: int) -> Cells:
        table = self._tokens.shown.table
        if token >= len(table.texts):
            return count(token), UNKNOWN, UNKNOWN
        kind = table.kinds[token] if token < len(table.kinds) else 0
        words = token_kind_words(kind)
        return count(token), one_line(table.texts[token]), render(words) if words is not None else UNKNOWN

    def _make(self) -> Callable[[], bytes] | None:
        shown = self._tokens.shown
        return (lambda: tokens_csv(shown.table, shown.rows)) if shown.rows else None

    def _lay_out(self) -> None:
        self._room = QWidget()
        row = QHBoxLayout(self._room)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_L)
        self.special.setMaximumWidth(theme.scaled(_SPECIAL_PX))
        row.addWidget(self.special, 2)
        row.addWidget(self.all, 3)
        sentence = label(
            self.tr("How text becomes numbers: the pieces of text that the model knows, each with its number."),
            look="muted",
            name="file_view_sentence",
        )
        sentence.setWordWrap(True)
        sentence.setMinimumWidth(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(sentence)
        column.addWidget(self.facts)
        column.addWidget(self._room, 1)
        column.addStretch(0)


def _special_cells(token: TokenView) -> Cells:
    words = role_words(token.role) if token.role else None
    said = render(words) if words is not None else one_line(token.role)
    return count(token.id), one_line(token.text) if token.text is not None else UNKNOWN, said
