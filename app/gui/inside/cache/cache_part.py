"""The part “KV cache” of the page Inside: every cell with whose it is, and below what follows from that.

A picture is made at most ten times a second, and none while nobody looks.
"""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.inside.cache import fact_words
from app.gui.inside.cache.cell_grid import CellGrid
from app.gui.inside.cache.cell_legend import CellLegend, Entry
from app.gui.inside.cache.cell_looks import owner_words
from app.gui.inside.cache.cell_words import (
    copies_words,
    ended_words,
    now_words,
    part_counts,
    place_sentence,
    summary,
    token_sentence,
)
from app.gui.inside.cache.fact_card import FactCard
from app.gui.inside.cache.next_words import unwritten_fact
from app.gui.inside.empty_page import lay_out_empty
from app.gui.inside.page import InsidePart
from app.gui.widgets.kept_label import KeptLabel
from app.gui.widgets.labels import label
from app.gui.widgets.page_tabs import PageTabs
from app.gui.widgets.words import isolated
from app.services.inspecting import Inspecting
from app.services.kv_cells import CellsHeld, in_blocks
from app.services.kv_map import KVMap
from app.services.kv_sum import keeps_all
from app.services.units import byte_share, count

REPAINT_MS = 100


class CachePart(InsidePart):
    """Shows what the service knows of the cells."""

    is_whole = True

    def __init__(self, kv_map: KVMap, inspecting: Inspecting, themes: theme.Themes, icons: Icons) -> None:
        super().__init__()
        self.setObjectName("inside_cache")
        self.setAccessibleName(self.tr("Cells of the KV cache"))
        self._map = kv_map
        self._inspecting = inspecting
        self._in_blocks = False
        self.about = KeptLabel(name="kv_about")
        self.tabs = PageTabs(
            [
                ("cells", "kv_cells_tab", self.tr("Cells"), self.tr("One pool of cells, as this engine keeps them")),
                (
                    "blocks",
                    "kv_blocks_tab",
                    self.tr("Blocks of 16"),
                    self.tr("The same tokens in blocks, as servers with paged attention keep them"),
                ),
            ]
        )
        self.tabs.show_page("cells")
        self.grid = CellGrid(themes)
        self.said = KeptLabel(name="kv_cell")
        self.legend = CellLegend(themes)
        self.saving = FactCard("kv_saving", self.tr("Saved by reuse"), "prefill", "stage_prefill", themes, icons)
        self.next = FactCard("kv_next", self.tr("The next turn"), "tokens", "stage_tokens", themes, icons)
        self.saving.words.keep_room_for(*fact_words.long_savings())  # they change while the cells are looked at
        self.bytes = FactCard("kv_token_bytes", self.tr("Bytes of a token"), "memory", "stage_kv", themes, icons)
        self.window_fact = FactCard("kv_window", self.tr("Sliding window"), "kv", "stage_kv", themes, icons)
        self.blocks = FactCard("kv_blocks", self.tr("In blocks"), "kv", "stage_kv", themes, icons)
        self.reservation = FactCard(
            "kv_reservation", self.tr("One reservation a request"), "memory", "muted", themes, icons
        )
        self.pool = FactCard("kv_pool", self.tr("This engine"), "kv", "stage_kv", themes, icons)
        self._empty_words = label(look="muted", pixels=theme.READING_PX, name="kv_empty")
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty())
        self._pages.addWidget(self._full())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._pages)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(REPAINT_MS)
        self._later.timeout.connect(self.show_now)
        self.tabs.wanted.connect(self._switch)
        self.grid.cell_changed.connect(lambda _cell: self._show_cell())
        self._disconnect = [each.connect(self._show_later) for each in (kv_map.changed, inspecting.opened)]
        self.show_now()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self._later.stop()
        for disconnect in self._disconnect:
            disconnect()

    def leave(self) -> None:
        """Let go of the cell that is looked at."""
        self.grid.look_at(None)

    def showEvent(self, event: QShowEvent) -> None:
        """Show what has become of the cells meanwhile."""
        super().showEvent(event)
        self.show_now()

    def hideEvent(self, event: QHideEvent) -> None:
        """Follow them no longer."""
        super().hideEvent(event)
        self._later.stop()

    def show_now(self) -> None:
        """Show the cells as they are."""
        self._later.stop()
        model = self._map.model
        has_cells = model is not None and model.memory_kind != "recurrent"
        self._pages.setCurrentIndex(1 if has_cells else 0)
        if model is None:
            self._empty_words.setText(
                self.tr("No model is loaded, so there is no KV cache. Load a model in the chat and ask something.")
            )
        elif not has_cells:
            self._empty_words.setText(
                self.tr(
                    "This model keeps no cells: a state of one size stands for all that it has read. Load a model with "
                    "attention to see its KV cache."
                )
            )
        else:
            self._show_cells()

    def _show_later(self) -> None:
        if self.isVisible() and not self._later.isActive():
            self._later.start()

    def _switch(self, name: str) -> None:
        self._in_blocks = name == "blocks"
        self.tabs.show_page(name)
        self.show_now()

    def _show_cells(self) -> None:
        held = self._map.held
        shown = in_blocks(held) if self._in_blocks else held
        added, given_back = self._added(held), range(0) if self._in_blocks else self._map.given_back
        self.grid.show_cells(shown, added, given_back, in_blocks=self._in_blocks)
        shares = self._map.next.shares
        entries = self._entries(shown, shares.new if added and shares is not None else 0, len(given_back))
        self.legend.show_entries(entries, shown.cells)
        self._show_about(held)
        self._show_cell()
        self._show_facts(held)

    def _added(self, held: CellsHeld) -> range:
        """Return the cells that the next turn fills: behind what it keeps, first those that it gives back."""
        shares = self._map.next.shares
        has_lanes = any(each.lane is not None for each in held.stretches)
        if self._in_blocks or has_lanes or shares is None or self._map.next.answering:
            return range(0)
        start = min(shares.cached, held.end)
        return range(start, max(min(start + shares.new, held.cells), start))

    def _show_about(self, held: CellsHeld) -> None:
        one = self.tr("Now: 1 of {cells} cells holds a token · {bytes}")
        several = self.tr("Now: {used} of {cells} cells hold a token · {bytes}")
        now, all_bytes = self._map.bytes
        turn = self._inspecting.turn
        is_begun, other = turn is not None, isolated(self._map.holds) if self._map.holds else ""
        parts = [now_words(held, other, is_begun=is_begun)]
        if ended := ended_words(self._map.ended):
            parts.append(ended)
        elif turn is not None and held.used and not self._map.is_as_at(turn):
            parts.append(self.tr("now, not as it was when the answer above was written"))
        said = [
            (one if used == 1 else several).format(
                used=count(used), cells=count(held.cells_there), bytes=byte_share(taken, all_bytes)
            )
            for used, taken in ((held.in_cells, now), (held.cells_there, all_bytes))
        ]
        self.about.keep_room_for(" · ".join((said[1], *parts)))
        self.about.setText(" · ".join((said[0], *parts)))

    def _show_cell(self) -> None:
        cell = self.grid.cell
        if cell is None:
            self.said.setText(self.tr("Point at a cell, or go through them with the arrow keys."))
            self.grid.setAccessibleName(summary(self.grid.held))
            return
        stretch = self.grid.stretch_at(cell)
        if stretch is None or stretch.owner == "empty":
            words = place_sentence(stretch, cell, fills_next=self.grid.fills_next(cell))
        else:
            words = token_sentence(self._map.token(stretch, cell), is_given_back=self.grid.gives_back(cell))
        self.said.setText(words)
        self.grid.setAccessibleName(words)

    def _show_facts(self, held: CellsHeld) -> None:
        model = self._map.model
        if model is None:
            return
        has_window = model.cache.window_cells is not None
        for card, is_there in (
            *((each, not self._in_blocks) for each in (self.saving, self.next, self.bytes)),
            (self.window_fact, has_window and not self._in_blocks),
            *((each, self._in_blocks) for each in (self.blocks, self.reservation, self.pool)),
        ):
            if card.isVisibleTo(self) != is_there:
                card.setVisible(is_there)
        if self._in_blocks:
            use = self._map.blocks
            self.blocks.show_fact(fact_words.blocks_fact(use))
            self.reservation.show_fact(fact_words.reservation_fact(use))
            self.pool.show_fact(fact_words.pool_fact(held, self._map.bytes[1]))
            return
        self.saving.show_fact(fact_words.saving_fact(self._map.saving, is_others=bool(self._map.holds)))
        self.next.show_fact(
            unwritten_fact(self._map.next, held, is_begun=self._inspecting.turn is not None)
            or fact_words.next_fact(self._map.next, held, is_others=bool(self._map.holds))
        )
        self.bytes.show_fact(fact_words.bytes_fact(model, self._map.sums))
        if has_window:
            self.window_fact.show_fact(
                fact_words.window_fact(
                    model.window, self._map.window_cells, held, is_everywhere=not keeps_all(self._map.sums)
                )
            )

    def _entries(self, shown: CellsHeld, added: int, given_back: int) -> list[Entry]:
        entries = [
            Entry(owner, f"{owner_words(owner)} {count(cells)}") for owner, cells in part_counts(shown).items()
        ]
        if shown.copies:
            entries.append(Entry("copy", copies_words(shown)))
        free = self.tr("free {cells}") if shown.window_cells is None else self.tr("left of the context {cells}")
        entries.append(Entry("free", free.format(cells=count(max(shown.cells - shown.end, 0)))))
        if added:
            words = self.tr("the next turn adds {cells}")
            if given_back:
                words = self.tr("the next turn adds {cells}, first in place of those")
            entries.append(Entry("next", words.format(cells=count(added))))
        if given_back:
            words = self.tr("struck through: the next turn gives back {cells}").format(cells=count(given_back))
            entries.append(Entry("given_back", words))
        if shown.reused:
            entries.append(Entry("reused", self.tr("outlined: reused {cells}").format(cells=count(shown.reused))))
        if shown.all_dropped:
            words = self.tr("small: dropped by layers with a window {cells}")
            if shown.window_cells is not None:
                words = self.tr("small: dropped, in no cell any more {cells}")
            entries.append(Entry("dropped", words.format(cells=count(shown.all_dropped))))
        return entries

    def _empty(self) -> QWidget:
        """Return what is shown where there are no cells."""
        page = QWidget()
        button = QPushButton(self.tr("Go to the chat"))
        button.setObjectName("kv_chat_button")
        button.clicked.connect(lambda _checked=False: self.chat_wanted.emit())
        lay_out_empty(page, self._empty_words, button)
        return page

    def _full(self) -> QWidget:
        page = QWidget()
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_M)
        row.addWidget(self.about, 1)
        row.addWidget(self.tabs)
        facts = QGridLayout()
        facts.setHorizontalSpacing(theme.SPACE_XL)
        facts.setVerticalSpacing(theme.SPACE_M)
        for place, card in enumerate((self.saving, self.next, self.bytes, self.window_fact)):
            facts.addWidget(card, 0, place)
        for place, card in enumerate((self.blocks, self.reservation, self.pool)):
            facts.addWidget(card, 1, place)
        for column, share in enumerate((4, 4, 5)):
            facts.setColumnStretch(column, share)
        column_ = QVBoxLayout(page)
        column_.setContentsMargins(0, 0, 0, 0)
        column_.setSpacing(theme.SPACE_S)
        column_.addLayout(row)
        column_.addWidget(self.grid, 1)
        for widget in (self.said, self.legend):
            column_.addWidget(widget)
        column_.addLayout(facts)
        return page
