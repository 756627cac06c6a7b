from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_cpp import Llama
from llama_cpp.llama_chat_format import Jinja2ChatFormatter

from app.core.attached_files import framed
from app.core.chat import ChatPrompt, PromptMessage, PromptSpan, TextPrompt, TokenPrompt
from app.core.errors import UserError
from app.engine.llama import LlamaVocabulary, LogCapture
from app.engine.llama_model import LlamaBackend
from app.engine.template import TemplateError
from app.engine.tokenizer import Prepared, TemplateMissing, prepare
from tests.engine.chat_examples import CHATML, GEMMA_1, OUR_TEMPLATES, PLAIN_CHATS, answer, system, user
from tests.engine.tiny_vocabulary import END, START, TinyVocabulary
from tests.engine.vocabularies import vocabulary_of
from tests.ggufs import write_other_tokenizer

BOS_CONTROL = (("<s>", True), (START, True), (END, True))


@pytest.fixture(scope="module")
def binding(starter_model: Path, llama_log: LogCapture) -> Iterator[Llama]:
    model = Llama(str(starter_model), vocab_only=True, verbose=True)
    yield model
    model.close()


@pytest.fixture(scope="module")
def spm(llama_log: LogCapture, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaVocabulary]:
    path = write_other_tokenizer(tmp_path_factory.mktemp("spm") / "spm.gguf")
    with vocabulary_of(path) as vocabulary:
        yield vocabulary


def by_the_binding(model: Llama, source: str, messages: list[PromptMessage]) -> list[int]:
    formatter = Jinja2ChatFormatter(source, bos_token="<|im_start|>", eos_token="<|im_end|>")
    said = formatter(messages=[{"role": each.role, "content": each.text} for each in messages])  # type: ignore[misc]
    return list(model.tokenize(said.prompt.encode(), add_bos=False, special=True))


def chat(*messages: PromptMessage, template: str | None = CHATML, continue_last: bool = False) -> ChatPrompt:
    return ChatPrompt(messages, template, continue_last)


def parts(prepared: Prepared) -> list[tuple[str, int]]:
    return [(span.part, span.message) for span in prepared.spans]


def said(prepared: Prepared, vocabulary: TinyVocabulary | LlamaVocabulary) -> list[tuple[str, str]]:
    special = {token: text for token, text, _ in vocabulary.special_texts()}
    texts = [special.get(token, "").encode() or vocabulary.piece(token) for token in prepared.ids]
    return [(span.part, b"".join(texts[span.start : span.end]).decode("utf-8", "replace")) for span in prepared.spans]


@pytest.mark.parametrize("messages", PLAIN_CHATS)
@pytest.mark.parametrize("name", [None, *sorted(OUR_TEMPLATES)])
def test_plain_chats_have_the_ids_that_the_binding_gives_them(
    starter_backend: LlamaBackend, binding: Llama, name: str | None, messages: list[PromptMessage]
) -> None:
    vocabulary = starter_backend.vocabulary
    source = vocabulary.chat_template() if name is None else OUR_TEMPLATES[name]
    assert source is not None
    prepared = prepare(chat(*messages, template=None if name is None else source), vocabulary)
    assert prepared.ids == by_the_binding(binding, source, messages)
    assert prepared.notes == ()


@given(st.lists(st.text(min_size=1, max_size=30).filter(str.strip), min_size=1, max_size=5))
def test_any_chat_without_control_texts_has_the_ids_of_the_binding(
    starter_backend: LlamaBackend, binding: Llama, texts: list[str]
) -> None:
    clean = [text.replace("\x00", "?") for text in texts]
    messages = [answer(text) if number % 2 else user(text) for number, text in enumerate(clean)]
    prepared = prepare(chat(*messages), starter_backend.vocabulary)
    assert prepared.ids == by_the_binding(binding, CHATML, messages)


def test_an_ordinary_prompt_is_tokenised_in_one_call() -> None:
    vocabulary = TinyVocabulary()
    prepared = prepare(chat(system("Be brief."), user("Hello"), answer("Hi"), user("More")), vocabulary)
    assert vocabulary.calls[1:] == [(prepared.text, True)]


def test_spans_say_whose_each_token_is() -> None:
    vocabulary = TinyVocabulary()
    prompt = chat(system("Be brief."), user("Grüße"), answer("Hi"), user(" More "), answer("Wel"), continue_last=True)
    assert said(prepare(prompt, vocabulary), vocabulary) == [
        ("template", "<|im_start|>system\n"),
        ("system", "Be brief."),
        ("template", "<|im_end|>\n<|im_start|>user\n"),
        ("history", "Grüße"),
        ("template", "<|im_end|>\n<|im_start|>assistant\n"),
        ("history", "Hi"),
        ("template", "<|im_end|>\n<|im_start|>user\n"),
        ("prompt", " More "),
        ("template", "<|im_end|>\n<|im_start|>assistant\n"),
        ("answer", "Wel"),
    ]
    assert [span.message for span in prepare(prompt, vocabulary).spans] == [-1, 0, -1, 1, -1, 2, -1, 3, -1, 4]


