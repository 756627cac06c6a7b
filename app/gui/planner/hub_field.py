"""Where people name a model of a hub: the line, how reading it goes, and the models of its repository to choose from."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.widgets.boxes import ChoiceBox
from app.gui.widgets.clear_line import ClearLine
from app.gui.widgets.fit_badge import FitLook
from app.gui.widgets.fit_choices import FitChoices
from app.gui.widgets.labels import in_parts, label
from app.gui.widgets.slider_row import caption_for
from app.gui.widgets.words import render, set_hint
from app.services.fit_badges import Estimate
from app.services.hub_models import HubModels, HubRead, hub_path, is_hub_path, named
from app.services.planning_values import PlanChoice
from app.services.units import byte_size


class HubField(QWidget):
    """Shows what is known of one model of the hub, and has it read when somebody says so."""

    model_wanted = Signal(str)
    """Somebody named a model, or chose another one of its repository: its path."""
    told = Signal()
    """It may say something else of its model now."""

    def __init__(self, hub: HubModels, look: FitLook, name: str, caption_px: int = 0) -> None:
        """`look` is what badges are drawn from. `name` begins the names of what is in it; captions are as wide as those above, or there are none."""
        super().__init__()
        self._hub = hub
        self._path = ""
        self._wrong = ""
        """What was typed and names no model."""
        self._offered: tuple[object, ...] = ()
        self.line = ClearLine()
        self.line.setObjectName(f"{name}_line")
        self.line.setProperty("look", "field")
        with_caption, alone = self.tr("org/repo or org/repo:file"), self.tr("From a hub: org/repo:file")
        self.line.setPlaceholderText(with_caption if caption_px else alone)
        self.line.setAccessibleName(self.tr("Model of a hub"))
        set_hint(
            self.line,
            self.tr(
                "A model that is not on this machine: type its name, or paste the address of its page. Its header alone is"
                " read, a few megabytes at most."
            ),
        )
        self.files = ChoiceBox()
        self.files.setObjectName(f"{name}_file_box")
        self.files.setAccessibleName(self.tr("Quantisation"))
        self.files.setMinimumWidth(theme.scaled(80))
        self.files.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._fits = FitChoices(self.files, look, self._fit_of)
        self.state = label(look="muted", pixels=theme.SMALL_PX, name=f"{name}_state")
        self.problem = label(look="problem", pixels=theme.SMALL_PX, name=f"{name}_problem")
        self.button = QPushButton()
        self.button.setObjectName(f"{name}_button")
        self.button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._lay_out(caption_px)
        self.line.returnPressed.connect(self._read_typed)
        self.line.textEdited.connect(self._type)
        self.button.clicked.connect(lambda _checked=False: self._act())
        self.files.activated.connect(self._choose)
        self._disconnect = hub.changed.connect(self._show)
        self._show()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self._fits.disconnect_services()
        self._disconnect()

    @property
    def path(self) -> str:
        """The model that is shown; empty where none is."""
        return self._path

    @property
    def tells_state(self) -> bool:
        """Whether it says what became of its model, and not what is wrong with what was typed."""
        return bool(self._path) and not self._wrong

    def show_path(self, path: str) -> None:
        """Show this model of the hub, or none where the path is another one."""
        path = path if is_hub_path(path) else ""
        if path != self._path:
            self._path, self._wrong = path, ""
            self.line.setText(named(path))
            self._show()

    @property
    def _typed(self) -> str:
        """What is typed and was not read yet; empty where nothing is."""
        typed = self.line.text().strip()
        return "" if typed == named(self._path) else typed

    def _type(self) -> None:
        self._wrong = ""
        self._show()

    def _read_typed(self) -> None:
        typed = self.line.text().strip()
        path = hub_path(typed)
        self._wrong = typed if typed and path is None else ""
        if path is not None:
            self._want(path)
        self._show()

    def _choose(self, row: int) -> None:
        path = self.files.itemData(row)
        if path and path != self._path:
            self._want(path)

    def _want(self, path: str) -> None:
        self._hub.read(path)
        self.show_path(path)
        self.line.setText(named(path))
        self.model_wanted.emit(path)

    def _act(self) -> None:
        """Do what the button says."""
        if self._typed:
            self._read_typed()
        elif self._is_under_way:
            self._hub.cancel(self._path)
        elif self._path:
            self._hub.read(self._path)

    @property
    def _is_under_way(self) -> bool:
        return bool(self._path) and self._hub.get(self._path).state in ("waiting", "reading")

    def _show(self) -> None:
        read = self._hub.get(self._path) if self._path else None
        problem, state = self._problem_words(read), self._state_words(read)
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.state.setText(state)
        self.state.setVisible(bool(state) and not problem)
        words = self._button_words(read)
        self.button.setVisible(bool(words))
        self.button.setText(words or self.tr("Read"))  # also unseen it has a name
        self._show_files(read)
        self.told.emit()

    def _show_files(self, read: HubRead | None) -> None:
        choices = read.choices if read is not None else ()
        self._files_row.setVisible(len(choices) > 1)
        offered = (choices, read.path if read is not None else "", read.chosen if read is not None else "")
        if offered == self._offered:
            return
        self._offered = offered
        with QSignalBlocker(self.files):
            self.files.clear()
            for choice in choices:
                self.files.addItem(in_parts([choice.words, byte_size(choice.size)]), choice.path)
            found = [row for each in offered[1:] if each and (row := self.files.findData(each)) >= 0]
            self.files.setCurrentIndex(found[0] if found else -1)

    def use_plan(self, gpu: str, name: str, planned: PlanChoice) -> None:
        """Have its badges judge for this GPU, by its id, and configuration; an empty one is this machine."""
        self._fits.use_plan(gpu, name, planned)

    def _fit_of(self, path: object) -> str | Estimate | None:
        """Return what a badge is of: the model that was read, or by its numbers another file of it."""
        read = self._hub.get(self._path) if self._path else None
        choice = next((each for each in read.choices if each.path == path), None) if read is not None else None
        if read is None or choice is None or read.state != "read":
            return None
        return read.path if choice.path == read.chosen else Estimate(read.path, choice.words, choice.size)

    def _problem_words(self, read: HubRead | None) -> str:
        if self._wrong:
            words = self.tr(
                "“{typed}” names no model of a hub: type org/repo or org/repo:file, or paste the address of its page."
            )
            return words.format(typed=self._wrong[:80])
        if read is not None and read.state == "failed" and read.problem is not None:
            return render(read.problem)
        return ""

    def _state_words(self, read: HubRead | None) -> str:
        if read is None:
            return ""
        match read.state:
            case "waiting":
                return self.tr("Waits until another model is read …")
            case "reading" if read.received:
                return self.tr("Reading: {size} have come …").format(size=byte_size(read.received))
            case "reading":
                return self.tr("Reading: the hub is asked …")
            case "read":
                words = self.tr("Read: {size}. The model itself is not on this machine.")
                return words.format(size=byte_size(read.received))
            case _:
                return render(read.problem) if read.problem is not None else ""

    def _button_words(self, read: HubRead | None) -> str:
        if self._wrong:
            return ""
        if self._typed or (read is not None and read.state == "unread"):
            return self.tr("Read")
        if read is None:
            return ""
        if self._is_under_way:
            return self.tr("Cancel")
        return self.tr("Try again") if read.state in ("failed", "cancelled") else ""

    def _lay_out(self, caption_px: int) -> None:
        self._files_row = _row(self.tr("Quantisation"), self.files, caption_px)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(_row(self.tr("From a hub"), self.line, caption_px))
        column.addWidget(self._files_row)
        for text in (self.state, self.problem):
            text.setWordWrap(True)
            text.setMinimumWidth(1)
            column.addWidget(text)
        column.addWidget(self.button)


def _row(title: str, box: QWidget, caption_px: int) -> QWidget:
    holder = QWidget()
    row = QHBoxLayout(holder)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(theme.SPACE_S)
    if caption_px:
        row.addWidget(caption_for(title, box, caption_px))
    row.addWidget(box, 1)
    return holder
