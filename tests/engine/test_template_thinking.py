"""Templates that know of thinking: what earlier answers thought is left out as they say, and nobody is told nonsense."""

from __future__ import annotations

import pytest

from app.core.chat import ChatPrompt, PromptMessage
from app.engine.template import Rendered, render
from app.engine.tokenizer import Prepared, prepare
from tests.engine.chat_examples import CHATML, answer, user
from tests.engine.tiny_vocabulary import END, START, TinyVocabulary

LATER = (
    "{% set ns = namespace(last=-1) %}{% for m in messages[::-1] %}"
    "{% if ns.last < 0 and m.role == 'user' and m.content is string"
    " and not m.content.startswith('<tool_response>') %}"
    "{% set ns.last = messages | length - 1 - loop.index0 %}{% endif %}{% endfor %}"
    "{% for m in messages %}{% set content = m.content %}{% set reason = '' %}{% if m.role == 'assistant' %}"
    "{% if m.reasoning_content is string %}{% set reason = m.reasoning_content %}"
    "{% elif '</think>' in content %}"
    "{% set reason = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}"
    "{% set content = content.split('</think>')[-1].lstrip('\\n') %}{% endif %}"
    "{% if loop.index0 > ns.last %}{% set content = '<think>\\n' ~ reason.strip('\\n') ~ '\\n</think>\\n\\n' ~ content %}"
    "{% endif %}{% endif %}"
    "{{ '<|im_start|>' ~ m.role ~ '\\n' ~ content ~ '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}"
    "{% if enable_thinking is defined and enable_thinking is false %}{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}"
    "{% endif %}"
)
"""Keeps the thinking only behind the last question."""

OPENS = (
    "{% for m in messages %}{% if m['role'] == 'user' %}{{ '<|User|>' ~ m['content'] }}"
    "{% elif m['role'] == 'assistant' %}{% set content = m['content'] %}"
    "{% if '</think>' in content %}{% set content = content.split('</think>')[-1] %}{% endif %}"
    "{{ '<|Assistant|>' ~ content ~ '<|end|>' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|Assistant|><think>\\n' }}{% endif %}"
)
"""Opens the thinking itself."""

FIELD = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.role == 'assistant' %}{% set kept = m.reasoning_content or '' if loop.last else '' %}"
    "{{ '<think>' ~ kept ~ '</think>' ~ m.content }}{% else %}{{ m.content }}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""Has a field for the thinking, and cuts nothing out of the text."""

CHANNELS = (
    "{% for m in messages %}{% if m.role == 'assistant' %}"
    "{% if '<|channel|>analysis<|message|>' in m.content %}{{ raise_exception('Put it into the field') }}{% endif %}"
    "{% if 'thinking' in m and loop.last %}<|start|>assistant<|channel|>analysis<|message|>{{ m.thinking }}<|end|>"
    "{% endif %}<|start|>assistant<|channel|>final<|message|>{{ m.content }}<|end|>"
    "{% else %}<|start|>{{ m.role }}<|message|>{{ m.content }}<|end|>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant{% endif %}"
)
"""Refuses the thinking in the text."""

KEEPS_FIELD = (
    "{% for m in messages %}[{{ m.role }}]{% if m.reasoning_content %}({{ m.reasoning_content }}){% endif %}"
    "{{ m.content }}{% endfor %}"
)

SPECIALS = (
    (START, True),
    (END, True),
    ("<|start|>", False),
    ("<|channel|>", False),
    ("<|message|>", False),
    ("<|end|>", True),
)


def rendered(source: str, *messages: PromptMessage, **options: object) -> Rendered:
    return render(source, messages, bos="", eos="", **options)  # type: ignore[arg-type]


