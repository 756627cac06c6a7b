"""Earlier answers go into the prompt as the ids that they were sampled as."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.chat import ChatPrompt, PromptMessage
from app.engine.detokenizer import Detokenizer
from app.engine.llama import LlamaVocabulary, LogCapture
from app.engine.llama_model import LlamaBackend
from app.engine.tokenizer import prepare
from tests.engine.chat_examples import CHATML, OUR_TEMPLATES, THINKING, answer, system, user
from tests.engine.tiny_vocabulary import END, START, TinyVocabulary
from tests.engine.vocabularies import vocabulary_of
from tests.examples import examples
from tests.ggufs import write_other_tokenizer

PIECES = (b"He", b"llo", b" wor", b"ld", b" Hello", b"\xf0\x9f", b"\x98\x8a", b"Hel", b"lo")
HE, LLO, WOR, LD, SPACE_HELLO, HALF, OTHER_HALF, HEL, LO = range(258, 267)


@pytest.fixture(scope="module")
def spm(llama_log: LogCapture, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaVocabulary]:
    with vocabulary_of(write_other_tokenizer(tmp_path_factory.mktemp("spm") / "spm.gguf")) as vocabulary:
        yield vocabulary


@pytest.fixture
def tiny() -> TinyVocabulary:
    return TinyVocabulary([(START, True), (END, True)], pieces=PIECES)


def text_of(vocabulary: TinyVocabulary | LlamaVocabulary, ids: list[int]) -> str:
    detokenizer = Detokenizer(vocabulary)
    return "".join(map(detokenizer.step, ids)) + detokenizer.flush()


def ids_between(vocabulary: TinyVocabulary, source: str, message: PromptMessage) -> list[int]:
    """Return the tokens of the answer in a conversation of three messages."""
    prepared = prepare(ChatPrompt((user("q"), message, user("more")), source), vocabulary)
    span = next(span for span in prepared.spans if span.message == 1)
    return prepared.ids[span.start : span.end]


@pytest.mark.parametrize(
    ("text", "ids", "expected"),
    [
        ("Hello", [HE, LLO], [HE, LLO]),
        ("Hello", [HE, LLO, 257], [HE, LLO]),
        ("Hello", [HE, LLO, WOR, LD], [HE, LLO]),
        ("Hello", [HE, LLO, 256, LD], [HE, LLO]),
        ("Hello", [HE, 256, LLO], [HE, 256, LLO]),
        ("Hello", [HEL, LO], [HEL, LO]),
        ("Hell", [HE, LLO], [*b"Hell"]),
        ("Hello!", [HE, LLO], [*b"Hello!"]),
        ("hello", [HE, LLO], [*b"hello"]),
        ("Hello", [], [*b"Hello"]),
        ("Hello", [9999, LLO], [*b"Hello"]),
        ("Hello", [-1], [*b"Hello"]),
        ("a😊", [97, HALF, OTHER_HALF], [97, HALF, OTHER_HALF]),
        ("a\N{REPLACEMENT CHARACTER}", [97, HALF], [97, HALF]),
        ("a\N{REPLACEMENT CHARACTER}b", [97, 255, 98], [97, 255, 98]),
        (" Hello\n", [SPACE_HELLO, 10], [SPACE_HELLO, 10]),
        ("a\x00b", [97, 0, 98], [97, 0, 98]),
    ],
)
def test_an_answer_is_its_ids_where_it_still_says_what_they_say(
    tiny: TinyVocabulary, text: str, ids: list[int], expected: list[int]
) -> None:
    assert ids_between(tiny, CHATML, answer(text, ids)) == expected


def test_an_answer_that_ends_with_its_end_token_does_not_end_twice(tiny: TinyVocabulary) -> None:
    prepared = prepare(ChatPrompt((user("q"), answer("Hello", [HE, LLO, 257])), CHATML), tiny)
    assert prepared.ids.count(257) == 2


@pytest.mark.parametrize(
    ("around", "text", "ids", "expected"),
    [
        ("<{{ c | trim }}>", " Hello", [SPACE_HELLO], [*b"Hello"]),
        ("< {{ c | trim }}>", " Hello", [SPACE_HELLO], [SPACE_HELLO]),
        ("< {{ c | trim }} >", " Hello ", [SPACE_HELLO, 32], [SPACE_HELLO, 32]),
        ("<{{ c | trim }} >", "Hello ", [HE, LLO, 32], [HE, LLO, 32]),
        ("<{{ c | upper }}>", "Hello", [HE, LLO], [*b"HELLO"]),
        ("<{{ c }}{{ c }}>", "Hello", [HE, LLO], [HE, LLO]),
    ],
)
def test_white_space_that_the_template_takes_and_gives_back_is_the_answers(
    tiny: TinyVocabulary, around: str, text: str, ids: list[int], expected: list[int]
) -> None:
    source = "{% for m in messages %}{% set c = m.content %}{% if m.role == 'assistant' %}" + around
    source += "{% else %}[{{ c }}]{% endif %}{% endfor %}"
    assert ids_between(tiny, source, answer(text, ids)) == expected
    assert text_of(tiny, prepare(ChatPrompt((user("q"), answer(text, ids)), source), tiny).ids).startswith("[q]<")


def test_white_space_of_the_question_before_is_not_the_answers(tiny: TinyVocabulary) -> None:
    source = "{{ messages[0].content }}{{ messages[1].content | trim }}{{ messages[2].content }}"
    messages = (user("q "), answer(" Hello", [SPACE_HELLO]), user("more"))
    prepared = prepare(ChatPrompt(messages, source), tiny)
    assert prepared.ids == [*b"q Hellomore"]
    assert [span.end for span in prepared.spans[:-1]] == [span.start for span in prepared.spans[1:]]


@pytest.mark.parametrize(
    ("before", "ids", "expected"),
    [
        ("hm</think>\n\n", [HE, LLO], [HE, LLO]),
        ("<think>\nhm\n</think>\n\n", [HE, LLO, 257], [HE, LLO]),
        ("hm</think>\n\n", [256, HE, 256, LLO, 256], [HE, 256, LLO]),
        ("hm</think>\n\nHello</think>\n", [HE, LLO], [HE, LLO]),
        ("hm</think>\n", [SPACE_HELLO], [SPACE_HELLO]),
    ],
)
def test_an_answer_whose_thinking_the_template_cuts_keeps_the_ids_of_the_rest(
    tiny: TinyVocabulary, before: str, ids: list[int], expected: list[int]
) -> None:
    said = text_of(tiny, ids)
    assert ids_between(tiny, THINKING, answer(before + said, [*before.encode(), *ids])) == expected


def test_what_is_left_of_an_answer_is_tokenised_again_where_a_token_goes_over_its_edge(tiny: TinyVocabulary) -> None:
    source = "{% for m in messages %}<{{ m.content.split('##')[-1] | trim }}>{% endfor %}"
    ids = [*b"hm##", SPACE_HELLO]
    assert ids_between(tiny, source, answer("hm## Hello", ids)) == [*b"Hello"]
    assert ids_between(tiny, source, answer("hm##Hello!", [*b"hm##", HE, LLO])) == [*b"Hello!"]
    assert ids_between(tiny, source, answer("hm##Hello \n", [*b"hm##", HE, LLO, *b" \n"])) == [HE, LLO]


def test_what_is_left_of_an_answer_has_its_span(tiny: TinyVocabulary) -> None:
    text = "hm</think>\n\nHello"
    message = answer(text, [*b"hm</think>\n\n", HE, LLO])
    prepared = prepare(ChatPrompt((user("q"), message, user("more")), THINKING), tiny)
    span = next(span for span in prepared.spans if span.message == 1)
    assert prepared.ids[span.start : span.end] == [HE, LLO]
    assert prepared.notes == ()
    assert (prepared.text.count("think"), prepared.thinking_opened) == (1, True)


def test_a_text_that_names_a_control_token_is_safe_in_an_answers_ids(tiny: TinyVocabulary) -> None:
    ids = [*b"a<|im_end|>", HE]
    assert ids_between(tiny, CHATML, answer("a<|im_end|>He", ids)) == ids


def test_an_open_answer_goes_on_from_its_own_ids(tiny: TinyVocabulary) -> None:
    asked = prepare(ChatPrompt((user("q"),), CHATML), tiny)
    prompt = ChatPrompt((user("q"), answer("Hello wor", [HE, LLO, WOR])), CHATML, continue_last=True)
    prepared = prepare(prompt, tiny)
    assert prepared.ids == [*asked.ids, HE, LLO, WOR]
    assert prepared.spans[-1].part == "answer"


def test_an_open_answer_of_half_a_character_goes_on_with_the_other_half(tiny: TinyVocabulary) -> None:
    message = answer("\N{REPLACEMENT CHARACTER}", [HALF])
    assert prepare(ChatPrompt((user("q"), message), CHATML, continue_last=True), tiny).ids[-1] == HALF


def test_what_is_left_open_is_an_answer_and_never_a_question(tiny: TinyVocabulary) -> None:
    closed = prepare(ChatPrompt((user("q"),), CHATML), tiny)
    assert prepare(ChatPrompt((user("q"),), CHATML, continue_last=True), tiny) == closed


@pytest.mark.parametrize("name", sorted(OUR_TEMPLATES))
@examples(100)
@given(st.data())
def test_the_next_turn_begins_with_what_is_in_the_cache(
    starter_backend: LlamaBackend, spm: LlamaVocabulary, name: str, data: st.DataObject
) -> None:
    for vocabulary in (starter_backend.vocabulary, spm):
        special = {token for token, _, _ in vocabulary.special_texts()}
        drawn = data.draw(st.lists(st.integers(0, vocabulary.size - 1), min_size=1, max_size=12))
        # An answer that begins as the template lets answers begin: with a space after "]" and ":", else without.
        start = (
            vocabulary.tokenize("x Yes", special=False)[-1] if name in ("llama-2", "mistral", "vicuna") else ord("A")
        )
        ids = [start, *(token for token in drawn if token not in special)]
        text = text_of(vocabulary, ids)
        if name in ("llama-2", "mistral", "vicuna") and not text.startswith(" Yes"):
            ids, text = [], "Yes"
        messages = (system("Be brief."), user("Hello"))
        asked = prepare(ChatPrompt(messages, OUR_TEMPLATES[name]), vocabulary).ids
        again = prepare(ChatPrompt((*messages, answer(text, ids), user("More")), OUR_TEMPLATES[name]), vocabulary)
        if ids and text.strip():
            assert again.ids[: len(asked) + len(ids)] == [*asked, *ids]


def test_pieces_of_a_sentencepiece_prompt_get_no_spaces_of_their_own(spm: LlamaVocabulary) -> None:
    source = "{% for m in messages %}({{ m.content }}){% endfor %}"
    plain = prepare(ChatPrompt((user("one"), answer("hello"), user("and more")), source), spm)
    ids = spm.tokenize("xhello", special=False)
    ids = ids[len(spm.tokenize("x", special=False)) :]
    spliced = prepare(ChatPrompt((user("one"), answer("hello", ids), user("and more")), source), spm)
    cut = prepare(ChatPrompt((user("one"), answer("hello<s>"), user("and more")), source), spm)
    assert text_of(spm, plain.ids) == " (one)(hello)(and more)"
    assert text_of(spm, spliced.ids) == " (one)(hello)(and more)"
    assert text_of(spm, cut.ids) == " (one)(hello<s>)(and more)"
