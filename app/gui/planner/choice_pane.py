"""What is planned: the model, where it would run, and everything that makes a difference to memory or speed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.core.model import MOST_BATCH, MOST_LAYERS, MOST_PLANNED_CONTEXT, MOST_SEQUENCES, FoundModel, KVType
from app.gui import theme
from app.gui.planner.hub_field import HubField
from app.gui.planner.stops_row import CAPTION_PX, StopsRow, context_stops
from app.gui.widgets.boxes import ChoiceBox
from app.gui.widgets.cache_words import kv_name
from app.gui.widgets.fit_badge import FitLook
from app.gui.widgets.fit_choices import FitChoices
from app.gui.widgets.labels import in_parts
from app.gui.widgets.search_box import SearchBox
from app.gui.widgets.slider_row import caption_for
from app.gui.widgets.tick_box import TickBox
from app.gui.widgets.words import set_hint
from app.services.planning_values import HERE, PlanChoice
from app.services.units import byte_size

AUTOMATIC = -1
"""What the box of layers shows as a word."""
USUAL_END = 32_768
"""Where the slider of the context ends for a model that does not say what it was trained for."""
KV_TYPES: tuple[KVType, ...] = ("f16", "q8_0", "q4_0")
_FILE = "file"


class PlaceChoice(NamedTuple):
    """A GPU that can be planned for."""

    id: str
    name: str
    words: str
    """Its name without the maker, and its memory."""


class ChoicePane(QWidget):
    """Shows a choice; says what somebody changes, by the fields of `PlanChoice`."""

    changed = Signal(str, object)
    """Somebody wants another value: the field, and the value."""
    model_wanted = Signal(str)
    """Somebody wants another model: its path."""
    file_wanted = Signal()
    """Somebody wants to look for a file."""

    def __init__(self, hub: HubField, look: FitLook) -> None:
        """`look` is what the badges of the models are drawn from."""
        super().__init__()
        self.hub = hub
        self._models: tuple[FoundModel, ...] = ()
        self._path = ""
        self._places: tuple[PlaceChoice, ...] = ()
        self.model = self._box("plan_model_box", self.tr("Model"))
        self._fits = FitChoices(self.model, look, lambda path: str(path) if path and path != _FILE else None)
        self.where = SearchBox(
            self.tr("Search GPUs"),
            self.tr("No GPU is called so. You can add your own under “Compare GPUs and models”."),
        )
        self._name_box(self.where, "plan_where_box", self.tr("Runs on"))
        self.kv = self._box("plan_kv_box", self.tr("KV cache"))
        for kind in KV_TYPES:
            self.kv.addItem(kv_name(kind), kind)
        self._make_rows()
        self.flash = TickBox(self.tr("Flash attention"))
        self.flash.setObjectName("plan_flash_box")
        set_hint(self.flash, self.tr("Attention in one pass: less memory for intermediate results."))
        self._lay_out()
        self._connect()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self._fits.disconnect_services()
        self.hub.disconnect_services()

    def show_models(self, models: Sequence[FoundModel], path: str, name: str) -> None:
        """Offer the models that were found, and the one that is planned."""
        known = tuple(models)
        if (known, path) == (self._models, self._path):
            return
        self._models, self._path = known, path
        with QSignalBlocker(self.model):
            self.model.clear()
            for found in known:
                self.model.addItem(_model_words(found), found.path)
            if path and self.model.findData(path) < 0:
                self.model.addItem(name, path)
            if self.model.count():
                self.model.insertSeparator(self.model.count())
            self.model.addItem(self.tr("Choose a file…"), _FILE)
            self.model.setCurrentIndex(self.model.findData(path) if path else -1)

    def show_places(self, places: Sequence[PlaceChoice]) -> None:
        """Offer GPUs beside this machine."""
        if tuple(places) == self._places and self.where.count():
            return
        self._places = tuple(places)
        with QSignalBlocker(self.where):
            self.where.clear()
            self.where.addItem(self.tr("This machine"), HERE)
            if self._places:
                self.where.insertSeparator(1)
            for place in self._places:
                self.where.addItem(place.words, place.id)
                # what else it may be searched by
                self.where.setItemData(self.where.count() - 1, place.name, Qt.ItemDataRole.StatusTipRole)

    def show_choice(
        self, choice: PlanChoice, trained: int | None, layers: int | None, *, has_gpu: bool, is_mixture: bool
    ) -> None:
        """Show what is chosen; `layers` is how many there are, the output layer counted."""
        self.context.set_stops(context_stops(trained or USUAL_END))
        self.layers.set_stops([AUTOMATIC, *range((layers or 1) + 1)])
        self.context.show_value(choice.context)
        self.sequences.show_value(choice.sequences)
        given = choice.gpu_layers
        self.layers.show_value(AUTOMATIC if given is None else (layers or 0) if given < 0 else given)
        self._show_experts(choice, max(0, (layers or 1) - 1))
        self.experts.setVisible(is_mixture)
        self.experts.allow("" if has_gpu else self.tr("Without a GPU all of the model is in main memory anyway."))
        self.batch.show_value(choice.micro_batch)
        self.prompt.show_value(choice.prompt)
        self.cached.show_value(choice.cached)
        self.layers.allow("" if has_gpu else self.tr("There is no GPU to put layers on."))
        widgets = (self.flash, self.kv, self.where)
        blockers = [QSignalBlocker(widget) for widget in widgets]
        self.flash.setChecked(choice.flash_attention)
        self._show_kv(choice)
        self.where.setCurrentIndex(max(0, self.where.findData(choice.where)))
        del blockers
        gpu = next((place for place in self._places if place.id == choice.where), None)
        planned = replace(choice, gpu_layers=None, experts_on_cpu=0)  # another model has its own
        for badges in (self._fits, self.hub):
            badges.use_plan("" if gpu is None else gpu.id, "" if gpu is None else gpu.words, planned)

    def _show_experts(self, choice: PlanChoice, blocks: int) -> None:
        """Show of how many layers the experts move; none is automatic where the layers are."""
        moved, is_automatic = choice.experts_on_cpu, choice.gpu_layers is None
        none = AUTOMATIC if is_automatic else 0
        self.experts.set_stops([none, *range(1, blocks + 1)])
        self.experts.show_value(blocks if moved < 0 else moved or none)

    def _show_kv(self, choice: PlanChoice) -> None:
        """Show the type of the cache; two types, as a load can have them, are an entry while they are planned."""
        if choice.kv_type_v is None:
            self.kv.setCurrentIndex(self.kv.findData(choice.kv_type))
            if self.kv.count() > len(KV_TYPES):
                self.kv.removeItem(len(KV_TYPES))
            return
        words = self.tr("keys {keys}, values {values}")
        words = words.format(keys=choice.kv_type.upper(), values=choice.kv_type_v.upper())
        if self.kv.count() == len(KV_TYPES):
            self.kv.addItem(words, None)
        self.kv.setItemText(len(KV_TYPES), words)
        self.kv.setCurrentIndex(len(KV_TYPES))

    def _box(self, name: str, title: str) -> ChoiceBox:
        box = ChoiceBox()
        self._name_box(box, name, title)
        return box

    def _name_box(self, box: ChoiceBox, name: str, title: str) -> None:
        box.setObjectName(name)
        box.setAccessibleName(title)
        box.setMinimumWidth(theme.scaled(120))
        box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def _make_rows(self) -> None:
        tr = self.tr
        each = tr("Tokens that one conversation can have: prompt and answers together.")
        self.context = StopsRow(
            "plan_context", tr("Context"), each, context_stops(USUAL_END), (1, MOST_PLANNED_CONTEXT)
        )
        at_once = tr("Conversations, or lanes of a comparison, that are written at the same time.")
        self.sequences = StopsRow(
            "plan_sequences", tr("At once"), at_once, [*range(1, 9), 12, 16, 24, 32], (1, MOST_SEQUENCES)
        )
        layers = tr("Layers of the model that lie on the GPU, the output layer counted; automatic is as many as fit.")
        words = {float(AUTOMATIC): tr("auto")}
        self.layers = StopsRow(
            "plan_layers", tr("GPU layers"), layers, (AUTOMATIC, 0), (AUTOMATIC, MOST_LAYERS), words=words
        )
        experts = tr(
            "Layers of a mixture whose experts lie in main memory, where few of them work on each token; automatic is as few "
            "as it takes."
        )
        self.experts = StopsRow(
            "plan_experts", tr("Experts aside"), experts, (AUTOMATIC, 0), (AUTOMATIC, MOST_LAYERS), words=words
        )
        batch = tr("Tokens of a prompt that are evaluated at once: larger is a faster prefill and more memory.")
        stops = (32, 64, 128, 256, 512, 1024, 2048)
        self.batch = StopsRow("plan_batch", tr("Micro-batch"), batch, stops, (1, MOST_BATCH))
        prompt = tr("Tokens of the prompt whose first token is waited for.")
        self.prompt = StopsRow(
            "plan_prompt", tr("Prompt"), prompt, context_stops(USUAL_END), (1, MOST_PLANNED_CONTEXT)
        )
        cached = tr("Tokens of the prompt that are in the cache already, from the turn before.")
        cached_stops = (0, *context_stops(USUAL_END))
        self.cached = StopsRow("plan_cached", tr("Of it cached"), cached, cached_stops, (0, MOST_PLANNED_CONTEXT))

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addLayout(self._captioned(self.tr("Model"), self.model))
        column.addWidget(self.hub)
        column.addLayout(self._captioned(self.tr("Runs on"), self.where))
        column.addSpacing(theme.SPACE_S)
        column.addWidget(self.context)
        column.addWidget(self.sequences)
        column.addLayout(self._captioned(self.tr("KV cache"), self.kv))
        for row in (self.layers, self.experts, self.batch):
            column.addWidget(row)
        column.addWidget(self.flash)
        column.addSpacing(theme.SPACE_S)
        for row in (self.prompt, self.cached):
            column.addWidget(row)
        column.addStretch(1)

    def _captioned(self, title: str, box: QWidget) -> QBoxLayout:
        """Put a caption beside a box, and above one with names in it, which are long."""
        row = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        row.setSpacing(theme.SPACE_XS)
        if box is self.kv:
            row.setDirection(QBoxLayout.Direction.LeftToRight)
            row.setSpacing(theme.SPACE_S)
        row.addWidget(caption_for(title, box, CAPTION_PX))
        row.addWidget(box, 1)
        return row

    def _connect(self) -> None:
        for name, row in (
            ("context", self.context),
            ("sequences", self.sequences),
            ("micro_batch", self.batch),
            ("prompt", self.prompt),
            ("cached", self.cached),
        ):
            row.moved.connect(lambda value, name=name: self.changed.emit(name, value))
        self.layers.moved.connect(lambda value: self.changed.emit("gpu_layers", None if value < 0 else value))
        self.kv.activated.connect(self._choose_kv)
        self.where.activated.connect(lambda row: self.changed.emit("where", self.where.itemData(row)))
        self.flash.toggled.connect(lambda on: self.changed.emit("flash_attention", on))
        self.experts.moved.connect(lambda value: self.changed.emit("experts_on_cpu", max(0, value)))
        self.model.activated.connect(self._choose_model)

    def _choose_kv(self, row: int) -> None:
        kind = self.kv.itemData(row)
        if kind is not None:
            self.changed.emit("kv_type", kind)

    def _choose_model(self, row: int) -> None:
        chosen = self.model.itemData(row)
        if chosen == _FILE:
            with QSignalBlocker(self.model):
                self.model.setCurrentIndex(self.model.findData(self._path) if self._path else -1)
            self.file_wanted.emit()
        elif chosen:
            self.model_wanted.emit(chosen)


def _model_words(found: FoundModel) -> str:
    return in_parts([part for part in (found.name, found.quantisation or "", byte_size(found.size)) if part])