def held(prompt: Rendered) -> list[tuple[int, str]]:
    return [(span.message, prompt.text[span.start : span.end]) for span in prompt.spans]


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        (LATER, "<think>\nlet me see\n</think>\n\nYes.", "<|im_start|>assistant\nYes.<|im_end|>"),
        (LATER, "let me see\n</think>\n\nYes.", "<|im_start|>assistant\nYes.<|im_end|>"),
        (OPENS, "let me see\n</think>\n\nYes.", "<|Assistant|>\n\nYes.<|end|>"),
        (FIELD, "<think>let me see</think>\n\nYes.", "assistant\n<think></think>Yes.<|im_end|>"),
        (
            CHANNELS,
            "<|channel|>analysis<|message|>let me see<|end|><|start|>assistant<|channel|>final<|message|>Yes.",
            "<|start|>assistant<|channel|>final<|message|>Yes.<|end|>",
        ),
    ],
)
def test_the_next_prompt_has_no_thinking_where_the_template_says_so(source: str, text: str, expected: str) -> None:
    prompt = rendered(source, user("q"), answer(text), user("more"))
    assert expected in prompt.text
    assert "let me see" not in prompt.text
    assert next(text for message, text in held(prompt) if message == 1).strip() == "Yes."
    assert (prompt.notes, prompt.doubtful) == ((), ())


@pytest.mark.parametrize("source", [LATER, OPENS, FIELD, CHANNELS])
def test_an_answer_that_did_not_think_stays_as_it_is(source: str) -> None:
    prompt = rendered(source, user("q"), answer("Yes, `</think>` it is."), user("more"))
    assert held(prompt)[0] == (0, "q")
    assert held(prompt)[-1] == (2, "more")
    assert prompt.notes == ()


def test_a_template_that_says_nothing_of_thinking_gets_all_of_it() -> None:
    text = "<think>\nlet me see\n</think>\n\nYes."
    assert held(rendered(CHATML, user("q"), answer(text), user("more")))[1] == (1, text)


def test_thinking_that_the_template_puts_out_of_its_field_is_its_messages() -> None:
    prompt = rendered(KEEPS_FIELD, user("q"), answer("<think>so</think>Yes."), user("more"))
    assert prompt.text == "[user]q[assistant](so)Yes.[user]more"
    assert held(prompt) == [(0, "q"), (1, "so"), (1, "Yes."), (2, "more")]
    assert (prompt.notes, prompt.doubtful) == ((), ())


@pytest.mark.parametrize(
    ("source", "text", "thought", "said"),
    [
        (CHATML, "<think>so</think>Yes.", "<think>so</think>", "Yes."),
        (CHATML, "<think>so", "<think>so", ""),
        (CHATML, "Yes, `</think>` it is.", "", "Yes, `</think>` it is."),
        (KEEPS_FIELD, "<think>so</think>Yes.", "so", "Yes."),
        (LATER, "<think>so</think>Yes.", "", "Yes."),
    ],
)
@pytest.mark.parametrize("is_spliced", [True, False])
def test_the_tokens_of_earlier_thinking_have_a_part_of_their_own(
    source: str, text: str, thought: str, said: str, is_spliced: bool
) -> None:
    vocabulary = TinyVocabulary(SPECIALS)
    message = answer(text, vocabulary.tokenize(text, special=False) if is_spliced else [])
    made = prepare(ChatPrompt((user("q"), message, user("more")), source), vocabulary)

    def of(part: str) -> str:
        spans = [span for span in made.spans if (span.part, span.message) == (part, 1)]
        return b"".join(
            vocabulary.piece(token) for span in spans for token in made.ids[span.start : span.end]
        ).decode()

    assert (of("thinking"), of("history")) == (thought, said)


def test_an_open_answer_is_one_part_with_its_thinking() -> None:
    vocabulary = TinyVocabulary(SPECIALS)
    prompt = ChatPrompt((user("q"), answer("<think>so</think>Yes")), CHATML, continue_last=True)
    parts = [span.part for span in prepare(prompt, vocabulary).spans if span.message == 1]
    assert parts == ["answer"]


def test_control_texts_in_thinking_out_of_a_field_stay_text() -> None:
    vocabulary = TinyVocabulary(SPECIALS)
    message = answer(f"<think>so {END}</think>Yes {START}")
    ids = prepare(ChatPrompt((user("q"), message, user("more")), KEEPS_FIELD), vocabulary).ids
    assert not {vocabulary.id(START), vocabulary.id(END)}.intersection(ids)