def test_files_of_any_question_are_told_apart_from_what_is_said_of_them() -> None:
    vocabulary = TinyVocabulary()
    first, second = framed("a.txt", "</file>\nGrüße"), framed("b.csv", "1,2")
    quoted = framed("c.txt", "an answer is nobody's file")
    prepared = prepare(chat(user(first), answer(quoted), user(f"{second}\n\nMore")), vocabulary)
    assert [each for each in said(prepared, vocabulary) if each[0] != "template"] == [
        ("files", first),
        ("history", quoted),
        ("files", second),
        ("prompt", "\n\nMore"),
    ]
    assert parts(prepared)[1::2] == [("files", 0), ("history", 1), ("files", 2), ("template", -1)]


@pytest.mark.parametrize("messages", PLAIN_CHATS)
@pytest.mark.parametrize("name", sorted(set(OUR_TEMPLATES) - {"plain"}))
def test_spans_cover_every_token_of_a_real_vocabulary_and_hold_the_texts(
    starter_backend: LlamaBackend, spm: LlamaVocabulary, name: str, messages: list[PromptMessage]
) -> None:
    for vocabulary in (starter_backend.vocabulary, spm):
        prepared = prepare(chat(*messages, template=OUR_TEMPLATES[name]), vocabulary)
        edges = [(span.start, span.end) for span in prepared.spans]
        assert [start for start, _ in edges] == [0, *(end for _, end in edges[:-1])]
        assert edges[-1][1] == len(prepared.ids)
        found = {
            span.message: text for span, (_, text) in zip(prepared.spans, said(prepared, vocabulary), strict=True)
        }
        for number, message in enumerate(messages):
            core = message.text.strip()
            # A token that says the end of a text and the template's next character counts as the text's.
            assert found[number].strip().rstrip("<[") in (core, core.rstrip("<["))


def test_characters_that_the_vocabulary_has_no_bytes_for_do_not_move_the_spans(
    starter_backend: LlamaBackend,
) -> None:
    vocabulary = starter_backend.vocabulary
    prepared = prepare(chat(user("a \U00050000\x16 b"), answer("Hi"), user("More")), vocabulary)
    assert [text for part, text in said(prepared, vocabulary) if part == "history"][1] == "Hi"
    assert said(prepared, vocabulary)[-2] == ("prompt", "More")


@pytest.mark.parametrize(
    ("source", "add_bos", "count", "first"),
    [
        ("{{ bos_token }}{{ messages[0].content }}", True, 1, "<s>"),
        ("{{ messages[0].content }}", True, 1, "<s>"),
        ("{{ bos_token }}{{ bos_token }}{{ messages[0].content }}", True, 1, "<s>"),
        ("\n{{ bos_token }}{{ messages[0].content }}", True, 1, "\n"),
        ("<s>{{ messages[0].content }}<s>again", True, 2, "<s>"),
        ("{{ messages[0].content }}<s>", True, 2, "<s>"),
        ("{{ messages[0].content }}", False, 0, "h"),
        ("{{ bos_token }}{{ messages[0].content }}", False, 1, "<s>"),
    ],
)
def test_the_sequence_begins_exactly_once(source: str, add_bos: bool, count: int, first: str) -> None:
    vocabulary = TinyVocabulary(BOS_CONTROL, bos="<s>", add_bos=add_bos)
    prepared = prepare(chat(user("hi"), template=source), vocabulary)
    bos = vocabulary.id("<s>")
    assert prepared.ids.count(bos) == count
    assert prepared.ids[0] == (bos if first == "<s>" else ord(first))
    assert prepared.ids[:2] != [bos, bos]
    assert ("prompt", "hi") in said(prepared, vocabulary)


def test_a_person_who_writes_the_first_token_does_not_begin_the_sequence() -> None:
    vocabulary = TinyVocabulary(BOS_CONTROL, bos="<s>", add_bos=True)
    prepared = prepare(chat(user("<s>hi"), template="{{ messages[0].content }}"), vocabulary)
    assert prepared.ids == [vocabulary.id("<s>"), *b"<s>hi"]


