"""What goes on in the loop in one sentence, and which token of the answer is on its way through it."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.labels import ElidedLabel
from app.gui.widgets.step_words import waiting_words
from app.gui.widgets.token_words import quoted
from app.gui.widgets.words import render, set_hint
from app.services.loop_values import LoopValues
from app.services.units import count, rate

translate = QCoreApplication.translate
_MOST_CHARACTERS = 16


class PlaceRow(QWidget):
    """Shows values; says which token somebody wants to see."""

    token_wanted = Signal(object)
    """Somebody wants to see another token of the answer, counted from 0; None is the newest."""
    chat_wanted = Signal()
    """Somebody wants to go to the chat."""
    tour_wanted = Signal()
    """Somebody wants to be shown around."""

    def __init__(self, icons: Icons) -> None:
        super().__init__()
        self._place = 0
        self._last: int | None = None
        """The last token; None for the newest of an answer that is written."""
        self.said = ElidedLabel(theme.BASE_PX)
        self.said.setObjectName("loop_state")
        places = place_words(9_999, 9_999), place_words(9_999, None)
        widest = max(places, key=QFontMetrics(theme.font(theme.BASE_PX)).horizontalAdvance)
        self.place = FixedText(pixels=theme.BASE_PX, room_for=widest, name="loop_place")
        self.first = IconButton(icons, "first", self.tr("The first token (Home)"), object_name="loop_first")
        self.before = IconButton(icons, "left", self.tr("The token before"), object_name="loop_previous")
        self.after = IconButton(icons, "right", self.tr("The token after"), object_name="loop_next")
        self.last = IconButton(icons, "last", self.tr("The last token (End)"), object_name="loop_last")
        self.newest = QPushButton(self.tr("Newest token"))
        self.newest.setObjectName("loop_newest")
        set_hint(self.newest, self.tr("Follow the answer again while it is written"))
        self.to_chat = QPushButton(self.tr("Go to the chat"))
        self.to_chat.setObjectName("loop_chat_button")
        self.to_chat.hide()
        self.tour = QPushButton(self.tr("Take the tour"))
        self.tour.setObjectName("loop_tour_button")
        set_hint(self.tour, self.tr("Go through the loop in eight steps"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_XS)
        for button in (self.tour, self.newest):
            policy = button.sizePolicy()
            policy.setRetainSizeWhenHidden(button is self.tour)  # nothing moves when the tour ends
            button.setSizePolicy(policy)
            button.ensurePolished()
        self.setMinimumHeight(self.newest.sizeHint().height())
        row.addWidget(self.said, 1)
        for widget in (self.to_chat, self.newest, *self._steps()):
            row.addWidget(widget)
        row.addSpacing(theme.SPACE_S)
        row.addWidget(self.tour)
        self.tour.clicked.connect(lambda _checked=False: self.tour_wanted.emit())
        self.to_chat.clicked.connect(lambda _checked=False: self.chat_wanted.emit())
        self.before.clicked.connect(lambda: self.token_wanted.emit(self._place - 1))
        self.after.clicked.connect(lambda: self.token_wanted.emit(self._place + 1))
        self.first.clicked.connect(lambda: self.token_wanted.emit(0))
        self.last.clicked.connect(self._want_last)
        self.newest.clicked.connect(lambda _checked=False: self.token_wanted.emit(None))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the first token or to the last."""
        key, is_there = event.key(), self.before.isVisible()
        if is_there and key == Qt.Key.Key_Home:
            self.token_wanted.emit(0)
        elif is_there and key == Qt.Key.Key_End:
            self._want_last()
        else:
            super().keyPressEvent(event)

    def _want_last(self) -> None:
        self.token_wanted.emit(self._last)

    def _enable(self, *, goes_back: bool, goes_on: bool) -> None:
        """Have the buttons that lead somewhere; the keyboard stays in the row where it still leads somewhere."""
        ways = ((self.first, goes_back), (self.before, goes_back), (self.after, goes_on), (self.last, goes_on))
        had_keyboard = next((each for each, leads in ways if each.hasFocus() and not leads), None)
        for each, leads in ways:
            if leads:
                each.setEnabled(True)
        if had_keyboard is not None:  # Qt would take it out of the row
            (self.after if goes_on else self.before).setFocus()
        for each, leads in ways:
            each.setEnabled(leads)

    def _steps(self) -> tuple[QWidget, ...]:
        return self.first, self.before, self.place, self.after, self.last

    def show_values(self, values: LoopValues, token: int | None, *, is_chosen: bool) -> None:
        """Show where the loop is; `is_chosen` says that somebody chose the token."""
        self.said.set_text(_words(values))
        self._place = token if token is not None else max(values.written - 1, 0)
        is_there = values.written > 0 and values.phase != "empty" and not values.is_example
        for widget in self._steps():
            widget.setVisible(is_there)
        is_open = values.phase in ("writing", "held")
        is_new = values.step is not None and not values.step.is_drawn
        self.place.set_text(place_words(self._place + 1, None if is_new else values.written))
        self._last = None if is_open else values.written - 1
        goes_on = self._place < values.written - 1 or (values.is_back and values.phase == "held")
        self._enable(goes_back=self._place > 0, goes_on=goes_on)
        self.to_chat.setVisible(values.phase == "empty" and not values.is_example)
        self.newest.setVisible(is_there and is_open and is_chosen)


