"""An engine that a test leads by the hand: it notes commands and says what the test wants it to say."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TypeVar

import msgspec

from app.core.cache_shape import AttentionShape, CacheClass
from app.core.chat import ChatPrompt, PromptSpan
from app.core.commands import Cancel, ChangeSettings, Command, Compare, Generate, Load, SettingsChange
from app.core.events import (
    EngineGone,
    Event,
    Failed,
    FailureKind,
    Finished,
    GrammarMask,
    Held,
    Loaded,
    LoadProgress,
    PrefillProgress,
    PromptReady,
    Tokens,
    Unloaded,
)
from app.core.metrics import ItlQuantiles, KVUse, Metrics, StopReason, TtftParts
from app.core.model import CacheSizes, ModelInfo
from app.core.model_shape import ModelShape, Range
from app.core.words import Sentence, translate
from tests.fake_lanes import FakeLanes

_Kind = TypeVar("_Kind", bound=Command)
CONTEXT = 4096
VOCABULARY = 49_152
MILLISECOND_NS = 1_000_000


def model_info(path: str, context: int = CONTEXT) -> ModelInfo:
    """Return what an engine would say of a model."""
    return ModelInfo(
        path=path,
        name=Path(path).stem,
        architecture="llama",
        description="llama 135M Q4_1",
        parameters=134_515_008,
        weight_bytes=98_000_000,
        weight_bytes_per_token=98_000_000,
        quantisation="Q4_1",
        trained_context=8192,
        context=context,
        layers=30,
        vocabulary=VOCABULARY,
        chat_template="{{ messages }}",
        license="apache-2.0",
        kv_bytes=context * 23_040,
        cache=CacheSizes(full=context * 23_040),
        cache_classes=(CacheClass(context, 30, "f16", context * 11_520, "f16", context * 11_520),),
        attention=AttentionShape(3, 64, 64, 64, 64),
        shape=ModelShape(576, Range(9, 9), Range(3, 3), Range(1536, 1536)),
        threads=2,
        gpu_layers=0,
        devices=("CPU",),
        system_info="",
        load_ms=400.0,
    )


def metrics(tokens: int, prompt: int = 40, cached: int = 12) -> Metrics:
    """Return plausible figures of an answer."""
    cells = prompt + tokens  # as after an answer that is stopped while it is held: its last token was read, too
    return Metrics(
        ttft_ms=112.4,
        ttft_parts_ms=TtftParts(0.1, 0.8, 96.0, 12.0, 0.0),
        prompt_tokens=prompt,
        prompt_tokens_from_cache=cached,
        prefill_tokens_per_s=131.2 if prompt - cached >= 16 else None,
        decode_tokens_per_s=77.6 if tokens > 1 else None,
        sampled_tokens=tokens,
        itl_ms=ItlQuantiles(13.0, 15.0, 19.0) if tokens > 1 else None,
        kv=KVUse(cells, CONTEXT, cells * 23_040),
        memory=(),
        traffic_gb_per_s=7.6,
    )


@cache
def _falling_row() -> tuple[bytes, float]:
    """Return a row of logits that fall from token to token, and the logarithm of the sum of their exponentials."""
    logits = array("f", [-0.5 * token if token < 200 else -100.0 for token in range(VOCABULARY)])
    return logits.tobytes(), math.log(sum(map(math.exp, logits)))


class FakeEngine:
    """Implements `EnginePort` without a process."""

    def __init__(self, sink: Callable[[Event], None]) -> None:
        self._sink = sink
        self._request = 0
        self._text: dict[int, str] = {}
        self._count: dict[int, int] = {}
        self._prompt: dict[int, int] = {}
        self._clock_ns: dict[int, int] = {}
        self._lanes: FakeLanes | None = None
        self.sent: list[Command] = []
        self.unloaded = 0
        self.closed = False
        self.alive = False
        self.on_command: Callable[[Command], None] = lambda _command: None
        """What happens when a command comes."""

    @property
    def running(self) -> bool:
        return self.alive

    def new_request(self) -> int:
        self._request += 1
        return self._request

    def send(self, command: Command) -> None:
        self.alive = True
        self.sent.append(command)
        self.on_command(command)

    def unload(self) -> None:
        self.alive = False
        self.unloaded += 1
        self._sink(Unloaded())

    def close(self) -> None:
        self.alive = False
        self.closed = True

    def all(self, kind: type[_Kind]) -> list[_Kind]:
        """Return the commands of a kind, oldest first."""
        return [command for command in self.sent if isinstance(command, kind)]

    @property
    def load(self) -> Load:
        return self.all(Load)[-1]

    @property
    def question(self) -> Generate:
        return self.all(Generate)[-1]

    @property
    def chat(self) -> ChatPrompt:
        """The conversation that was sent last."""
        prompt = self.question.prompt
        assert isinstance(prompt, ChatPrompt)
        return prompt

    @property
    def lanes(self) -> FakeLanes:
        """The comparison that was asked for last."""
        command = self.all(Compare)[-1]
        if self._lanes is None or self._lanes.command is not command:
            self._lanes = FakeLanes(command, self._sink, metrics)
        return self._lanes

    @property
    def cancelled(self) -> list[int]:
        return [command.request for command in self.all(Cancel)]

    @property
    def moved_settings(self) -> list[ChangeSettings]:
        return self.all(ChangeSettings)

    def say(self, event: Event) -> None:
        """Say something; what is written after a prompt lies behind it in the cells."""
        if isinstance(event, PromptReady):
            self._prompt[event.request] = len(event.ids) // 4
        self._sink(event)

    def progress(self, percent: float) -> None:
        self._sink(LoadProgress(self.load.request, percent))

    def loaded(self, request: int | None = None, context: int = CONTEXT, remarks: tuple[Sentence, ...] = ()) -> None:
        load = next(load for load in self.all(Load) if request in (None, load.request))
        if request is None:
            load = self.load
        model = msgspec.structs.replace(model_info(load.path, context), remarks=remarks)
        self._sink(Loaded(load.request, model))

    def prompt(
        self,
        tokens: int = 40,
        cached: int = 12,
        *,
        dropped: tuple[int, ...] = (),
        answer: tuple[int, ...] = (),
        seed: int | None = 7,
        files: tuple[int, ...] = (),
    ) -> None:
        """Let the prompt be ready: so many tokens, without messages that are dropped, and those of an answer behind it.

        It begins with files of so many tokens each.
        """
        request, total = self.question.request, tokens + len(answer)
        ids = array("i", (*range(tokens), *answer)).tobytes()
        ends = (0, *accumulate(files))
        spans: list[PromptSpan] = [PromptSpan(start, end, "files", 0) for start, end in pairwise(ends)]
        spans.append(PromptSpan(ends[-1], tokens, "prompt", 0))
        if answer:
            spans.append(PromptSpan(tokens, total, "answer", 1))
        self.say(PromptReady(request, ids, tuple(spans), cached, 0, dropped=dropped, seed=seed))
        self._sink(PrefillProgress(request, total, total, cached, 0))

    @property
    def written(self) -> int:
        """How many tokens the answer has that is being written."""
        return self._count.get(self.question.request, 0)

    def hold(self, grammar: GrammarMask | None = None, refused: Sentence | None = None) -> None:
        """Let the answer wait before its next token, of which 0, 1, 2 … are the most likely."""
        logits, log_sum_exp = _falling_row()
        self._sink(Held(self.question.request, self.written, logits, log_sum_exp, grammar, refused))

    def write(
        self, text: str, count: int = 1, step_ms: int = 13, *, token: int | None = None, held_ns: int = 0
    ) -> None:
        """Let some tokens with a text follow; `token` is the first of them, else they are counted."""
        request = self.question.request
        first = self._count.get(request, 0)
        self._count[request] = first + count
        self._text[request] = self._text.get(request, "") + text
        first_ns = (
            self._clock_ns.get(request, self.question.sent_ns + 100 * MILLISECOND_NS) + step_ms * MILLISECOND_NS
        )
        last_ns = first_ns + (count - 1) * step_ms * MILLISECOND_NS
        self._clock_ns[request] = last_ns
        begin = first if token is None else token
        ids = array("i", range(begin, begin + count)).tobytes()
        self._sink(
            Tokens(
                request=request,
                first=first,
                count=count,
                ids=ids,
                text=text,
                record=b"",
                cells_used=self._prompt.get(request, 40) + first + count - 1,  # the one drawn last is in none yet
                last_ns=last_ns,
                first_ns=first_ns,
                held_ns=held_ns,
            )
        )

    def finish(self, reason: StopReason = "end", rest: str = "") -> None:
        question = self.question
        count = self._count.get(question.request, 0)
        self._sink(
            Finished(
                request=question.request,
                text=self._text.get(question.request, "") + rest,
                ids=array("i", range(count)).tobytes(),
                stop_reason=reason,
                metrics=metrics(count),
                seed=7,
                settings=(SettingsChange(question.first_token, question.settings),),
            )
        )

    def fail(self, kind: FailureKind, request: int | None = None, text: str = "It does not work.") -> None:
        self._sink(Failed(request or self.question.request, kind, translate("Test", text), ("a line of a log",)))

    def die(self, *requests: int) -> None:
        self.alive = False
        sentence = translate("Test", "The engine stopped (SIGKILL). Your chat is safe.")
        self._sink(EngineGone(-9, requests, sentence, ("a line of a log",)))
