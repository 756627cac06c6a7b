"""The button that names the model, the menu of models behind it, and the progress of a load."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QMenu,
    QProgressBar,
    QSizePolicy,
    QStyleOptionToolButton,
    QToolButton,
    QWidget,
)

from app.core.found_file import ORIGIN_NAMES
from app.core.model import FoundModel, ModelInfo
from app.gui import theme
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.fit_badge import FitLook, FitMarks
from app.gui.widgets.labels import ElidedLabel
from app.gui.widgets.words import hint_of, render, set_hint
from app.services.engine_session import EngineSession
from app.services.models import Models, is_very_small
from app.services.units import UNKNOWN, byte_size, count
from app.services.wishes import Wish

PROGRESS_WIDTH_PX = 160
_LEAST_PROGRESS_PX, _LEAST_NAME_PX = 40, 104


class ModelBar(QWidget):
    """What is loaded, what else could be, and how far a load is."""

    open_wanted = Signal()
    """Somebody wants to choose a file."""
    inspect_wanted = Signal()
    """Somebody wants to choose a file to see what it is made of."""
    options_wanted = Signal(Path)
    """Somebody wants to choose how a model is loaded: its file."""

    def __init__(
        self, session: EngineSession, models: Models, look: FitLook, icons: Icons, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._models = models
        self._listed: tuple[FoundModel, ...] = ()
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self._menu.aboutToShow.connect(self._open_menu)
        self._marks = FitMarks(self._menu, look)
        self._button = _NameButton(icons, "down", "", object_name="model_button", look="outlined")
        self._button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._button.setMenu(self._menu)
        self._progress = _Progress()
        self._progress.setObjectName("load_progress")
        self._progress.setAccessibleName(self.tr("Loading the model"))
        self._progress.setTextVisible(False)
        self._status = _Status(theme.SMALL_PX)
        self._cancel = IconButton(icons, "close", self.tr("Stop loading"), object_name="cancel_load_button")
        self._cancel.clicked.connect(session.cancel_load)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_S)
        for widget in (self._button, self._progress, self._status, self._cancel):
            layout.addWidget(widget)
        layout.addStretch(1)
        self._disconnect = [
            session.changed.connect(self._show),
            models.changed.connect(self._take_models),
            self._marks.end,
        ]
        self._show()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        for disconnect in self._disconnect:
            disconnect()

    def _show(self) -> None:
        phase, model = self._session.phase, self._session.model
        name, own_file = self._name
        text = name or self.tr("No model")
        if phase == "no_model" and name is not None:
            text = self.tr("No model loaded")
            said = self.tr("No model is loaded. Your next question loads {name} again.").format(name=name)
        elif model is not None and phase in ("ready", "busy"):
            text = f"{text} · {model.quantisation}"
            said = self.tr("Model: {name}, {size} on disk, context {context}").format(
                name=text, size=byte_size(model.weight_bytes), context=count(model.context)
            )
        else:
            said = self.tr("Model: {name}").format(name=text)
        self._button.set_name(self.tr("{model}, file {file}").format(model=said, file=own_file) if own_file else said)
        self._button.setText(text.replace("&", "&&"))
        loading = phase in ("starting", "loading")
        self._progress.setVisible(loading)
        self._cancel.setVisible(loading)
        self._progress.setValue(round(self._session.percent) if phase == "loading" else 0)
        words = {
            "starting": self.tr("Checking the file"),
            "loading": self.tr("Loading, {percent:.0f} %").format(percent=self._session.percent),
            "gone": self.tr("The engine stopped"),
        }
        self._status.set_text(words.get(phase, ""))
        self._status.setVisible(phase in words)

    @property
    def _name(self) -> tuple[str | None, str]:
        """What people call the model that is wanted or loaded, and its file's name where that is another."""
        name, wish, loaded = self._session.name, self._session.wish, self._session.model
        is_loaded = loaded is not None and self._session.phase != "starting"
        path = loaded.path if loaded is not None and is_loaded else str(wish.path) if wish is not None else ""
        entry = self._models.entry_of(path, self._session.ref if is_loaded else None)
        if name is None or entry is None or not entry.name_before:
            return name, ""
        return entry.name, Path(path).name

    def _take_models(self) -> None:
        self._show()
        self._refill_menu()

    def _open_menu(self) -> None:
        self._fill_menu()
        self._models.refresh()

    def _refill_menu(self) -> None:
        """A menu that is open shows what a search just found; one whose list stayed keeps its marked entry."""
        found = self._models.found
        if not self._menu.isVisible() or self._listed == found:
            return
        if self._models.is_reading and [each.path for each in self._listed] == [each.path for each in found]:
            return  # all that is read since then is shown at once
        # Of a menu in sight each new entry lays out all others: hundreds of them would take many seconds.
        self._menu.setAttribute(Qt.WidgetAttribute.WA_WState_Visible, False)
        try:
            self._fill_menu()
        finally:
            self._menu.setAttribute(Qt.WidgetAttribute.WA_WState_Visible)
        self._menu.resize(self._menu.sizeHint())
        self._menu.update()

    def _fill_menu(self) -> None:
        self._listed = self._models.found
        self._marks.clear()
        self._menu.clear()
        loaded = self._session.model
        entry = self._models.entry_of(loaded.path, self._session.ref) if loaded is not None else None
        listed = [(found, found is entry) for found in self._models.found]
        if loaded is not None and entry is None:
            listed.insert(0, (_as_found(loaded, self._session.name), True))
        for found, is_loaded in listed:
            self._add(found, is_loaded)
        if listed:
            self._menu.addSeparator()
            self._add_options([found for found, _ in listed if found.is_usable], loaded)
        self._menu.addAction(self.tr("Open a model file…"), self.open_wanted.emit)
        self._menu.addAction(self.tr("Inspect a model file…"), self.inspect_wanted.emit)
        unload = self._menu.addAction(self.tr("Unload, to free its memory"), self._session.unload)
        unload.setEnabled(loaded is not None)
        self._marks.want()

    def _add(self, found: FoundModel, is_loaded: bool) -> None:
        parts = [found.name, found.quantisation or UNKNOWN, byte_size(found.size)]
        if is_very_small(found.parameters):
            parts.append(self.tr("a very small model, to try the program"))
        if found.parts < found.parts_wanted:
            there = self.tr("{there} of {count} parts present")
            parts.append(there.format(there=found.parts, count=found.parts_wanted))
        if found.origin != "own":
            parts.append(ORIGIN_NAMES[found.origin])
        action = self._menu.addAction(" · ".join(parts).replace("&", "&&"))
        if found.is_usable:
            self._marks.add(action, found.path, found.path)
        action.setCheckable(is_loaded)
        action.setChecked(is_loaded)
        reason = render(found.problem) if found.problem is not None else ""
        if not found.is_read:
            reason = self.tr("The file is being looked at.")
        action.setToolTip(hint_of(f"{found.path}\n{reason}" if reason else found.path))
        action.setEnabled(found.is_usable)
        if found.is_usable and not is_loaded:  # the one with the tick is there already
            action.triggered.connect(lambda: self._session.use(Wish(Path(found.path))))

    def _add_options(self, usable: list[FoundModel], loaded: ModelInfo | None) -> None:
        """Offer the options of the model that is loaded first, and those of the others in a menu of their own."""
        if loaded is not None:
            action = self._menu.addAction(self.tr("Load options…"))
            action.setObjectName("load_options_action")
            action.triggered.connect(lambda: self.options_wanted.emit(Path(loaded.path)))
        if len(usable) > (loaded is not None):
            menu = self._menu.addMenu(self.tr("Load with options"))
            menu.setObjectName("load_with_options_menu")
            for found in usable:
                entry = menu.addAction(found.name.replace("&", "&&"))
                self._marks.add(entry, found.path, found.path)
                entry.triggered.connect(lambda _checked=False, path=found.path: self.options_wanted.emit(Path(path)))


