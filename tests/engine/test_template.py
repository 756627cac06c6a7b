from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_cpp.llama_chat_format import Jinja2ChatFormatter

from app.core.chat import PromptMessage
from app.engine.llama import LogCapture
from app.engine.template import Rendered, TemplateError, render
from tests.engine.chat_examples import CHATML, OUR_TEMPLATES, PLAIN_CHATS, THINKING, answer, system, user
from tests.engine.vocabularies import vocabulary_of


def rendered(source: str, messages: list[PromptMessage], **options: object) -> Rendered:
    return render(source, messages, bos="<s>", eos="</s>", **options)  # type: ignore[arg-type]


def by_the_binding(source: str, messages: list[PromptMessage]) -> str:
    formatter = Jinja2ChatFormatter(source, eos_token="</s>", bos_token="<s>")
    said = formatter(messages=[{"role": each.role, "content": each.text} for each in messages])  # type: ignore[misc]
    return str(said.prompt)


def held(prompt: Rendered) -> list[tuple[int, str]]:
    return [(span.message, prompt.text[span.start : span.end]) for span in prompt.spans]


@pytest.fixture(scope="module")
def starter_template(starter_model: Path, llama_log: LogCapture) -> str:
    with vocabulary_of(starter_model) as vocabulary:
        template = vocabulary.chat_template()
    assert template is not None
    return template


@pytest.mark.parametrize("name", sorted(OUR_TEMPLATES))
@pytest.mark.parametrize("messages", PLAIN_CHATS)
def test_our_templates_say_what_the_binding_makes_of_them(name: str, messages: list[PromptMessage]) -> None:
    prompt = rendered(OUR_TEMPLATES[name], messages)
    assert prompt.text == by_the_binding(OUR_TEMPLATES[name], messages)
    assert prompt.notes == ()
    assert [message for message, _ in held(prompt)] == list(range(len(messages)))
    assert [text.strip() for _, text in held(prompt)] == [each.text.strip() for each in messages]


@pytest.mark.parametrize("messages", PLAIN_CHATS)
def test_the_starters_template_says_what_the_binding_makes_of_it(
    starter_template: str, messages: list[PromptMessage]
) -> None:
    prompt = rendered(starter_template, messages)
    assert prompt.text == by_the_binding(starter_template, messages)
    assert held(prompt) == [(number, each.text) for number, each in enumerate(messages)]


@given(st.lists(st.text(min_size=1, max_size=20).filter(str.strip), min_size=1, max_size=5))
def test_any_texts_come_out_as_the_binding_renders_them(texts: list[str]) -> None:
    messages = [answer(text) if number % 2 else user(text) for number, text in enumerate(texts)]
    prompt = rendered(CHATML, messages)
    assert prompt.text == by_the_binding(CHATML, messages)
    assert held(prompt) == [(number, text) for number, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{ {'a': 'ü<', 'b': [1, 2.5, none, true]} | tojson }}", '{"a": "ü<", "b": [1, 2.5, null, true]}'),
        ("{{ {'b': 1, 'a': 2} | tojson(indent=2, sort_keys=true) }}", '{\n  "a": 2,\n  "b": 1\n}'),
        ("{{ {'b': 1} | tojson(separators=(',', ':')) }}", '{"b":1}'),
        ("{% for i in [1, 2, 3, 4] %}{% if i == 2 %}{% continue %}{% elif i == 4 %}{% break %}{% endif %}{{ i }}{% endfor %}", "13"),
        ("{% generation %}{{ messages[0].content }}{% endgeneration %}", "Hi"),
        ("{% set ns = namespace(found=false) %}{% for m in messages %}{% set ns.found = true %}{% endfor %}{{ ns.found }}", "True"),
        ("{{ enable_thinking is defined and enable_thinking }}", "False"),
        ("{{ tools is none and documents is none }}", "True"),
        ("{{ bos_token }}|{{ eos_token }}|{{ add_generation_prompt }}", "<s>|</s>|True"),
        ("{{ messages[0]['content'][::-1] }}{{ messages[0].content[:1] }}{{ messages[1:] | length }}", "iHH0"),
        ("{{ '%s-%5.2f|%-4d|%%' % ('a', 1.5, 7) }}", "a- 1.50|7   |%"),
        ("{{ '{0}-{b:>4}-{c[0]}'.format('a', b=1, c=[9]) }}", "a-   1-9"),
        ("{{ '{a}'.format_map({'a': 3}) }}", "3"),
        ("{{ 'a\nb' | indent(2) }}|{{ 'a\nb' | indent('> ', true) }}", "a\n  b|> a\n> b"),
        ("{{ [3, 1] | sort | join(', ') }}{{ messages | map(attribute='role') | join }}", "1, 3user"),
        ("{{ [1, 2] | sum }}{{ [{'n': 2}, {'n': 3}] | sum('n') }}{{ [{'n': 'x'}] | join(attribute='n') }}", "35x"),
        ("{{ 'a,b'.split(',') | list }}{{ '-'.join(['x', 'y']) }}{{ 'aXa'.replace('a', 'b') }}", "['a', 'b']x-ybXb"),
        ("{{ 7 // 2 }}{{ 2 ** 10 }}{{ 7 % 4 }}{{ 1 - 3 }}{{ [0] * 2 + [1] }}{{ 'ab' * 2 }}", "310243-2[0, 0, 1]abab"),
        ("{{ '<a>' | e }}{{ '<b>' | safe }}{{ 'x' | replace('x', 'y') }}{{ none | string }}", "&lt;a&gt;<b>yNone"),
        ("{% autoescape true %}{{ '<' ~ 1 ~ none }}{% endautoescape %}", "<1None"),
        ("{% macro f(a, b='c') %}{{ a }}{{ b }}{% endmacro %}{{ f('x') }}{% set t %}{{ f(1, 2) }}{% endset %}{{ t }}", "xc12"),
        ("{% for a, b in {'k': 1}.items() %}{{ a }}{{ b }}{% endfor %}{{ 'a\tb'.expandtabs(4) }}", "k1a   b"),
        ("{{ undefined }}{{ messages[0].missing }}{{ messages[9] }}|", "|"),
        ("{{ [1, [2], {'a': 3}] }}{{ (1, 2) }}{{ 5.0 | round | int }}{{ 'abcdefghi' | truncate(2, true, '') }}", "[1, [2], {'a': 3}](1, 2)5ab"),
    ],
)  # fmt: skip
def test_what_real_templates_use_works_as_in_the_binding(source: str, expected: str) -> None:
    assert rendered(source, [user("Hi")]).text == expected
    if "|a" not in source and "autoescape" not in source and "documents" not in source:
        assert by_the_binding(source, [user("Hi")]) == expected


