"""The options of a load: what people usually choose in front, the rest behind a button, and what it takes below.

Shows and changes a `LoadOptionsDraft`; decides nothing and loads nothing by itself.
"""

from __future__ import annotations

from typing import get_args

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.core.layer_choice import SHORTEST_CONTEXT
from app.core.model import (
    ALL_LAYERS,
    MOST_BATCH,
    MOST_LAYERS,
    MOST_THREADS,
    FlashAttention,
    KVType,
    LoadOptions,
)
from app.gui import theme
from app.gui.models.context_row import ContextBox, ContextChoice, ContextSlider
from app.gui.models.lever_button import LeverButton
from app.gui.models.load_words import file_words, flash_name, remarks, verdict
from app.gui.models.memory_table import MemoryTable
from app.gui.models.option_form import OptionForm
from app.gui.widgets.cache_words import kv_name
from app.gui.widgets.boxes import NumberBox
from app.gui.widgets.fit_badge import FitBadge, FitLook
from app.gui.widgets.labels import label
from app.gui.widgets.tall_dialog import TallDialog
from app.gui.widgets.words import set_hint
from app.services.load_fit import fit_of_draft, levers_of_draft, needs_by_formula
from app.services.load_options import LoadOptionsDraft
from app.services.units import count

AUTOMATIC = -1
"""What a box of numbers shows as a word: the program chooses."""
KV_TYPES: tuple[KVType, ...] = get_args(KVType)
FLASH: tuple[FlashAttention, ...] = get_args(FlashAttention)
DIALOG_PX = 600
MOST_LINES = 2
"""Of remarks and verdict: there is always room for so many: nothing moves while a context is chosen."""


