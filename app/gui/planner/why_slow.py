"""Why the last answer of the loaded model was slow: the sentence, what it rests on, and the change that would help most."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QPushButton, QSizePolicy, QVBoxLayout

from app.gui import theme
from app.gui.widgets.diagnosis_details import DiagnosisDetails
from app.gui.widgets.labels import label
from app.gui.widgets.memory_speed import MemorySpeedRow
from app.gui.widgets.words import render
from app.services.last_answer import LastAnswer


class WhySlow(QFrame):
    """Follows the service while it is seen."""

    chat_wanted = Signal()
    """Somebody wants to go to the chat."""
    remedy_wanted = Signal(object)
    """Somebody wants the change that would help most, a `Remedy`."""

    def __init__(self, last: LastAnswer, measuring: MemorySpeedRow) -> None:
        """`measuring` has the memory measured that some of the figures rest on."""
        super().__init__()
        self.setObjectName("plan_why")
        self.setAccessibleName(self.tr("Why was the last answer slow?"))
        self.setProperty("look", "card")
        self._last = last
        self._measuring = measuring
        self._head = label(self.tr("Why was the last answer slow?"), bold=True, name="plan_why_head")
        self._whose = label(look="muted", pixels=theme.SMALL_PX, name="plan_why_model")
        self._sentence = label(name="plan_why_sentence")
        self.details = DiagnosisDetails("plan_why_details")
        self.details.add(measuring)
        self._chat = QPushButton(self.tr("Go to the chat"))
        self._chat.setObjectName("plan_why_chat")
        self._chat.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._chat.clicked.connect(lambda _checked=False: self.chat_wanted.emit())
        self.details.remedy_wanted.connect(self.remedy_wanted)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        column.setSpacing(theme.SPACE_S)
        for text in (self._head, self._whose, self._sentence):
            text.setWordWrap(True)
            text.setMinimumWidth(1)
        for each in (self._head, self._sentence, self._whose, self.details, self._chat):
            column.addWidget(each)
        self._disconnect = last.changed.connect(self._want)
        self._show()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self._measuring.disconnect_services()
        self._disconnect()

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what came meanwhile."""
        super().showEvent(event)
        self._show()

    def _want(self) -> None:
        if self.isVisible():
            self._show()

    def _show(self) -> None:
        diagnosis, model = self._last.diagnosis, self._last.model
        self._sentence.setText(render(diagnosis.sentence) if diagnosis is not None else self._nothing(model))
        self._sentence.setProperty("look", "" if diagnosis is not None else "muted")
        self._sentence.style().polish(self._sentence)
        self._whose.setVisible(diagnosis is not None)
        if diagnosis is not None:
            self._whose.setText(self.tr("The latest answer of {model}, which is loaded").format(model=model))
        self.details.show_diagnosis(diagnosis)
        self.details.setVisible(diagnosis is not None)
        self._chat.setVisible(diagnosis is None)

    def _nothing(self, model: str | None) -> str:
        if model is None:
            return self.tr("No model is loaded: load one and ask it something, and this says where the time went.")
        words = self.tr(
            "{model} has finished no answer since Tokenlight started, and there is none in the open chat: ask it something, or "
            "open a chat that it answered in, and this says where the time went."
        )
        return words.format(model=model)