def test_blocks_leave_no_line_behind() -> None:
    source = "{% for m in messages %}\n    {% if true %}\n{{ m.content }}\n    {% endif %}\n{% endfor %}\n"
    assert rendered(source, [user("a"), answer("b")]).text == "a\nb\n"


def test_the_time_is_that_of_the_rendering() -> None:
    assert rendered("{{ strftime_now('%Y') }}", [user("Hi")]).text.isdigit()


def test_further_variables_reach_the_template() -> None:
    source = "{{ enable_thinking }}{{ date_string }}"
    prompt = rendered(source, [user("Hi")], extra={"enable_thinking": False, "date_string": "26 Jul 2024"})
    assert prompt.text == "False26 Jul 2024"


@pytest.mark.parametrize(
    ("source", "kind", "line", "words"),
    [
        ("a\n{% if x %}", "syntax", 2, "Unexpected end of template"),
        ("\n{% nonsense %}", "syntax", 2, "nonsense"),
        ("a\nb\n{{ undefined_fn() }}", "failed", 3, "'undefined_fn' is undefined"),
        ("\n\n{{ messages[0].content + 1 }}", "failed", 3, "can only concatenate str"),
        ("{{ 1 // 0 }}", "failed", 1, "division"),
        ("a\n{{ raise_exception('Only {nice} words') }}", "refused", 2, "Only {nice} words"),
        ("\n{{ ''.__class__.__mro__ }}", "forbidden", 2, "__class__"),
        ("{{ 'a' | pprint }}", "syntax", 1, "pprint"),
    ],
)
def test_a_broken_template_is_named_with_its_line_and_its_words(
    source: str, kind: str, line: int, words: str
) -> None:
    with pytest.raises(TemplateError) as caught:
        rendered(source, [user("Hi")])
    said = str(caught.value)
    assert (caught.value.kind, caught.value.line) == (kind, line)
    assert words in said
    assert said.startswith("The chat template ")
    assert said.endswith("Choose another chat template for this model.")
    assert kind == "refused" or f"line {line}:" in said


def test_a_prompt_of_an_open_answer_ends_right_after_it() -> None:
    prompt = rendered(CHATML, [user("Count."), answer("One, two,")], continue_last=True)
    assert prompt.text == "<|im_start|>user\nCount.<|im_end|>\n<|im_start|>assistant\nOne, two,"
    assert held(prompt) == [(0, "Count."), (1, "One, two,")]


@pytest.mark.parametrize("name", sorted(OUR_TEMPLATES))
@pytest.mark.parametrize("text", ["One", " One \n", "", "\n"])
def test_an_open_answer_that_was_sampled_follows_what_it_was_asked_with(name: str, text: str) -> None:
    messages = [system("Be brief."), user("Count.")]
    asked = rendered(OUR_TEMPLATES[name], messages)
    prompt = rendered(OUR_TEMPLATES[name], [*messages, answer(text, [1])], continue_last=True)
    assert prompt.text == asked.text + text
    assert held(prompt)[-1] == (2, text)


def test_an_open_answer_that_was_written_gets_the_space_that_the_template_puts_before_answers() -> None:
    messages = [user("Count."), answer("One")]
    assert rendered(OUR_TEMPLATES["llama-2"], messages, continue_last=True).text == "<s>[INST] Count. [/INST] One"
    messages = [user("Count."), answer(" One")]
    assert rendered(OUR_TEMPLATES["llama-2"], messages, continue_last=True).text == "<s>[INST] Count. [/INST] One"


def test_an_open_answer_goes_on_in_the_thinking_that_the_template_opened() -> None:
    prompt = rendered(THINKING, [user("Count."), answer("I shall count.\n</think>\n\nOne")], continue_last=True)
    assert prompt.text.endswith("<|im_start|>assistant\n<think>\nI shall count.\n</think>\n\nOne")