class LoadOptionsDialog(TallDialog):
    """Chooses how a model is loaded."""

    def __init__(self, draft: LoadOptionsDraft, look: FitLook, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("load_options")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Load options"))
        self.setMinimumWidth(DIALOG_PX)
        self._draft = draft
        self._awaited: LoadOptions | None = None
        """What is to be loaded once it is known what it takes."""
        self._name = label(pixels=theme.HEADING_PX, bold=True, name="load_options_model")
        self._facts = label(look="muted", pixels=theme.SMALL_PX)
        self._remarks = label(look="muted", pixels=theme.SMALL_PX, name="load_remarks")
        self._answer = label(pixels=theme.BASE_PX, bold=True, name="fit_answer")
        self._badge = FitBadge(look.icons, look.themes, "load_fit")
        self._table, self._levers = MemoryTable(), LeverButton()
        self._levers.chosen.connect(lambda changes: draft.change(**changes))
        for text in (self._name, self._facts, self._remarks, self._answer):
            text.setWordWrap(True)
        for text in (self._remarks, self._answer):
            text.setMinimumHeight(MOST_LINES * (text.fontMetrics().lineSpacing() + 1))
        self._remarks.setMinimumWidth(1)  # it makes way for the button, not the dialog for it
        self._answer.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._front, self._more = OptionForm(), OptionForm()
        self._make_front()
        self._make_more()
        self._more_button = QPushButton(self.tr("More options"))
        self._more_button.setObjectName("more_options_button")
        self._more_button.setCheckable(True)
        self._more_button.toggled.connect(self._show_more)
        self._largest = QPushButton()
        self._largest.setObjectName("largest_context_button")
        self._largest.clicked.connect(self._use_largest)
        self._reset = QPushButton(self.tr("Reset"))
        self._reset.setObjectName("reset_options_button")
        set_hint(self._reset, self.tr("Go back to the defaults."))
        self._reset.clicked.connect(draft.reset)
        self._load = QPushButton()
        self._load.setObjectName("load_button")
        self._load.setProperty("look", "primary")
        self._load.setDefault(True)
        self._load.clicked.connect(self._choose)
        self._lay_out()
        self._disconnect = draft.changed.connect(self._show)
        self._show()

    def done(self, result: int) -> None:
        """Listen no longer; questions that are still open are nobody's."""
        self._disconnect()
        self._draft.end()
        super().done(result)

    def _make_front(self) -> None:
        change, word = self._draft.change, self.tr("automatic")
        title = self.tr("Context, in tokens")
        self._context = ContextChoice(ContextBox(word), ContextSlider(title))
        self._front.add("context_box", title, self._context.box, beside=self._context.slider)
        hint = self.tr("How many tokens of the conversation and the answer the model can hold.")
        for control in (self._context.box, self._context.slider):
            set_hint(control, hint)
        self._context.box.valueChanged.connect(lambda value: change(context=int(value) or None))
        self._layers = self._front.number(
            "gpu_layers_box", self.tr("Layers on the GPU"), AUTOMATIC, MOST_LAYERS, word
        )
        self._layers.valueChanged.connect(lambda value: change(gpu_layers=None if value < 0 else int(value)))
        names = [kv_name(kind) for kind in KV_TYPES]
        hint = self.tr("Smaller numbers in the cache leave room for more tokens, and cost a little of the quality.")
        self._keys = self._front.choice("kv_type_k_box", self.tr("Cache of keys"), names, hint)
        self._keys.activated.connect(lambda index: change(kv_type_k=KV_TYPES[index]))
        self._values = self._front.choice("kv_type_v_box", self.tr("Cache of values"), names, hint)
        self._values.activated.connect(lambda index: change(kv_type_v=KV_TYPES[index]))

    def _make_more(self) -> None:
        change = self._draft.change
        self._flash = self._more.choice(
            "flash_attention_box",
            self.tr("Flash attention"),
            [flash_name(mode) for mode in FLASH],
            self.tr("Computes attention without keeping all of its scores; a quantised cache of values needs it."),
        )
        self._flash.activated.connect(lambda index: change(flash_attention=FLASH[index]))
        self._threads = self._more.number("threads_box", self.tr("Threads"), 0, MOST_THREADS, self.tr("automatic"))
        set_hint(self._threads, self.tr("Automatic is one for each physical core."))
        self._threads.valueChanged.connect(lambda value: change(threads=int(value) or None))
        self._batch = self._more.number("batch_box", self.tr("Batch, in tokens"), 1, MOST_BATCH)
        set_hint(self._batch, self.tr("Most tokens that are handed over at once."))
        self._batch.valueChanged.connect(lambda value: change(batch=int(value)))
        self._micro = self._more.number("micro_batch_box", self.tr("Micro-batch, in tokens"), 1, MOST_BATCH)
        set_hint(self._micro, self.tr("Tokens evaluated at once: more is faster to read a prompt and takes memory."))
        self._micro.valueChanged.connect(lambda value: change(micro_batch=int(value)))
        self._experts = self._more.number(
            "experts_box",
            self.tr("Layers with experts in main memory"),
            AUTOMATIC,
            MOST_LAYERS,
            self.tr("automatic"),
        )
        self._experts.valueChanged.connect(lambda value: change(experts_on_cpu=max(0, int(value))))
        self._shorten = self._more.check("shorten_box", self.tr("Shorten the context to fit all layers on the GPU"))
        self._shorten.clicked.connect(lambda on: change(may_shorten_context=on))
        self._mmap = self._more.check("mmap_box", self.tr("Map the file into memory instead of reading it"))
        self._mmap.clicked.connect(lambda on: change(mmap=on))
        self._mlock = self._more.check("mlock_box", self.tr("Never let the system swap it out"))
        self._mlock.clicked.connect(lambda on: change(mlock=on))

    def _lay_out(self) -> None:
        cancel = QPushButton(self.tr("Cancel"))
        cancel.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        for button in (self._reset, self._more_button, self._largest):
            button.setAutoDefault(False)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.SPACE_S)
        buttons.addWidget(self._reset)
        buttons.addWidget(self._more_button)
        buttons.addWidget(self._levers)
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(self._load)
        head = QVBoxLayout()
        head.setSpacing(theme.SPACE_XS)
        title = QHBoxLayout()
        title.setSpacing(theme.SPACE_M)
        title.addWidget(self._name, 1)
        title.addWidget(self._badge)
        head.addLayout(title)
        head.addWidget(self._facts)
        contents = QWidget()
        column = QVBoxLayout(contents)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_M)
        column.addLayout(head)
        column.addWidget(self._front)
        column.addLayout(self._remarks_row())
        for part in (self._more, self._table, self._answer):
            column.addWidget(part)
        column.addStretch(1)
        self.hold(contents, buttons)
        self._more.hide()
        self._context.box.setFocus()

    def _remarks_row(self) -> QHBoxLayout:
        """Return what is said of the context, as high as with the button that is not always there."""
        staying = self._largest.sizePolicy()
        staying.setRetainSizeWhenHidden(True)
        self._largest.setSizePolicy(staying)
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_L)
        row.addWidget(self._remarks, 1)
        row.addWidget(self._largest)
        return row

    def _show_more(self, shown: bool) -> None:
        self._more.setVisible(shown)
        self._more_button.setText(self.tr("Fewer options") if shown else self.tr("More options"))

    def _show(self) -> None:
        draft = self._draft
        if self._awaited is not None and self._end_waiting(self._awaited):
            return
        self._name.setText(draft.file.name if draft.file is not None else (draft.path.stem if draft.path else ""))
        self._facts.setText(file_words(draft.file, draft.last_load))
        self._show_options(draft.options)
        self._remarks.setText(" ".join(remarks(draft.options, draft.file)))
        formula = needs_by_formula(draft)
        self._table.show_needs(formula or draft.needs, is_formula=bool(formula))
        self._badge.show_fit(fit_of_draft(draft))
        self._levers.show_levers(levers_of_draft(draft))
        self._show_verdict()
        largest = draft.largest_context if draft.is_current else None
        self._largest.setVisible(largest is not None)
        self._largest.setText(self.tr("Use {tokens}: the largest that fits").format(tokens=count(largest)))
        usable = draft.file is not None and draft.file.problem is None
        self._load.setEnabled(usable)
        self._load.setText(self.tr("Load anyway") if self._lacks else self.tr("Load"))
        self._reset.setEnabled(draft.options != LoadOptions())

    def _show_verdict(self) -> None:
        said, look = verdict(self._draft, is_awaited=self._awaited is not None), self._answer.property("look")
        self._answer.setText(said.words)
        if said.warns is not (look == "problem"):
            self._answer.setProperty("look", "problem" if said.warns else "")
            self._answer.style().polish(self._answer)

    @property
    def _lacks(self) -> bool:
        return self._draft.is_current and self._draft.lack is not None

    def _show_options(self, options: LoadOptions) -> None:
        file = self._draft.file
        self._context.show_value(options.context, file.trained_context if file is not None else None)
        self._show_layers(options)
        self._keys.setCurrentIndex(KV_TYPES.index(options.kv_type_k))
        self._values.setCurrentIndex(KV_TYPES.index(options.kv_type_v))
        self._flash.setCurrentIndex(FLASH.index(options.flash_attention))
        for box, value in (
            (self._threads, options.threads or 0),
            (self._batch, options.batch),
            (self._micro, options.micro_batch),
        ):
            with QSignalBlocker(box):
                box.setValue(value)
        self._show_experts(options)
        self._shorten.setChecked(options.may_shorten_context)
        hint = self.tr(
            "With automatic layers: a context that is too long for the GPU is shortened, to no less than {least} tokens, "
            "before layers move to main memory, where they are slower."
        ).format(least=count(SHORTEST_CONTEXT))
        self._more.allow(self._shorten, hint, self._no_shorter())
        self._mmap.setChecked(options.mmap)
        self._mlock.setChecked(options.mlock)

    def _show_layers(self, options: LoadOptions) -> None:
        measured = self._draft.measured
        most = measured.layers if measured is not None else MOST_LAYERS
        hint = self.tr("Automatic is as many as fit; {layers} are all of them.").format(layers=count(most))
        self._front.allow(self._layers, hint, self._no_gpu())
        layers = most if options.gpu_layers == ALL_LAYERS else options.gpu_layers
        with QSignalBlocker(self._layers):
            self._layers.setMaximum(max(most, layers or 0))
            self._layers.setValue(AUTOMATIC if layers is None else layers)

    def _show_experts(self, options: LoadOptions) -> None:
        """Show of how many layers the experts move; none is automatic where the layers are."""
        hint = self.tr(
            "Leaves more room on the GPU for the rest of the model, and is slower. With automatic layers, automatic is as "
            "few as it takes."
        )
        self._more.allow(self._experts, hint, self._no_experts())
        measured, moved = self._draft.measured, options.experts_on_cpu
        most = max(measured.layers if measured is not None else MOST_LAYERS, moved)
        is_automatic = options.gpu_layers is None
        with QSignalBlocker(self._experts):
            self._experts.setRange(AUTOMATIC if is_automatic else 0, most)
            self._experts.setValue(most if moved < 0 else AUTOMATIC if is_automatic and not moved else moved)

    def _no_gpu(self) -> str:
        """Return why no layers can go to a GPU; empty where some can, or where nobody can tell."""
        draft = self._draft
        if draft.has_gpu is None:
            return "" if draft.problem is not None else self.tr("Looking for a GPU …")
        return (
            ""
            if draft.has_gpu
            else self.tr("No GPU to compute on: this machine has none, or this build cannot use it.")
        )

    def _no_experts(self) -> str:
        file = self._draft.file
        if file is None:
            return self.tr("Looking at the file …")
        if file.is_mixture is False:
            return self.tr("This model is no mixture: it has no experts.")
        return self._no_gpu() and self.tr("Without a GPU all of the model is in main memory anyway.")

    def _no_shorter(self) -> str:
        if self._draft.options.gpu_layers is not None:
            return self.tr("The number of layers is chosen: this is for automatic ones.")
        return self._no_gpu() and self.tr("Without a GPU there is no room for layers that a context could make.")

    def _use_largest(self) -> None:
        if (largest := self._draft.largest_context) is not None:
            self._draft.change(context=largest)
            self._context.box.setFocus()

    def _choose(self) -> None:
        """Load what is chosen, typed or not; what nobody could read of it yet is waited for."""
        for box in self.findChildren(NumberBox):
            box.finish_typing()
        if self._draft.is_current:
            self._draft.load(anyway=self._lacks)
            self.accept()
        else:
            self._awaited = self._draft.options
            self._show()

    def _end_waiting(self, awaited: LoadOptions) -> bool:
        """Go on once it is known what the options take, unless others are chosen meanwhile; whether it is loaded."""
        if self._draft.options == awaited and not self._draft.is_current:
            return False
        self._awaited = None
        if self._draft.options != awaited or verdict(self._draft).warns:
            return False  # the warning is read first
        self._draft.load()
        self.accept()
        return True
