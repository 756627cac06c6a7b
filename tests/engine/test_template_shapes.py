from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.chat import PromptMessage
from app.engine.conversation import shapes
from app.engine.template import Rendered, TemplateError, render
from tests.engine.chat_examples import CHATML, GEMMA_1, MISTRAL_1, OUR_TEMPLATES, SILENT, answer, system, user

SYSTEM_NOTE = "has no place for a system prompt"
TURNS_NOTE = "wants questions and answers in turn"
LEFT_OUT_NOTE = "leaves out of the prompt: 1"

TURNS = st.lists(
    st.builds(
        PromptMessage,
        st.sampled_from(["system", "user", "assistant"]),
        st.sampled_from(["", " ", "a", "b c", "d\n"]),
    ),
    min_size=1,
    max_size=7,
)


def rendered(source: str, *messages: PromptMessage, continue_last: bool = False) -> Rendered:
    return render(source, messages, bos="<s>", eos="</s>", continue_last=continue_last)


def notes(prompt: Rendered) -> str:
    return " ".join(note.english() for note in prompt.notes)


def test_a_system_prompt_goes_into_the_first_question_where_the_template_refuses_it() -> None:
    prompt = rendered(GEMMA_1, system("Be brief."), user("Hello"))
    assert prompt.text == "<s><start_of_turn>user\nBe brief.\n\nHello<end_of_turn>\n<start_of_turn>model\n"
    assert SYSTEM_NOTE in notes(prompt)
    assert TURNS_NOTE not in notes(prompt)
    assert [(span.message, prompt.text[span.start : span.end]) for span in prompt.spans] == [
        (0, "Be brief."),
        (1, "Hello"),
    ]


def test_a_system_prompt_goes_into_the_first_question_where_the_template_wants_a_question_first() -> None:
    prompt = rendered(MISTRAL_1, system("Be brief."), user("Hello"), answer("Hi"), user("More"))
    assert prompt.text == "<s>[INST] Be brief.\n\nHello [/INST]Hi</s>[INST] More [/INST]"
    assert SYSTEM_NOTE in notes(prompt)


def test_a_system_prompt_that_the_template_drops_in_silence_goes_into_the_first_question() -> None:
    prompt = rendered(SILENT, system("Be brief."), user("Hello"))
    assert prompt.text == "<|user|>Be brief.\n\nHello"
    assert SYSTEM_NOTE in notes(prompt)


@pytest.mark.parametrize("blank", ["", "  \n"])
@pytest.mark.parametrize("source", [CHATML, GEMMA_1, MISTRAL_1, SILENT, *OUR_TEMPLATES.values()])
def test_an_empty_system_prompt_is_no_system_prompt(source: str, blank: str) -> None:
    prompt = rendered(source, system(blank), user("Hello"))
    assert (prompt.text, prompt.notes) == (rendered(source, user("Hello")).text, ())


@pytest.mark.parametrize("source", [GEMMA_1, MISTRAL_1, OUR_TEMPLATES["gemma"], OUR_TEMPLATES["llama-2"]])
def test_a_question_that_got_no_answer_is_joined_to_the_next_one(source: str) -> None:
    for unanswered in ([], [answer("")], [answer(" \n")]):
        prompt = rendered(source, user("one"), *unanswered, user("two"), answer("Hi"), user("three"))
        joined = rendered(source, user("one\n\ntwo"), answer("Hi"), user("three"))
        assert prompt.text == joined.text
        assert TURNS_NOTE in notes(prompt)
        assert SYSTEM_NOTE not in notes(prompt)
        assert joined.notes == ()


def test_a_conversation_that_begins_with_an_answer_gets_an_empty_question_before_it() -> None:
    prompt = rendered(GEMMA_1, answer("Welcome!"), user("Hello"))
    assert prompt.text.startswith(
        "<s><start_of_turn>user\n<end_of_turn>\n<start_of_turn>model\nWelcome!<end_of_turn>"
    )
    assert TURNS_NOTE in notes(prompt)


def test_both_remedies_are_taken_together_where_it_takes_both() -> None:
    prompt = rendered(
        GEMMA_1, system("Be brief."), user("one"), user("two"), answer(""), system("Rhyme."), user("three")
    )
    assert "<start_of_turn>user\nBe brief.\n\none\n\ntwo\n\nRhyme.\n\nthree<end_of_turn>" in prompt.text
    assert SYSTEM_NOTE in notes(prompt)
    assert TURNS_NOTE in notes(prompt)
    assert [span.message for span in prompt.spans] == [0, 1, 2, 4, 5]


def test_a_template_that_takes_the_conversation_as_it_is_gets_it_as_it_is() -> None:
    prompt = rendered(CHATML, user("one"), user("two"), answer("Hi"), answer("Ho"), user("three"))
    assert prompt.text.count("<|im_start|>") == 6
    assert prompt.notes == ()


def test_an_empty_answer_is_no_answer() -> None:
    prompt = rendered(CHATML, user("one"), answer(" "), user("two"))
    assert (prompt.text, prompt.notes) == (rendered(CHATML, user("one"), user("two")).text, ())


def test_a_template_that_refuses_everything_is_reported_in_its_own_words() -> None:
    with pytest.raises(TemplateError, match="I refuse chat 2") as caught:
        rendered("{{ raise_exception('I refuse chat ' ~ messages | length) }}", user("one"), user("two"))
    assert caught.value.kind == "refused"


def test_people_hear_of_a_message_that_the_template_leaves_out() -> None:
    last_only = "{{ messages[-1].content }}"
    assert LEFT_OUT_NOTE in notes(rendered(last_only, user("one"), answer("two"), user("three"))).replace("2", "1")
    assert notes(rendered(last_only, user("one"))) == ""


def test_an_open_answer_of_a_template_that_refuses_the_system_role_keeps_its_place() -> None:
    prompt = rendered(GEMMA_1, system("Be brief."), user("Count."), answer("One, "), continue_last=True)
    assert prompt.text.endswith("Be brief.\n\nCount.<end_of_turn>\n<start_of_turn>model\nOne, ")
    assert prompt.text[prompt.spans[-1].start : prompt.spans[-1].end] == "One, "


def test_a_conversation_of_one_open_answer_works() -> None:
    for source in (CHATML, GEMMA_1, MISTRAL_1):
        assert rendered(source, answer("Once upon"), continue_last=True).text.endswith("Once upon")


@given(TURNS)
def test_no_shape_of_a_conversation_loses_a_text(messages: list[PromptMessage]) -> None:
    wanted = sorted((number, each.text) for number, each in enumerate(messages) if each.text.strip())
    for shape in shapes(messages):
        parts = [part for turn in shape.turns for part in turn.parts]
        assert sorted(part for part in parts if part[1].strip()) == wanted


@given(TURNS, st.sampled_from([GEMMA_1, MISTRAL_1, OUR_TEMPLATES["mistral"], OUR_TEMPLATES["gemma"]]))
def test_every_conversation_can_be_answered_under_a_strict_template(
    messages: list[PromptMessage], source: str
) -> None:
    prompt = rendered(source, *messages)
    found = {span.message: prompt.text[span.start : span.end].strip() for span in prompt.spans}
    assert found == {number: each.text.strip() for number, each in enumerate(messages) if each.text.strip()}