def place_words(place: int, written: int | None) -> str:
    """Return which token is shown, of how many; None where it is not drawn yet."""
    if written is None:
        return waiting_words(place)
    return translate("Loop", "Token {place} of {count}").format(place=count(place), count=count(written))


def _back_words(values: LoopValues) -> str:
    """Return what became of an answer that somebody looks back in."""
    if values.is_drawn_last:
        return translate(
            "Loop", "You look at the token that was drawn last. The answer waits for you before the next one."
        )
    if values.phase == "held":
        return translate("Loop", "You look back. The answer waits for you at its newest token.")
    if values.phase == "writing":
        return translate("Loop", "You look back. The answer goes on meanwhile.")
    if values.end is None:
        return translate("Loop", "You look back.")
    return translate("Loop", "You look back. How it ended: {reason}").format(reason=render(values.end.words))


def _held_words(values: LoopValues) -> str:
    """Return which token came last, and what can be done."""
    if values.before is None:
        return translate("Loop", "Held before the next token. “One token” draws it, “Run on” lets the answer go on.")
    before = quoted(values.before.text, values.before.token, _MOST_CHARACTERS)
    return translate("Loop", "{token} was drawn. “One token” draws the next one.").format(token=before)


def _words(values: LoopValues) -> str:
    """Return what goes on."""
    if values.is_example:
        return translate("Loop", "An example with made-up numbers: send a message to see those of your own.")
    if values.is_back:
        return _back_words(values)
    match values.phase:
        case "empty":
            why = values.model_why or values.step_why
            return render(why) if why is not None else ""
        case "queued":
            return render(values.waits_for) if values.waits_for is not None else ""
        case "waiting":
            return translate("Loop", "The prompt is being made: the chat template first, then its tokens.")
        case "reading":
            read = values.prefill
            done, total = (read.done, read.total) if read is not None else (0, 0)
            words = translate("Loop", "The prompt is being read: {done} of {total} tokens.")
            most = values.model.most_at_once if values.model is not None else 0
            if min(most, total - done) > 0:
                words = translate(
                    "Loop", "The prompt is being read: {done} of {total} tokens, at most {most} at once."
                )
            if read is not None and read.begun:
                words = translate(
                    "Loop", "The prompt and what the answer begins with are being read: {done} of {total} tokens."
                )
            return words.format(done=count(done), total=count(total), most=count(most))
        case "writing":
            return translate("Loop", "The loop is running, once for each token: {rate} tok/s on average.").format(
                rate=rate(values.tokens_per_s)
            )
        case "held":
            return _held_words(values)
        case "done" | "interrupted":
            reason = render(values.end.words) if values.end is not None else ""
            words = translate("Loop", "It is over. {reason}")
            if values.is_reproduced:
                words = translate(
                    "Loop", "It is over, and is being reproduced: these are its figures of then. {reason}"
                )
            return words.format(reason=reason)
