"""What a model is loaded with, and what new chats with it begin with, as far as people set that for it alone."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.model import ALL_LAYERS, FoundModel, LoadOptions
from app.gui import theme
from app.gui.chat.preset_words import sampling_in_words
from app.gui.widgets.buttons import text_button
from app.gui.widgets.labels import label, wrapped
from app.gui.widgets.words import set_hint
from app.services.model_sampling import ModelSampling
from app.services.units import count

translate = QCoreApplication.translate


class OwnSettings(QWidget):
    """Belongs to one model at a time."""

    def __init__(self, sampling: ModelSampling) -> None:
        super().__init__()
        self.setObjectName("library_settings")
        self._sampling = sampling
        self._identity = ""
        self.words = wrapped(label(name="library_sampling"))
        self.words.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.take = text_button(self.tr("Use those of the chat"), "library_sampling_take_button")
        self.forget = text_button(self.tr("Forget them"), "library_sampling_forget_button")
        set_hint(
            self.forget, self.tr("New chats with this model begin as with any other; chats that there are stay.")
        )
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.SPACE_S)
        buttons.addWidget(self.take)
        buttons.addWidget(self.forget)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self.words)
        column.addLayout(buttons)
        self.take.clicked.connect(lambda _checked=False: sampling.use_current(self._identity))
        self.forget.clicked.connect(lambda _checked=False: sampling.forget(self._identity))
        for each in (self.take, self.forget):
            each.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def show_model(self, model: FoundModel | None) -> None:
        """Show what is set for a model; nothing for one that is not for chat."""
        is_usable = model is not None and model.is_usable and bool(model.identity)
        self.setVisible(is_usable)
        if model is None or not is_usable:
            return
        self._identity = model.identity
        own = self._sampling.of(model.identity)
        if own is None:
            said = self.tr("New chats with it begin with the same sampling settings as with any other model.")
        else:
            said = self.tr("New chats with it begin with: {settings}").format(settings=sampling_in_words(own))
        self.words.setText(said)
        current = self._sampling.current
        for button, is_of_use in ((self.forget, own is not None), (self.take, own != current)):
            if button.hasFocus() and not is_of_use:
                self.words.setFocus()  # which say what it did: the next button would undo it
            button.setEnabled(is_of_use)
        words = self.tr("New chats with this model begin with what the open chat has now: {settings}")
        set_hint(self.take, words.format(settings=sampling_in_words(current)))


def load_words(options: LoadOptions | None) -> tuple[str, str]:
    """Return what a model is loaded with, as far as that is not the standard, and where it comes from."""
    if options is None:
        return translate("Library", "the standard options"), translate(
            "Library", "It was not loaded yet; nobody chose anything."
        )
    usual, said = LoadOptions(), []
    if options.context is not None:
        said.append(translate("Library", "context {count}").format(count=count(options.context)))
    if options.gpu_layers is not None:
        said.append(_layers(options.gpu_layers))
    if options.experts_on_cpu:
        said.append(translate("Library", "experts in main memory"))
    if (options.kv_type_k, options.kv_type_v) != (usual.kv_type_k, usual.kv_type_v):
        cache = translate("Library", "cache {keys} and {values}")
        said.append(cache.format(keys=options.kv_type_k, values=options.kv_type_v))
    if options.threads is not None:
        said.append(translate("Library", "{count} threads").format(count=count(options.threads)))
    told = msgspec.structs.replace(
        usual,
        context=options.context,
        gpu_layers=options.gpu_layers,
        experts_on_cpu=options.experts_on_cpu,
        kv_type_k=options.kv_type_k,
        kv_type_v=options.kv_type_v,
        threads=options.threads,
    )
    if options != told:
        said.append(translate("Library", "and others"))
    hint = translate("Library", "What it last loaded well with. “Load options…” changes it.")
    return ", ".join(said) or translate("Library", "the standard options"), hint


def _layers(layers: int) -> str:
    if layers == ALL_LAYERS:
        return translate("Library", "all layers on the GPU")
    return translate("Library", "{count} layers on the GPU").format(count=count(layers))
