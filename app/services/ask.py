"""One question from the command line: take a model, load it, ask, and pass on what happens.

Prints nothing and keeps nothing: the model's remembered options and its own sampling settings are used and not changed.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from app.core.attached_files import framed, joined
from app.core.chat import ChatPrompt, Prompt, PromptMessage, TextPrompt, clean_text
from app.core.events import Failed, Finished, Loaded, LoadProgress
from app.core.sampling import SamplingSettings
from app.core.signal import Signal
from app.services.ask_options import AskOptions
from app.services.engine_session import EngineSession
from app.services.grammar_files import read_grammar
from app.services.load_check import CheckModel
from app.services.model_sampling import own_sampling
from app.services.models import Models
from app.services.questions import AnswerEvent
from app.services.reading_files import document_text
from app.services.templates import Templates
from app.services.wishes import Question, Wish
from app.system.settings_file import SettingsFile


class Ask:
    """Runs one question to its end."""

    def __init__(
        self,
        session: EngineSession,
        models: Models,
        templates: Templates,
        settings: SettingsFile,
        check: CheckModel,
    ) -> None:
        self.told: Signal[LoadProgress | Loaded | AnswerEvent] = Signal()
        """Everything that happens, in order; `Finished` or a `Failed` is the last of it."""
        self._session = session
        self._models = models
        self._templates = templates
        self._settings = settings
        self._check = check
        self._request: int | None = None
        self._outcome: Finished | Failed | None = None
        self._sent_ns: int | None = None
        session.load_told.connect(self._take_load)
        session.answer_told.connect(self._take)
        session.sent.connect(self._take_sent)

    @property
    def outcome(self) -> Finished | Failed | None:
        """How it ended; None while it has not."""
        return self._outcome

    @property
    def sent_ns(self) -> int | None:
        """When the question went to the loaded model (`perf_counter_ns`)."""
        return self._sent_ns

    def begin(self, options: AskOptions) -> None:
        """Start; raises the sentence that says why it cannot even begin."""
        grammar = read_grammar(*options.grammar) if options.grammar is not None else None
        path = options.model if options.model is not None else self._models.to_start_with()
        settings = options.settings(self._own(path) if options.preset is None else None)
        if grammar is not None:
            settings = msgspec.structs.replace(settings, grammar=grammar)
        prompt = self._prompt(options, _with_files(options))
        self._session.use(Wish(path, options.load, remember=False, anyway=options.load_anyway))
        self._request = self._session.new_request()
        self._session.ask(Question(self._request, prompt, settings, record="off"))

    def cancel(self) -> None:
        """End the question in whatever phase it is; what was written stays."""
        if self._request is not None and self._outcome is None:
            self._session.cancel(self._request)

    def _own(self, path: Path) -> SamplingSettings | None:
        """Return what people set for this model alone; its file is looked at only where they did that for any."""
        if not any(kept.sampling is not None for kept in self._settings.values.models.values()):
            return None
        _, ref = self._check(path)
        return own_sampling(self._settings, ref.identity) if ref is not None else None

    def _prompt(self, options: AskOptions, text: str) -> Prompt:
        if options.raw:
            return TextPrompt(text)
        template = self._templates.named_or_file(options.template) if options.template is not None else None
        messages = [PromptMessage("user", text)]
        if options.system.strip():
            messages.insert(0, PromptMessage("system", clean_text(options.system)))
        return ChatPrompt(tuple(messages), template)

    def _take_load(self, event: LoadProgress | Loaded | Failed) -> None:
        if not isinstance(event, Failed):
            self.told.emit(event)

    def _take_sent(self, request: int, now_ns: int) -> None:
        if request == self._request:
            self._sent_ns = now_ns

    def _take(self, event: AnswerEvent) -> None:
        if event.request != self._request:
            return
        if isinstance(event, Finished | Failed):
            self._outcome = event
        self.told.emit(event)


def _with_files(options: AskOptions) -> str:
    """Return the question behind its files; raises the sentence that says why one of them cannot be read."""
    files = [framed(path.name, document_text(path)) for path in options.files]
    question = clean_text(options.prompt)
    return joined((*files, question)) if files else question