class _Progress(QProgressBar):
    """Shorter where there is little room."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """Ask for the usual width."""
        return QSize(PROGRESS_WIDTH_PX, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Need enough to see how far it is."""
        return QSize(_LEAST_PROGRESS_PX, super().sizeHint().height())


class _Status(ElidedLabel):
    """Asks for what it says, and does without."""

    def __init__(self, pixels: int) -> None:
        super().__init__(pixels)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def set_text(self, text: str) -> None:
        """Show another text."""
        super().set_text(text)
        set_hint(self, text)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Ask for the whole text."""
        return QSize(self.fontMetrics().horizontalAdvance(self.text()) + 2, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Need nothing: how far a load is, the bar beside it shows."""
        return QSize(0, super().sizeHint().height())


class _NameButton(IconButton):
    """A button whose arrow stands after its text, which ends in … where it does not fit; its menu opens below."""

    _asks = False
    """Whether it is asked for the size of its whole text."""

    def sizeHint(self) -> QSize:
        """Ask for the whole name."""
        self._asks = True
        hint = super().sizeHint()
        self._asks = False
        return hint

    def minimumSizeHint(self) -> QSize:
        """Need some letters of it: all of it is said on hover."""
        hint = self.sizeHint()
        return QSize(min(theme.scaled(_LEAST_NAME_PX), hint.width()), hint.height())

    def initStyleOption(self, option: QStyleOptionToolButton) -> None:
        """Paint from the other side: turning the button itself around would turn its menu around too."""
        super().initStyleOption(option)
        is_turned = option.direction == Qt.LayoutDirection.RightToLeft
        option.direction = Qt.LayoutDirection.LeftToRight if is_turned else Qt.LayoutDirection.RightToLeft
        lacks = 0 if self._asks else self.sizeHint().width() - self.width()
        if lacks > 0:
            metrics, name = self.fontMetrics(), self.text().replace("&&", "&")
            room = metrics.horizontalAdvance(name) - lacks
            option.text = metrics.elidedText(name, Qt.TextElideMode.ElideRight, room).replace("&", "&&")


def _as_found(model: ModelInfo, name: str | None) -> FoundModel:
    """The entry of a model that was opened from outside the folders."""
    return FoundModel(
        model.path,
        model.weight_bytes,
        name or model.name,
        quantisation=model.quantisation,
        parameters=model.parameters,
    )
