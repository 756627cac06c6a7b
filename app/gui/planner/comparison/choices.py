"""The left side of the comparison: which models, which GPUs, for which use, and what is needed."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QPoint, Signal
from PySide6.QtWidgets import QFrame, QMenu, QSizePolicy, QVBoxLayout

from app.gui import theme
from app.gui.icons import Icons
from app.gui.planner.comparison.choice_list import ChoiceList, Group, Item
from app.gui.planner.comparison.model_badges import ModelBadges
from app.gui.planner.comparison.use_form import UseForm
from app.gui.planner.comparison.words import file_words, gpu_words, group_name
from app.gui.planner.hub_field import HubField
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.fit_badge import FitLook
from app.gui.widgets.labels import in_parts
from app.services.hub_models import is_hub_path, named
from app.services.plan_comparison import PlanComparison
from app.services.plan_values import AS_IT_IS, Chosen, ModelChoice, OfferedGpu, OfferedModel

translate = QCoreApplication.translate
WIDE_PX = 280
_ORDER = ("here", "own", "geforce", "workstation", "data_centre", "radeon", "apple", "other")


class Choices(QFrame):
    """Shows what is chosen; says what somebody wants instead."""

    changed = Signal(Chosen)
    """Somebody chose something else."""
    file_wanted = Signal()
    """Somebody wants to look for a model's file."""
    gpu_wanted = Signal(str)
    """Somebody wants to change a GPU of theirs, or with an empty id to add one."""
    removal_wanted = Signal(str)
    """Somebody wants to remove a GPU of theirs."""

    model_removal_wanted = Signal(str)
    """Somebody wants a model that they named away: its path."""

    def __init__(self, icons: Icons, hub: HubField, look: FitLook) -> None:
        """`look` is what the badges of the models are drawn from."""
        super().__init__()
        self.setProperty("look", "card")
        self._own: set[str] = set()
        tr = self.tr
        self.hub = hub
        self.models = ChoiceList("plan_models", tr("Models"), tr("Search models"))
        self.gpus = ChoiceList("plan_gpus", tr("GPUs"), tr("Search GPUs"))
        self.fits = ModelBadges(self.models, look)
        self.form = UseForm()
        add = IconButton(icons, "add", tr("Add a model file"), object_name="plan_add_model")
        own = IconButton(icons, "add", tr("Add a GPU"), object_name="plan_add_gpu")
        self.edit = IconButton(
            icons, "edit", tr("Change or remove a GPU that you added"), object_name="plan_own_gpus"
        )
        self.added = IconButton(icons, "edit", tr("Remove a model that you added"), object_name="plan_added_models")
        self.models.buttons.addWidget(self.added)
        self.models.buttons.addWidget(add)
        self.gpus.buttons.addWidget(self.edit)
        self.gpus.buttons.addWidget(own)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.SPACE_L, theme.SPACE_L, theme.SPACE_L, theme.SPACE_L)
        column.setSpacing(theme.SPACE_L)
        of_models = QVBoxLayout()
        of_models.setSpacing(theme.SPACE_S)
        of_models.addWidget(self.models)
        of_models.addWidget(self.hub)
        column.addLayout(of_models)
        column.addWidget(self.gpus)
        column.addWidget(self.form)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Maximum)
        self.setFixedWidth(theme.scaled(WIDE_PX))
        add.clicked.connect(self.file_wanted)
        own.clicked.connect(lambda: self.gpu_wanted.emit(""))
        self.edit.clicked.connect(lambda: self._open_menu(self.edit.mapToGlobal(QPoint(0, self.edit.height()))))
        self.added.clicked.connect(lambda: self._open_models(self.added.mapToGlobal(QPoint(0, self.added.height()))))
        self.gpus.menu_wanted.connect(self._want_menu)
        self.models.menu_wanted.connect(self._want_menu)
        self.models.removal_wanted.connect(self._want_removal)
        for part in (self.models, self.gpus):
            part.chosen_changed.connect(self._tell)
        self.form.changed.connect(self._tell)
        self._gpus: tuple[OfferedGpu, ...] = ()
        self._models_added: dict[str, str] = {}
        """Names of models that can be removed, by path."""

    def rest(self) -> None:
        """Nobody looks any more."""
        self.fits.rest()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self.fits.disconnect_services()
        self.hub.disconnect_services()

    def show_comparison(self, comparison: PlanComparison) -> None:
        """Show what there is, and what of it is chosen."""
        chosen = comparison.chosen
        self._gpus = comparison.gpus
        self._own = {gpu.id for gpu in comparison.gpus if gpu.group == "own"}
        self.models.show_groups([_model_group(model) for model in comparison.models], chosen.models)
        self.fits.want()
        self.gpus.show_groups(_gpu_groups(comparison.gpus), chosen.gpus)
        self.form.show_use(chosen)
        self.edit.setVisible(bool(self._own))
        self._models_added = {model.path: model.name for model in comparison.models if model.is_added}
        self.added.setVisible(bool(self._models_added))

    def _tell(self) -> None:
        context, users, prompt = self.form.use
        models = tuple(key for key in self.models.chosen if isinstance(key, ModelChoice))
        gpus = tuple(str(key) for key in self.gpus.chosen)
        self.changed.emit(Chosen(models, gpus, context, users, prompt, self.form.wanted))

    def _want_menu(self, key: object, place: QPoint) -> None:
        if isinstance(key, ModelChoice) and key.path in self._models_added:
            self._open_models(place, key.path)
        elif key in self._own:
            self._open_menu(place, str(key))

    def _want_removal(self, key: object) -> None:
        """Remove at once what people added: it is as quickly named again."""
        if isinstance(key, ModelChoice) and key.path in self._models_added:
            self.model_removal_wanted.emit(key.path)

    def _open_menu(self, place: QPoint, only: str = "") -> None:
        _pop_up(self.own_menu(only), place)

    def _open_models(self, place: QPoint, only: str = "") -> None:
        _pop_up(self.added_menu(only), place)

    def added_menu(self, only: str = "") -> QMenu:
        """Return what can be done with models that people named, or with one of them."""
        menu = QMenu(self)
        menu.setObjectName("added_models_menu")
        for path, name in self._models_added.items():
            if only in ("", path):
                remove = menu.addAction(self.tr("Remove {model}").format(model=_whole_name(path, name)))
                remove.setObjectName(f"remove_{path}")
                remove.triggered.connect(lambda _checked=False, path=path: self.model_removal_wanted.emit(path))
        return menu

    def own_menu(self, only: str = "") -> QMenu:
        """Return what can be done with people's own GPUs, or with one of them."""
        menu = QMenu(self)
        menu.setObjectName("own_gpu_menu")
        for gpu in self._gpus:
            if gpu.id in self._own and only in ("", gpu.id):
                change = menu.addAction(self.tr("Change {gpu}…").format(gpu=gpu.name))
                change.setObjectName(f"change_{gpu.id}")
                change.triggered.connect(lambda _checked=False, key=gpu.id: self.gpu_wanted.emit(key))
                remove = menu.addAction(self.tr("Remove {gpu}").format(gpu=gpu.name))
                remove.setObjectName(f"remove_{gpu.id}")
                remove.triggered.connect(lambda _checked=False, key=gpu.id: self.removal_wanted.emit(key))
        return menu


