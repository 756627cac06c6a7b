"""The sampler laboratory on the page Inside: a heading that says which token it is, and the cards of the chain.

Looks only while it is on the screen.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.inside.card_words import summary, token_words
from app.gui.inside.cards_row import CardsRow
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.labels import label
from app.gui.widgets.words import render, set_hint
from app.services.lab_values import LabPlace, LabResult, LabSource
from app.services.laboratory import Laboratory

_STILL = ("frozen", "past")
"""Where a step comes from that stays while others come."""


class LaboratoryView(QWidget):
    """Shows what the service looks at, once `row.make_next` has made all of its cards."""

    folded = Signal(bool)
    """Somebody folded it to its heading, or unfolded it."""

    def __init__(
        self, laboratory: Laboratory, themes: theme.Themes, icons: Icons, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("laboratory")
        self.setAccessibleName(self.tr("Sampler laboratory"))
        self._laboratory = laboratory
        self._is_following = True
        self._is_folded = False
        self._body, self._tools = QWidget(), QWidget()
        """What is folded away: the cards with what is said of them, and the buttons of the heading."""
        self.fold_button = IconButton(icons, "down", "", object_name="lab_fold")
        self.fold_button.clicked.connect(lambda _checked=False: self.folded.emit(not self._is_folded))
        self.row = CardsRow(themes, icons)
        self._whose = FixedText(pixels=theme.SMALL_PX, fit="text", name="lab_whose")
        self._way = FixedText(pixels=theme.BASE_PX, bold=True, muted=False, name="lab_way")
        self._doubt = label(look="muted", pixels=theme.SMALL_PX, name="lab_doubt")
        self._doubt.setWordWrap(True)
        self._reason = label(look="muted", pixels=theme.SMALL_PX, name="lab_reason")
        self._reason.setWordWrap(True)
        self._reason.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._reason.hide()  # else it has half of the heading until the first token is looked at
        self._about = FixedText(name="lab_about")
        self._about.set_text(
            self.tr("From the model’s figures (logits) to one token: each stage cuts or changes, then one is drawn."),
            self.tr("Each stage cuts or changes, then one token is drawn."),
        )
        set_hint(
            self._about,
            self.tr(
                "All of it is the sampler, and its stages in their order are the chain. In the pictures a bar is the chance of "
                "one of the likeliest tokens as the stage leaves it; a dark tick across it is the chance before, and a hatched "
                "bar is a token that is cut."
            ),
        )
        self._freeze = QPushButton()
        self._freeze.setObjectName("lab_freeze")
        self._freeze.clicked.connect(self._toggle_freeze)
        self._back = QPushButton(self.tr("Undo the trial"))
        self._back.setObjectName("lab_back")
        self._back.clicked.connect(laboratory.reset)
        self._use = QPushButton(self.tr("Use in this chat"))
        self._use.setObjectName("lab_use")
        self._use.setProperty("look", "primary")
        self._use.clicked.connect(laboratory.use_in_chat)
        self._lay_out()
        self.row.changed.connect(lambda name, value: laboratory.change(**{name: value}))
        self.row.switched.connect(laboratory.switch_stage)
        self.row.moved.connect(laboratory.move_stage)
        self._disconnect = laboratory.changed.connect(self._show)
        self._show_fold()

    def disconnect_services(self) -> None:
        """Listen to the service no longer."""
        self._disconnect()
        self._laboratory.focus.pin(False)
        self._laboratory.watch(False)

    def fold(self, folded: bool) -> None:
        """Show the heading alone, or everything."""
        if folded is self._is_folded:
            return
        self._is_folded = folded
        self._show_fold()

    def _show_fold(self) -> None:
        folded = self._is_folded
        self.fold_button.set_icon("right" if folded else "down")
        self.fold_button.set_name(
            self.tr("Show the sampler laboratory")
            if folded
            else self.tr("Fold the sampler laboratory: more room above")
        )
        for widget in (self._body, self._tools):
            widget.setVisible(not folded)
        if self.isVisible():
            self._laboratory.watch(not folded)
        self._show()

    def showEvent(self, event: QShowEvent) -> None:
        """Look from now on."""
        super().showEvent(event)
        self._laboratory.watch(not self._is_folded)
        self._show()

    def hideEvent(self, event: QHideEvent) -> None:
        """Look no longer: the engine need not tell its rows."""
        super().hideEvent(event)
        self._laboratory.watch(False)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(theme.SPACE_S)
        # Two lines of a reason have room, so that nothing moves when a token is looked at.
        head.addStrut(self._reason.fontMetrics().lineSpacing() * 2)
        head.addWidget(self.fold_button)
        head.addWidget(label(self.tr("Sampler laboratory"), bold=True))
        head.addWidget(self._about, 1)
        head.addWidget(self._reason, 1)
        tools = QHBoxLayout(self._tools)
        tools.setContentsMargins(0, 0, 0, 0)
        tools.setSpacing(theme.SPACE_S)
        for button in (self._freeze, self._back, self._use):
            tools.addWidget(button)
        head.addWidget(self._tools)
        where = QHBoxLayout()
        where.setSpacing(theme.SPACE_M)
        where.addWidget(self._whose)
        where.addWidget(self._way, 1)
        body = QVBoxLayout(self._body)
        body.addLayout(where)
        body.addWidget(self._doubt)
        body.addWidget(self.row)
        column = QVBoxLayout(self)
        for each in (body, column):
            each.setContentsMargins(0, 0, 0, 0)
            each.setSpacing(theme.SPACE_XS)
        column.addLayout(head)
        column.addWidget(self._body)

    def _toggle_freeze(self) -> None:
        if self._is_following:
            self._laboratory.focus.freeze(True)
        else:
            self._laboratory.focus.follow()

    def _show(self) -> None:
        if not self.isVisible() or self._is_folded:
            return
        lab = self._laboratory
        place, result, settings = lab.place, lab.result, lab.values
        reason = "" if lab.reason is None else render(lab.reason)
        self._reason.setText(reason)
        self._reason.setVisible(bool(reason))
        self._about.setVisible(not reason)
        self._way.setVisible(not reason)
        self.row.show_settings(settings)
        self.row.show_result(result, settings)
        self._whose.set_text("" if place is None else self._whose_words(place, result))
        way = (
            summary(result.cards, result.texts, result.chosen)
            if result is not None and result.cards is not None
            else ""
        )
        self._way.set_text(way)
        set_hint(self._way, way)
        doubt = result.doubt if result is not None else None
        self._doubt.setVisible(doubt is not None)
        self._doubt.setText("" if doubt is None else render(doubt))
        self._show_buttons(place)

    def _show_buttons(self, place: LabPlace | None) -> None:
        lab = self._laboratory
        is_elsewhere = lab.focus.can_follow or (place is not None and place.source in _STILL)
        self._is_following = not is_elsewhere
        self._freeze.setVisible(is_elsewhere or (place is not None and place.source == "live"))
        self._freeze.setText(self.tr("Follow") if is_elsewhere else self.tr("Freeze"))
        hint = (
            self.tr("Go on with the newest token")
            if is_elsewhere
            else self.tr("Stay at this token while others come")
        )
        set_hint(self._freeze, hint)
        self._back.setEnabled(lab.is_trying)
        is_kept = place is not None and place.source == "kept"
        set_hint(
            self._back,
            self.tr("Go back to the settings that this token was written with")
            if is_kept
            else self.tr("Go back to the settings that the chat has"),
        )
        can_use = not lab.is_in_use
        if self._use.hasFocus() and not can_use:
            self.setFocus()  # else it would go on to the first card, and the page would scroll there
        self._use.setEnabled(can_use)
        set_hint(
            self._use,
            self.tr("Let the chat write with these settings and this order, from its next token on")
            if can_use
            else self.tr("The chat has these settings"),
        )

    def _whose_words(self, place: LabPlace, result: LabResult | None) -> str:
        """Return which token it is, and where it comes from."""
        number = f"{place.position + 1:,}"
        taken = result.taken if result is not None else None
        token = token_words(taken, result.texts) if result is not None and taken is not None else ""
        if place.source == "ended" and result is not None and result.cards is not None and taken is None:
            return self.tr("ended before token {number} was drawn").format(number=number)
        told = self._place_words(place.source, number, token)
        if not self._laboratory.is_trying:
            return told
        if place.source in ("live", "held"):
            return self.tr("{place} · your trial: the answer uses other settings").format(place=told)
        return self.tr("{place} · your trial").format(place=told)

    def _place_words(self, source: LabSource, number: str, token: str) -> str:
        words = {
            "live": self.tr("live · token {number} {token}"),
            "ended": self.tr("ended · token {number} {token}"),
            "past": self.tr("frozen, of an earlier answer · token {number} {token}"),
            "frozen": self.tr("frozen · token {number} {token}"),
            "held": self.tr("waiting · token {number}, not drawn yet"),
            "kept": self.tr("from the record · token {number} {token}"),
        }
        return words[source].format(number=number, token=token).strip()
