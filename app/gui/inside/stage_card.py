"""One card of the sampler laboratory: a stage with its switch, how many it leaves, its picture and its sliders.

Says what somebody wants; knows no service and no other card.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QVBoxLayout

from app.core.sampler_cards import StageCard
from app.core.sampling import STAGE_FIELDS, SamplingSettings
from app.gui import theme
from app.gui.icons import Icons
from app.gui.inside.card_parts import HEAD_PX, explanation_label
from app.gui.inside.card_words import explanation, fact, headline, spoken, stage_title, unseen
from app.gui.inside.stage_keys import steps_of
from app.gui.inside.stage_picture import StagePicture
from app.gui.sampling.controls import Control, dry, main_controls, penalties, typical_control, xtc
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.slider_row import SliderRow
from app.gui.widgets.tick_box import TickBox
from app.gui.widgets.words import set_hint

PREFIX = "lab_"
WIDTH_PX = 268
_CAPTION_PX = 84
_WITHOUT_ROW = frozenset(("penalty_last_n", "dry_penalty_last_n", "dry_sequence_breakers"))
"""Settings that the section of the chat alone has."""
_LEVELS = {"xtc": "xtc_threshold"}


def controls_of(stage: str) -> list[Control]:
    """Return the sliders of a stage."""
    groups = (main_controls(), [typical_control()], penalties().controls, dry().controls, xtc().controls)
    known = {control.name: control for group in groups for control in group}
    return [known[field] for field in STAGE_FIELDS[stage] if field not in _WITHOUT_ROW]


class StageCardView(QFrame):
    """Shows one stage; can be moved by its edge, by its buttons, and with Ctrl+Left and Ctrl+Right."""

    changed = Signal(str, float)
    """Somebody moved a slider: the setting's name and its value."""
    switched = Signal(str, bool)
    """Somebody switched the stage on or off: its name, and which."""
    stepped = Signal(str, int)
    """Somebody wants it further on or back: its name, and by how many places."""
    dragged = Signal(str, QPoint)
    """Somebody drags it: its name, and where the pointer is on the screen."""
    dropped = Signal(str, QPoint)
    """Somebody let it go there."""

    def __init__(self, name: str, themes: theme.Themes, icons: Icons) -> None:
        super().__init__()
        self.name = name
        self._themes = themes
        self._pressed: QPoint | None = None
        self._is_dragged = False
        self._acts = True
        """Whether the stage changes anything: its figure has the colour of stages then."""
        self.setObjectName(f"{PREFIX}{name}_card")
        self.setProperty("look", "card")
        self.setFixedWidth(theme.scaled(WIDTH_PX))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.switch = TickBox(stage_title(name))
        self.switch.setObjectName(f"{PREFIX}{name}_switch")
        self.switch.setFont(theme.font(theme.BASE_PX, bold=True))
        said = self.tr("Switch this stage on or off; its values stay.")
        set_hint(self.switch, " ".join((explanation(name), said)))
        self.switch.clicked.connect(lambda on: self.switched.emit(name, on))
        self._back = self._mover(icons, "left", -1)
        self._on = self._mover(icons, "right", 1)
        self.figure = FixedText(
            pixels=theme.FIGURE_PX, bold=True, muted=False, fit="text", name=f"{PREFIX}{name}_left"
        )
        self.picture = StagePicture(themes)
        self.picture.setObjectName(f"{PREFIX}{name}_picture")
        self._fact = FixedText(name=f"{PREFIX}{name}_fact")
        self._rows: dict[str, SliderRow] = {}
        self._lay_out()
        themes.changed.connect(self._show_theme)
        self._show_theme()
        self._name(stage_title(name))

    def show_settings(self, settings: SamplingSettings, place: int, last: int) -> None:
        """Show settings, and at which place of the chain the stage stands."""
        for name, row in self._rows.items():
            row.set_value(getattr(settings, name))
        is_on = self.name not in settings.off
        self.switch.setChecked(is_on)
        self.switch.setAccessibleName(
            self.tr("{stage}, stage {place} of {count}").format(
                stage=stage_title(self.name), place=place + 1, count=last + 1
            )
        )

    def offer_moves(self, *, on: bool, back: bool) -> None:
        """Say whether the stage can run later, and earlier."""
        self._back.setEnabled(back)
        self._on.setEnabled(on)

    def show_card(
        self, card: StageCard | None, texts: dict[int, str], settings: SamplingSettings, full: float = 1.0
    ) -> None:
        """Show what the stage does to a step; None where nobody knows yet. `full` is the chance of the highest bar."""
        if card is None:
            self.picture.show_card(None, texts)
            self.figure.set_text("")
            self._fact.set_text("")
            set_hint(self._fact, "")
            self._name(self.tr("{stage}: no token to show yet").format(stage=stage_title(self.name)))
            return
        level = card.threshold if card.name == "min_p" else None
        if card.name in _LEVELS and card.acts_here:
            level = getattr(settings, _LEVELS[card.name])
        self.picture.show_card(card, texts, level, full)
        self.figure.set_text(headline(card))
        self._name(spoken(card, settings))
        words, rest = fact(card, settings), unseen(card.unseen)
        self._fact.set_text(words)
        set_hint(self._fact, f"{words}. {rest}." if rest else words)
        self._acts = card.state == "acts"
        self._show_theme()

    def _name(self, said: str) -> None:
        """Have the card and its parts say the same to people who cannot see it."""
        for widget in (self, self.figure, self.picture):
            widget.setAccessibleName(said)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the stage with Ctrl+Left and Ctrl+Right; other keys are for others."""
        steps = steps_of(event, is_turned=self.layoutDirection() is Qt.LayoutDirection.RightToLeft)
        if steps:
            self.stepped.emit(self.name, steps)
            event.accept()
        elif event.key() == Qt.Key.Key_Space:
            self.switched.emit(self.name, not self.switch.isChecked())
            event.accept()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold of the card."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed = event.position().toPoint()
            event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell where it is dragged."""
        if self._pressed is None:
            return
        moved = (event.position().toPoint() - self._pressed).manhattanLength()
        if self._is_dragged or moved >= QApplication.startDragDistance():
            self._is_dragged = True
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            self.dragged.emit(self.name, event.globalPosition().toPoint())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let it go."""
        was_dragged, self._is_dragged, self._pressed = self._is_dragged, False, None
        self.unsetCursor()
        if was_dragged:
            self.dropped.emit(self.name, event.globalPosition().toPoint())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the card, and a ring around it while it has the keyboard."""
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            line = self._themes.current.line_px + 1
            painter.setPen(QPen(self._themes.current.colour("accent"), line))
            inside = QRectF(self.rect()).adjusted(line / 2, line / 2, -line / 2, -line / 2)
            painter.drawRoundedRect(inside, theme.RADIUS_CARD, theme.RADIUS_CARD)
            painter.end()

    def _mover(self, icons: Icons, icon: str, steps: int) -> IconButton:
        stage = stage_title(self.name)
        if steps < 0:
            said = self.tr("Move {stage} one place forward, to run earlier (Ctrl+Left)").format(stage=stage)
        else:
            said = self.tr("Move {stage} one place back, to run later (Ctrl+Right)").format(stage=stage)
        made = IconButton(icons, icon, said, object_name=f"{PREFIX}{self.name}_{'earlier' if steps < 0 else 'later'}")
        made.clicked.connect(lambda: self.stepped.emit(self.name, steps))
        return made

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(0)
        head.addStrut(theme.scaled(HEAD_PX))
        head.addWidget(self.switch)
        head.addStretch(1)
        head.addWidget(self._back)
        head.addWidget(self._on)
        self.what = explanation_label(self.name)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.SPACE_M, theme.SPACE_S, theme.SPACE_M, theme.SPACE_S)
        column.setSpacing(theme.SPACE_XS)
        column.addLayout(head)
        column.addWidget(self.what)
        column.addWidget(self.figure, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.picture)
        column.addWidget(self._fact)
        column.addStretch(1)
        for control in controls_of(self.name):
            row = self._row_of(control)
            self._rows[control.name] = row
            column.addWidget(row)

    def _row_of(self, control: Control) -> SliderRow:
        spoken_as = control.spoken or control.title
        row = SliderRow(
            f"{PREFIX}{control.name}",
            control.title,
            control.hint,
            control.scale,
            spoken=spoken_as,
            caption_px=_CAPTION_PX,
        )
        row.moved.connect(lambda value: self.changed.emit(control.name, value))
        return row

    def _show_theme(self) -> None:
        self.figure.set_colour(self._themes.current.colour("stage_sampling" if self._acts else "muted"))