def _pop_up(menu: QMenu, place: QPoint) -> None:
    menu.aboutToHide.connect(menu.deleteLater)
    menu.popup(place)


def _whole_name(path: str, name: str) -> str:
    """Return what tells a model from others of its name."""
    return named(path) if is_hub_path(path) else name


def _model_group(model: OfferedModel) -> Group:
    hint, words = model.path, file_words(model)
    if is_hub_path(model.path):
        hint, words = named(model.path), in_parts([words, translate("PlanComparison", "hub")])
    itself = Item(ModelChoice(model.path, AS_IT_IS), words, hint)
    estimates = (Item(ModelChoice(model.path, name), f"≈ {name}") for name in model.estimates)
    return Group(model.name, (itself, *estimates), itself.key)


def _gpu_groups(gpus: tuple[OfferedGpu, ...]) -> list[Group]:
    def items(group: str) -> tuple[Item, ...]:
        return tuple(
            Item(gpu.id, gpu_words(_gpu_name(gpu), gpu.memory), gpu.name) for gpu in gpus if gpu.group == group
        )

    return [Group(group_name(group), found) for group in _ORDER if (found := items(group))]  # type: ignore[arg-type]


def _gpu_name(gpu: OfferedGpu) -> str:
    if gpu.count > 1:
        return translate("PlanComparison", "{count} GPUs together").format(count=gpu.count)
    return gpu.name
