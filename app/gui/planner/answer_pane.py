"""The answer of a plan: one sentence, what each device holds, what would help, and how fast it would be."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.planner.device_picture import DevicePicture
from app.gui.planner.download_words import DownloadWords
from app.gui.planner.plan_words import answer_text, first_hint, first_words, no_first_words, read_words, room_words
from app.gui.planner.speed_picture import SpeedPicture
from app.gui.widgets.labels import label
from app.gui.widgets.lever_words import lever_text
from app.gui.widgets.words import render, set_hint
from app.services.planning_values import HERE, LeverView, PlanChoice, PlanView, SpeedRows


class AnswerPane(QWidget):
    """Shows a plan; says which change somebody wants."""

    lever_wanted = Signal(int)
    """Somebody wants a change that needs less memory: its number."""
    load_wanted = Signal()
    """Somebody wants the model loaded so."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self._themes = themes
        self.answer = label(pixels=theme.TITLE_PX, bold=True, name="plan_answer")
        self.source = label(look="muted", pixels=theme.SMALL_PX, name="plan_source")
        self.limits = label(look="muted", pixels=theme.SMALL_PX, name="plan_limits")
        self.first = label(pixels=theme.SMALL_PX, name="plan_first_token")
        self.read = label(pixels=theme.SMALL_PX, name="plan_read")
        self.why = label(look="muted", pixels=theme.SMALL_PX, name="plan_speed_words")
        self.caveat = label(pixels=theme.SMALL_PX, name="plan_caveat")
        self.speed = SpeedPicture(themes)
        self._levers_head = label(pixels=theme.BASE_PX, bold=True, name="plan_levers_head")
        self._speed_head = label(self.tr("Speed"), pixels=theme.BASE_PX, bold=True)
        self.load = QPushButton()
        self.load.setObjectName("plan_load_button")
        self.load.clicked.connect(lambda _checked=False: self.load_wanted.emit())
        self.download = DownloadWords()
        self._pictures: list[DevicePicture] = []
        self.levers: list[QPushButton] = []
        self._device_column, self._lever_column = QVBoxLayout(), QVBoxLayout()
        self._lay_out()
        themes.changed.connect(self._repaint)

    def show_plan(self, view: PlanView, choice: PlanChoice, *, is_asking: bool, can_load: bool) -> None:
        """Show another answer."""
        text = answer_text(view)
        if text != self.answer.text():
            self.answer.setText(text)
        self.source.setText(self._source(view, is_asking, choice.where == HERE))
        self._show_devices(view)
        self._show_levers(view, choice)
        self._show_speed(view.speed, choice)
        self.limits.setText(self._limits(view))
        self.load.setVisible(can_load)
        self._show_load(view)

    def close_themes(self) -> None:
        """Follow the theme no longer."""
        self._themes.changed.disconnect(self._repaint)

    def _source(self, view: PlanView, is_asking: bool, is_here: bool) -> str:
        if view.is_asked_of_all:
            return self.tr("Memory as llama.cpp itself tells it for these options.")
        if view.is_asked:
            return self.tr("Weights as llama.cpp itself tells them, the rest by formula for so many conversations.")
        if not is_here:
            return self.tr("Memory by formula, on an empty GPU of this kind.")
        if view.asked_problem is not None:
            words = self.tr("Memory by formula; llama.cpp itself could not tell: {reason}")
            return words.format(reason=render(view.asked_problem))
        if is_asking:
            return self.tr("Memory by formula; llama.cpp is asked …")
        return self.tr("Memory by formula.")

    def _limits(self, view: PlanView) -> str:
        remarks = (view.remark, view.prompt_remark)
        return " ".join((room_words(view), *(render(said) for said in remarks if said is not None))).strip()

    def _show_load(self, view: PlanView) -> None:
        self.load.setEnabled(not view.is_loaded)
        if view.is_loaded:
            self.load.setText(self.tr("Loaded with these options"))
            set_hint(self.load, self.tr("The model is loaded just so: change something, and it can be loaded anew."))
            return
        fits = view.is_possible is not False
        words = self.tr("Load with these options") if fits else self.tr("Load with these options anyway")
        self.load.setText(words)
        hint = self.tr("Load the model as it is planned here; these options are remembered for it.")
        warning = self.tr("It does not seem to fit: loading may fail, or push other programs out of memory.")
        set_hint(self.load, hint if fits else warning)

    def _show_devices(self, view: PlanView) -> None:
        used = [device for device in view.devices if device.is_used]
        for place, device in enumerate(used):
            if place < len(self._pictures):
                self._pictures[place].show_device(device)
            else:
                picture = DevicePicture(self._themes, device)
                self._pictures.append(picture)
                self._device_column.addWidget(picture)
        for place, picture in enumerate(self._pictures):
            picture.setVisible(place < len(used))

    def _show_levers(self, view: PlanView, choice: PlanChoice) -> None:
        is_needed = view.fit in ("less_context", "too_large") or (view.fit == "partly" and choice.gpu_layers is None)
        for place, lever in enumerate(view.levers):
            if place == len(self.levers):
                self._add_lever()
            self._show_lever(self.levers[place], lever, is_needed)
        for place, button in enumerate(self.levers):
            button.setVisible(place < len(view.levers))
        self._levers_head.setText(self.tr("What would help") if is_needed else self.tr("What would save memory"))
        self._levers_head.setVisible(bool(view.levers))

    def _show_lever(self, button: QPushButton, lever: LeverView, is_needed: bool) -> None:
        text = lever_text(lever.words, lever.saves, fits=lever.fits, is_needed=is_needed)
        if text != button.text():
            button.setText(text)
            button.setAccessibleName(text)
        button.setEnabled(lever.can_use)
        use = self.tr("Choose this, and see at once what comes of it")
        if lever.kind == "quantisation":
            use = self.tr("Reads the header of this file from the hub, a few megabytes at most, and plans with it")
        other = self.tr("Another file of the same model; how much smaller it is, is an estimate.")
        set_hint(button, use if lever.can_use else other)

    def _add_lever(self) -> None:
        number = len(self.levers)
        button = QPushButton()
        button.setObjectName(f"plan_lever_{number}")
        button.setProperty("look", "quiet")
        button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        button.clicked.connect(lambda _checked=False: self.lever_wanted.emit(number))
        self.levers.append(button)
        self._lever_column.addWidget(button)

    def _show_speed(self, speed: SpeedRows, choice: PlanChoice) -> None:
        self.speed.show_speed(speed, choice.prompt)
        if speed.reason is not None:
            self.why.setText(render(speed.reason))
        else:
            said = [render(each) for each in (speed.limit, speed.rests_on) if each is not None]
            self.why.setText(" ".join(said))
        self.caveat.setText(" ".join(map(render, speed.caveats)))
        self.caveat.setVisible(bool(speed.caveats))
        self.read.setVisible(speed.read is not None)
        self.read.setText(read_words(speed))
        first = speed.first_token
        self.first.setVisible(speed.decode is not None)
        if first is None:
            self.first.setText(no_first_words(choice))
            set_hint(self.first, "")
        else:
            self.first.setText(first_words(first, speed))
            set_hint(self.first, first_hint(speed))

    def _lay_out(self) -> None:
        for text in (self.answer, self.source, self.limits, self.caveat, self.first, self.read, self.why):
            text.setWordWrap(True)
            text.setMinimumWidth(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_M)
        column.addWidget(self.answer)
        column.addWidget(self.source)
        self._device_column.setSpacing(theme.SPACE_L)
        column.addLayout(self._device_column)
        column.addWidget(self.limits)
        column.addWidget(self._levers_head)
        self._lever_column.setSpacing(theme.SPACE_XS)
        column.addLayout(self._lever_column)
        column.addWidget(self._speed_head)
        for each in (self.caveat, self.speed, self.first, self.read, self.why):
            column.addWidget(each)
        column.addWidget(self.load)
        column.addWidget(self.download)
        self.load.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        column.addStretch(1)

    def _repaint(self) -> None:
        for each in (*self._pictures, self.speed):
            each.update()