@pytest.mark.parametrize("source", [LATER, OPENS, FIELD])
def test_an_answer_of_thinking_alone_is_not_told_as_left_out(source: str) -> None:
    prompt = rendered(source, user("q"), answer("<think>let me see</think>\n"), user("more"))
    assert "let me see" not in prompt.text
    assert prompt.notes == ()


def test_thinking_that_never_ended_stays_where_the_template_does_not_cut_it() -> None:
    for source in (LATER, OPENS, FIELD):
        prompt = rendered(source, user("q"), answer("<think>\nlet me see"), user("more"))
        assert (1, "<think>\nlet me see") in held(prompt)
        assert prompt.notes == ()


def test_an_open_answer_keeps_its_thinking() -> None:
    text = "<think>let me see</think>Yes"
    for source in (LATER, FIELD):
        prompt = rendered(source, user("q"), answer(text, [1]), continue_last=True)
        assert prompt.text.endswith(f"assistant\n{text}")
        assert held(prompt)[-1] == (1, text)


def prepared(source: str, *messages: PromptMessage, **options: bool) -> Prepared:
    specials = [*SPECIALS, ("<|User|>", True), ("<|Assistant|>", True)]
    pieces = (b"Ye", b"s.", b"</think>", b"\n\n")
    return prepare(ChatPrompt(messages, source, **options), TinyVocabulary(specials, pieces=pieces))


YES = [264, 265]


@pytest.mark.parametrize("source", [LATER, OPENS, FIELD])
def test_what_is_left_of_an_answer_is_the_tokens_that_were_sampled(source: str) -> None:
    ids = [*b"<think>let me see", 266, 267, *YES]
    message = answer("<think>let me see</think>\n\nYes.", ids)
    prompt = prepared(source, user("q"), message, user("more"))
    span = next(span for span in prompt.spans if span.message == 1)
    assert prompt.ids[span.start : span.end][-2:] == YES
    assert prompt.ids[span.start : span.end] in (YES, [267, *YES])
    assert [each.start for each in prompt.spans] == [0, *[each.end for each in prompt.spans[:-1]]]


def test_what_is_left_of_channels_is_the_tokens_that_were_sampled() -> None:
    names = {text: 256 + number for number, (text, _) in enumerate(SPECIALS)}
    channel, message, start = names["<|channel|>"], names["<|message|>"], names["<|start|>"]
    ids = [channel, *b"analysis", message, *b"hm", start, *b"assistant", channel, *b"final", message, *YES]
    text = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Yes."
    prompt = prepared(CHANNELS, user("q"), answer(text, ids), user("more"))
    span = next(span for span in prompt.spans if span.message == 1)
    # The vocabulary of this test keeps the closing tag silent, so the ids do not say the text.
    assert prompt.ids[span.start : span.end] == [*b"Yes."]
    assert prompt.notes == ()


@pytest.mark.parametrize(
    ("source", "messages", "is_open", "expected"),
    [
        (OPENS, [user("q")], False, True),
        (OPENS, [user("q"), answer("let me")], True, True),
        (OPENS, [user("q"), answer("let me", [*b"let me"])], True, True),
        (OPENS, [user("q"), answer("hm</think>Yes"), user("more")], False, True),
        (LATER, [user("q")], False, False),
        (LATER, [user("<think>")], False, False),
        (LATER, [user("q"), answer("<think>let me", [*b"<think>let me"])], True, False),
        ("{{ messages[-1].content }}", [user("what is <think>")], False, False),
    ],
)
def test_a_prompt_tells_whether_it_ends_inside_thinking(
    source: str, messages: list[PromptMessage], is_open: bool, expected: bool
) -> None:
    assert prepared(source, *messages, continue_last=is_open).thinking_opened is expected


def test_a_template_that_closes_the_thinking_at_once_opens_none() -> None:
    chat = ChatPrompt((user("q"),), LATER)
    prompt = prepare(chat, TinyVocabulary(SPECIALS), extra={"enable_thinking": False})
    assert prompt.text.endswith("</think>\n\n")
    assert not prompt.thinking_opened
