"""The plan of one model: the choices on the left, the answer on the right; one above the other where there is less room."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.planner.answer_pane import AnswerPane
from app.gui.planner.choice_pane import ChoicePane, PlaceChoice
from app.gui.planner.comparison.words import gpu_words
from app.gui.planner.hub_field import HubField
from app.gui.planner.part import PlannerPart
from app.gui.planner.stops_row import CAPTION_PX
from app.gui.planner.why_slow import WhySlow
from app.gui.widgets.fit_badge import FitLook
from app.gui.widgets.labels import label
from app.gui.widgets.words import render
from app.services.hub_models import is_hub_path, named
from app.services.machine import Machine
from app.services.planning import Planning
from app.services.planning_devices import KnownGpus

CHOICES_PX, BESIDE_PX, WIDEST_ANSWER_PX = 368, 740, 640
WATCHER = "planner"


class PlanPart(PlannerPart):
    """Joins the two to the service."""

    def __init__(self, planning: Planning, machine: Machine, look: FitLook, why: WhySlow | None = None) -> None:
        """`look` is what badges are drawn from; `why` says below the choices why the last answer was slow."""
        super().__init__()
        self.setObjectName("plan_part")
        self._planning = planning
        self._machine = machine
        self._gpus: KnownGpus | None = None
        """Those that were offered last."""
        self.hub = HubField(planning.models.hub, look, "plan_hub", CAPTION_PX)
        self.choices, self.answer = ChoicePane(self.hub, look), AnswerPane(look.themes)
        self.why = why
        self._nothing = label(pixels=theme.HEADING_PX, name="plan_nothing")
        self._nothing.setWordWrap(True)
        self._table = label(look="problem", pixels=theme.SMALL_PX, name="plan_table_problem")
        self._table.setWordWrap(True)
        self._file = QPushButton(self.tr("Choose a file…"))
        self._file.setObjectName("plan_file_button")
        self._file.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._lay_out()
        self._file.clicked.connect(lambda _checked=False: self.file_wanted.emit())
        self.choices.file_wanted.connect(self.file_wanted)
        self.choices.model_wanted.connect(planning.choose_model)
        self.hub.model_wanted.connect(planning.choose_model)
        self.choices.changed.connect(lambda name, value: planning.change(**{name: value}))
        self.answer.download.wanted.connect(self.hub_page_wanted)
        self.answer.lever_wanted.connect(planning.use_lever)
        self.answer.load_wanted.connect(self._load)
        self._disconnect = [planning.changed.connect(self._show)]
        self._show()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self._look(on=False)
        self.answer.close_themes()
        self.choices.disconnect_services()
        if self.why is not None:
            self.why.disconnect_services()
        for disconnect in self._disconnect:
            disconnect()

    def showEvent(self, event: QShowEvent) -> None:
        """Begin to look."""
        super().showEvent(event)
        self._look(on=True)

    def hideEvent(self, event: QHideEvent) -> None:
        """Look no longer."""
        super().hideEvent(event)
        self._look(on=False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the answer beside the choices where there is room for both, else below."""
        super().resizeEvent(event)
        is_beside = self.width() >= theme.scaled(BESIDE_PX)
        ways = QBoxLayout.Direction
        self._row.setDirection(ways.LeftToRight if is_beside else ways.TopToBottom)
        self._left.setMaximumWidth(theme.scaled(CHOICES_PX) if is_beside else theme.scaled(WIDEST_ANSWER_PX))

    def _look(self, *, on: bool) -> None:
        self._machine.watch(on, WATCHER)
        self._planning.watch(on)

    def _load(self) -> None:
        self._planning.load()
        self.chat_wanted.emit()

    def _show(self) -> None:
        planning, choice, view = self._planning, self._planning.choice, self._planning.view
        file = planning.file
        model = file.model if file is not None else None
        is_of_hub = is_hub_path(planning.path)
        own = named(planning.path) if is_of_hub else Path(planning.path).name
        name = (model.name if model is not None and not is_of_hub else "") or own
        self.hub.show_path(planning.path)
        self.choices.show_models(planning.models.found, planning.path, name)
        self._show_places(planning.devices.gpus)
        self.choices.show_choice(
            choice,
            model.trained_context if model is not None else None,
            view.all_layers if view is not None else None,
            has_gpu=planning.has_gpu,
            is_mixture=model is not None and model.is_mixture,
        )
        problem = planning.devices.gpus.problem
        self._table.setText("" if problem is None else render(problem))
        self._table.setVisible(problem is not None)
        self.answer.setVisible(view is not None)
        self._nothing.setVisible(view is None)
        self._file.setVisible(view is None and not is_of_hub and (file is not None or not planning.path))
        if view is not None:
            can_load = planning.can_load
            self.answer.show_plan(view, choice, is_asking=planning.is_asking, can_load=can_load)
            chosen = planning.models.hub.get(planning.path).chosen if is_of_hub else ""
            self.answer.download.show_model(named(chosen))
        else:
            self._nothing.setText(self._why_nothing())

    def _show_places(self, gpus: KnownGpus) -> None:
        """Offer GPUs where they are others than before: there are many, and a slider asks at every step."""
        if gpus is not self._gpus:
            self._gpus = gpus
            self.choices.show_places(
                [PlaceChoice(gpu.id, gpu.name, gpu_words(gpu.name, gpu.memory)) for gpu in gpus.all]
            )

    def _why_nothing(self) -> str:
        if is_hub_path(self._planning.path):
            words = self.tr("Reading {name} from the hub …")
            if self._planning.problem is not None:
                words = self.tr("Unknown: nothing can be said of {name} before it is read.")
            return words.format(name=named(self._planning.path))
        if self._planning.problem is not None:
            return render(self._planning.problem)
        if self._planning.path:
            return self.tr("Reading what the model's file says …")
        return self.tr("Choose a model to see whether it fits, and how fast it would be.")

    def _lay_out(self) -> None:
        self._left, card, right = QWidget(), QFrame(), QWidget()
        card.setProperty("look", "card")
        inner = QVBoxLayout(card)
        inner.setContentsMargins(theme.SPACE_L, theme.SPACE_L, theme.SPACE_L, theme.SPACE_L)
        inner.addWidget(self.choices)
        self._left.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        left = QVBoxLayout(self._left)
        left.setContentsMargins(0, 0, 0, 0)
        left.setSpacing(theme.SPACE_L)
        left.addWidget(card)
        if self.why is not None:
            self.why.chat_wanted.connect(self.chat_wanted)
            self.why.remedy_wanted.connect(self.remedy_wanted)
            left.addWidget(self.why)
        right.setMaximumWidth(theme.scaled(WIDEST_ANSWER_PX))
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_M)
        for each in (self._table, self._nothing, self._file, self.answer):
            column.addWidget(each)
        column.addStretch(1)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(theme.SPACE_XL)
        self._row.addWidget(self._left, 2, Qt.AlignmentFlag.AlignTop)
        self._row.addWidget(right, 3)
        self._row.addStretch(0)
