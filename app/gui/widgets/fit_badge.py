"""Whether a model fits, as a badge: a picture, a word and, on hover, the reason; never the colour alone."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, QRect, Qt
from PySide6.QtGui import QAction, QColor, QIcon, QPainter
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.widgets.labels import label
from app.gui.widgets.words import hint_of, render, set_hint
from app.services.fit_badges import FitBadges
from app.services.fit_verdict import Fit
from app.services.units import UNKNOWN

translate = QCoreApplication.translate
_ICON_PX = 16
_ICONS = {"fits": "fits", "less_context": "scissors", "partly": "layers", "too_large": "error", "unknown": "hint"}
_STATE_ICONS = {"tight": "fits", "busy": "hint"}
_COLOURS = {"fits": "text", "less_context": "amber", "partly": "amber", "too_large": "danger", "unknown": "muted"}


def fit_word(fit: Fit | None) -> str:
    """Return a verdict in a few words."""
    if fit is None:
        return translate("FitBadge", "looking …")
    return _state_words()[fit.state] if fit.state else _words()[fit.verdict]


def fit_words() -> tuple[str, ...]:
    """Return all words that a badge may say."""
    return (*_words().values(), *_state_words().values(), fit_word(None))


def _state_words() -> dict[str, str]:
    return {
        "tight": translate("FitBadge", "fits, but tight"),
        "busy": translate("FitBadge", "fits once memory is free"),
    }


def _words() -> dict[str, str]:
    return {
        "fits": translate("FitBadge", "fits"),
        "less_context": translate("FitBadge", "fits with less context"),
        "partly": translate("FitBadge", "partly on the GPU"),
        "too_large": translate("FitBadge", "too large"),
        "unknown": UNKNOWN,
    }


def fit_reason(fit: Fit | None) -> str:
    """Return why a verdict is what it is, in one sentence."""
    if fit is None:
        return translate("FitBadge", "Whether it fits is being worked out.")
    return render(fit.reason)


def fit_hint(fit: Fit | None, gpu: str = "") -> str:
    """Return that reason where other GPUs are spoken of as well; `gpu` is the one that it is about, empty is this machine."""
    reason = fit_reason(fit)
    if gpu:
        return translate("FitBadge", "On {gpu}: {reason}").format(gpu=gpu, reason=reason)
    return translate("FitBadge", "On this machine: {reason}").format(reason=reason)


def paint_fit(painter: QPainter, place: QRect, fit: Fit | None, look: FitLook, marked: QColor | None = None) -> None:
    """Paint a badge at the right end of a place; the word has the painter's pen, and is left out where it has no room.

    `marked` is the colour of all that stands on a marked row.
    """
    icon, word = fit_icon(fit, look.icons, look.themes.current), fit_word(fit)
    if fit is not None and marked is not None:
        icon = look.icons.icon(_icon_of(fit), marked)
    figures, turned = painter.fontMetrics(), painter.layoutDirection() is Qt.LayoutDirection.RightToLeft
    room = place.width() - _ICON_PX - theme.SPACE_XS
    wide = figures.horizontalAdvance(word) if figures.horizontalAdvance(word) <= room else 0
    left = place.left() if turned else place.right() + 1 - wide - _ICON_PX - (theme.SPACE_XS if wide else 0)
    icon.paint(painter, QRect(left, place.center().y() - _ICON_PX // 2, _ICON_PX, _ICON_PX))
    if wide:
        at = QRect(left + _ICON_PX + theme.SPACE_XS, place.top(), wide, place.height())
        painter.drawText(at, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, word)


def fit_icon(fit: Fit | None, icons: Icons, look: theme.Theme, *, on_accent: bool = False) -> QIcon:
    """Return the picture of a verdict in a theme's colours; none while it is worked out.

    `on_accent` is for rows that have the ground of the accent while they are selected.
    """
    if fit is None:
        return QIcon()
    selected = look.colour("on_accent") if on_accent else None
    colour = look.colour("amber" if fit.state else _COLOURS[fit.verdict])
    return icons.icon(_icon_of(fit), colour, look.colour("disabled"), selected)


def _icon_of(fit: Fit) -> str:
    return _STATE_ICONS[fit.state] if fit.state else _ICONS[fit.verdict]


class FitLook(NamedTuple):
    """What badges are drawn from."""

    fits: FitBadges
    icons: Icons
    themes: theme.Themes


class _Marked(NamedTuple):
    action: QAction
    path: str
    text: str
    hint: str


class FitMarks:
    """The badges in a menu: what is wanted of each entry, and the entries that say so while the menu is there."""

    def __init__(self, menu: QMenu, look: FitLook) -> None:
        self._menu = menu
        self._look = look
        self._marked: list[_Marked] = []
        self._disconnect = look.fits.changed.connect(self._show)
        menu.aboutToHide.connect(self._rest)
        menu.destroyed.connect(self.end)

    def clear(self) -> None:
        """Mark nothing: the entries are about to go."""
        self._marked.clear()

    def add(self, action: QAction, path: str, hint: str) -> None:
        """Mark the entry of a model's file; its text is the name, `hint` what it says on hover before the reason."""
        self._marked.append(_Marked(action, path, action.text().replace("\t", " "), hint))

    def want(self) -> None:
        """Have worked out what is not known, and show what is."""
        self._look.fits.want(self, [each.path for each in self._marked])
        self._show()

    def end(self) -> None:
        """Follow nothing any more."""
        self._marked.clear()
        self._rest()
        self._disconnect()

    def _rest(self) -> None:
        self._look.fits.rest(self)

    def _show(self) -> None:
        """Say it in the entries that are there: nothing moves up or down under the pointer."""
        for action, path, text, hint in self._marked:
            fit = self._look.fits.get(path)
            action.setText(f"{text}\t{fit_word(fit)}")
            if not action.isChecked():  # a picture would take the place of the tick
                action.setIcon(fit_icon(fit, self._look.icons, self._look.themes.current))
            action.setToolTip(hint_of(f"{hint}\n{fit_reason(fit)}"))
        if self._marked and self._menu.isVisible():
            self._keep_on_screen()

    def _keep_on_screen(self) -> None:
        """Move an open menu that has become wider away from the edge that it would go beyond."""
        room, wide = self._menu.screen().availableGeometry(), self._menu.sizeHint().width()
        left = max(room.left(), min(self._menu.x(), room.right() + 1 - wide))
        if left != self._menu.x():
            self._menu.move(left, self._menu.y())