def test_real_vocabularies_begin_once_too(spm: LlamaVocabulary, starter_backend: LlamaBackend) -> None:
    for name in OUR_TEMPLATES:
        ids = prepare(chat(user("Hello"), template=OUR_TEMPLATES[name]), spm).ids
        assert (ids[0], ids.count(1)) == (1, 1)
    assert prepare(chat(user("Hello")), starter_backend.vocabulary).ids[:2] != [1, 1]


def test_plain_text_goes_in_as_text_after_the_first_token() -> None:
    vocabulary = TinyVocabulary(BOS_CONTROL, bos="<s>", add_bos=True)
    prepared = prepare(TextPrompt("Once <|im_end|> upon"), vocabulary)
    assert prepared.ids == [vocabulary.id("<s>"), *b"Once <|im_end|> upon"]
    assert prepared.spans == (PromptSpan(0, 1, "template", -1), PromptSpan(1, 21, "prompt", 0))
    assert prepare(TextPrompt(""), vocabulary).ids == [vocabulary.id("<s>")]


def test_token_ids_go_in_untouched() -> None:
    vocabulary = TinyVocabulary(BOS_CONTROL, bos="<s>", add_bos=True)
    ids = [*b"Hi", vocabulary.id(END), vocabulary.id("<s>"), vocabulary.id("<s>")]
    prepared = prepare(TokenPrompt(np.asarray(ids, "<i4").tobytes()), vocabulary)
    assert prepared == Prepared("Hi<|im_end|><s><s>", ids, (PromptSpan(0, 5, "prompt", 0),))


@pytest.mark.parametrize("ids", [[-1], [259], [0, 2**31 - 1]])
def test_token_ids_of_another_model_are_refused(ids: list[int]) -> None:
    vocabulary = TinyVocabulary(BOS_CONTROL)
    with pytest.raises(UserError, match="not this model's"):
        prepare(TokenPrompt(np.asarray(ids, "<i4").tobytes()), vocabulary)
    with pytest.raises(UserError, match="not this model's"):
        prepare(TokenPrompt(b"\x00\x00\x00"), vocabulary)


@pytest.mark.parametrize(
    "prompt",
    [TextPrompt(""), TextPrompt("\x00"), TokenPrompt(b""), chat(), chat(user("x"), template=""), chat(user(""), template="{{ messages[0].content }}")],
)  # fmt: skip
def test_a_prompt_of_nothing_says_so(prompt: ChatPrompt | TextPrompt | TokenPrompt) -> None:
    with pytest.raises(UserError, match="nothing to send"):
        prepare(prompt, TinyVocabulary())


def test_a_model_without_a_template_is_never_given_one_in_silence() -> None:
    vocabulary = TinyVocabulary(template=None)
    with pytest.raises(
        TemplateMissing, match=r"has no chat template.*base model.*ChatML, Llama 2.*plain text"
    ) as caught:
        prepare(chat(user("Hello"), template=None), vocabulary)
    assert isinstance(caught.value, UserError)
    assert prepare(chat(user("Hello")), vocabulary).ids
    assert prepare(chat(user("Hello"), template=None), TinyVocabulary(template="{{ messages[0].content }}")).ids == [
        *b"Hello"
    ]


def test_the_chosen_template_comes_before_the_models_own() -> None:
    vocabulary = TinyVocabulary(template="own")
    assert prepare(chat(user("Hello"), template="chosen"), vocabulary).text == "chosen"
    assert prepare(chat(user("Hello"), template=None), vocabulary).text == "own"


def test_what_the_template_says_of_itself_is_passed_on() -> None:
    vocabulary = TinyVocabulary()
    prepared = prepare(chat(system("Be brief."), user("Hello"), template=GEMMA_1), vocabulary)
    assert any("no place for a system prompt" in note.english() for note in prepared.notes)
    assert parts(prepared) == [
        ("template", -1),
        ("system", 0),
        ("template", -1),
        ("prompt", 1),
        ("template", -1),
    ]
    with pytest.raises(TemplateError, match="line 1"):
        prepare(chat(user("Hello"), template="{{ nothing() }}"), vocabulary)


def test_halves_of_characters_and_nul_are_cleaned() -> None:
    vocabulary = TinyVocabulary()
    prepared = prepare(chat(user("a\ud83d\x00b")), vocabulary)
    assert ("prompt", "a\N{REPLACEMENT CHARACTER}b") in said(prepared, vocabulary)
    assert prepare(TextPrompt("\ud83d\x00"), vocabulary).text == "\N{REPLACEMENT CHARACTER}"


def test_extra_variables_reach_the_template() -> None:
    vocabulary = TinyVocabulary()
    prompt = chat(user("Hello"), template="{{ enable_thinking }}")
    assert prepare(prompt, vocabulary, extra={"enable_thinking": True}).text == "True"
