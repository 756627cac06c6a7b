"""Conversations made by chance, as whole values: trees, lanes, prompts that build on others, files."""

from __future__ import annotations

from typing import Literal

from hypothesis import strategies as st

from app.core.chat import PromptSpan, clean_text
from app.core.commands import SettingsChange
from app.core.comparison import Comparison
from app.core.conversation import Conversation, Message, StoredAnswer, Thinking
from app.core.metrics import DeviceMemory, ItlQuantiles, KVUse, Metrics, TtftParts
from app.core.model import ModelRef
from app.core.sampling import SamplingSettings
from app.core.whole_chat import WholeAnswer, WholeChat, WholeFile, WholePrompt, WholeStretch
from app.core.words import translate
from tests.store.shelf import ids

MODEL = ModelRef(7, "abc", "ö.gguf", "owner/name", "main", "f" * 64)
METRICS = Metrics(
    ttft_ms=12.5,
    ttft_parts_ms=TtftParts(0.1, 0.2, 3.0, None, None, save=1.5, paint=None),
    prompt_tokens=10,
    prompt_tokens_from_cache=3,
    prefill_tokens_per_s=None,
    decode_tokens_per_s=31.25,
    sampled_tokens=4,
    itl_ms=ItlQuantiles(1.0, 2.0, 3.0),
    kv=KVUse(10, 20, None),
    memory=(DeviceMemory("CPU", 1, 2, None),),
    traffic_gb_per_s=None,
)
WORDS = st.text(max_size=30).map(clean_text)
LINES = WORDS.map(lambda text: " ".join(text.split()))
_TOKENS = st.lists(st.integers(0, 2**31 - 1), max_size=5).map(lambda tokens: ids(*tokens))
_STRETCHES = st.lists(
    st.builds(WholeStretch, WORDS, _TOKENS, st.lists(st.binary(min_size=1, max_size=9), max_size=2).map(tuple)),
    max_size=3,
).map(tuple)
_SETTINGS = st.builds(
    SamplingSettings,
    temperature=st.floats(0.0, 5.0),
    top_k=st.integers(0, 200),
    stop=st.just(("\n\n", "ö")),
).map(SamplingSettings.validated)


@st.composite
def whole_chats(draw: st.DrawFn, first: int = 1) -> WholeChat:
    """Return a conversation whose ids grow from `first` on."""
    messages: list[Message] = []
    answers: list[WholeAnswer] = []
    comparison: Comparison | None = None
    files: list[WholeFile] = []
    for number in range(draw(st.integers(0, 8))):
        parent = draw(st.sampled_from([None, *messages]))
        key = first + 1 + number
        role: Literal["user", "assistant"] = "user" if draw(st.booleans()) else "assistant"
        above = parent.id if parent is not None else None
        messages.append(
            Message(key, first, above, role, draw(WORDS), draw(st.integers(0, 2**41)), None, draw(st.booleans()))
        )
        if role == "user" and draw(st.booleans()):
            files.append(WholeFile(key, draw(WORDS), draw(WORDS), draw(st.none() | st.integers(0, 99))))
        if role == "assistant" and draw(st.booleans()):
            answers.append(_answer(draw, key, answers))
    is_compared = draw(st.booleans())
    if answers and is_compared:
        lanes = tuple(each.answer.message for each in answers)
        key = first + 20
        comparison = Comparison(key, first, None, 5, lanes, kept=(0,))
        answers = [_lane(each, key, number) for number, each in enumerate(answers)]
    head = Conversation(
        first,
        draw(LINES),
        draw(st.integers(0, 2**41)),
        draw(st.integers(0, 2**41)),
        draw(_SETTINGS),
        draw(WORDS),
        draw(st.none() | st.just(MODEL)),
        messages[-1].id if messages else None,
        draw(LINES),
        draw(st.booleans()),
    )
    return WholeChat(head, tuple(messages), tuple(answers), (comparison,) if comparison else (), tuple(files))


def _answer(draw: st.DrawFn, key: int, earlier: list[WholeAnswer]) -> WholeAnswer:
    answer = StoredAnswer(
        message=key,
        state=draw(st.sampled_from(("done", "interrupted"))),
        model=draw(st.none() | st.just(MODEL)),
        model_name=draw(WORDS),
        tokenizer=draw(WORDS),
        settings=draw(st.just(()) | _SETTINGS.map(lambda settings: (SettingsChange(0, settings),))),
        seed=draw(st.none() | st.integers(0, 2**32 - 1)),
        metrics=draw(st.none() | st.just(METRICS)),
        ttft_ms=draw(st.none() | st.floats(0, 1e6, width=32)),
        stop_reason=draw(st.none() | st.sampled_from(("end", "length", "cancelled"))),
        reason=draw(st.none() | st.just(translate("Chat", "It ended at {what}.", what="ö"))),
        notes=draw(st.just(()) | st.just((translate("Chat", "{n} more", n=3),))),
        thinking=draw(st.none() | st.just(Thinking(opened=True, tokens=7, ms=12.5))),
    )
    base = draw(st.sampled_from([None, *(each for each in earlier if each.prompt is not None)]))
    prompt = None
    if draw(st.booleans()):
        span = PromptSpan(0, 2, "history", 0)
        prompt = WholePrompt(draw(_TOKENS), (span,), dropped=draw(st.sampled_from(((), (0, 1, 3)))))
        if base is not None and base.prompt is not None:
            shared = len(base.prompt.ids) // 4 if base.prompt.base is None else 0
            prompt = WholePrompt(prompt.ids, (span,), base.answer.message, shared, 0, prompt.dropped)
    return WholeAnswer(answer, draw(_STRETCHES), prompt)


def _lane(whole: WholeAnswer, comparison: int, number: int) -> WholeAnswer:
    values = {name: getattr(whole.answer, name) for name in whole.answer.__struct_fields__}
    return WholeAnswer(
        StoredAnswer(**{**values, "comparison": comparison, "lane": number}), whole.stretches, whole.prompt
    )