class FitBadge(QWidget):
    """The badge of one model; stays as high as it is, whatever it says."""

    def __init__(self, icons: Icons, themes: theme.Themes, name: str = "fit_badge") -> None:
        super().__init__()
        self.setObjectName(name)
        self._icons = icons
        self._themes = themes
        self._fit: Fit | None = None
        self._picture = QLabel()
        self._picture.setFixedSize(_ICON_PX, _ICON_PX)
        self._word = label(pixels=theme.SMALL_PX, name=f"{name}_word")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_XS)
        layout.addWidget(self._picture, 0, Qt.AlignmentFlag.AlignVCenter)
        layout.addWidget(self._word, 0, Qt.AlignmentFlag.AlignVCenter)
        themes.changed.connect(self._show)
        self._show()

    def show_fit(self, fit: Fit | None) -> None:
        """Show another verdict; None is one that is worked out."""
        if fit != self._fit:
            self._fit = fit
            self._show()

    def _show(self) -> None:
        icon = fit_icon(self._fit, self._icons, self._themes.current)
        self._picture.setPixmap(icon.pixmap(_ICON_PX, _ICON_PX))
        self._word.setText(fit_word(self._fit))
        self.setAccessibleName(f"{fit_word(self._fit)}. {fit_reason(self._fit)}")
        set_hint(self, fit_reason(self._fit))
