"""Templates that mean harm: each ends in a sentence, with next to no memory used."""

from __future__ import annotations

import tracemalloc

import pytest

from app.core.errors import UserError
from app.engine.deadline import Deadline
from app.engine.template import TemplateError, render
from app.engine.template_errors import RENDER_SECONDS
from app.engine.template_limits import TEXT_CHARACTERS, Limits, TemplateFault
from tests.engine.chat_examples import CHATML, answer, user

MOST_MEMORY = 64 * 1024 * 1024

LOOP = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
GROWING = "{% set ns = namespace(x=START) %}{% for i in range(99) %}{% set ns.x = STEP %}{% endfor %}{{ ns.x }}"


def growing(start: str, step: str) -> str:
    return GROWING.replace("START", start).replace("STEP", step)


TOO_LARGE = {
    "a text times a number": "{{ 'a' * 1000000000 }}",
    "a number times a text": "{{ 1000000000 * 'a' }}",
    "a text times a number that is never shown": "{% set x = 'a' * 1000000000 %}",
    "a list times a number": "{{ [0] * 1000000000 }}",
    "a power": "{{ 10 ** 100000000 }}",
    "squares of squares": growing("3", "ns.x * ns.x"),
    "doubling with a tilde": growing("'aaaa'", "ns.x ~ ns.x"),
    "doubling with a plus": growing("'aaaa'", "ns.x + ns.x"),
    "doubling a list": growing("[1]", "ns.x + ns.x"),
    "lists of lists": growing("[1]", "[ns.x, ns.x]"),
    "tuples of tuples": growing("(1, 1)", "(ns.x, ns.x)"),
    "dictionaries of dictionaries": growing("{}", "{'a': ns.x, 'b': ns.x}"),
    "dictionaries made by a call": growing("{}", "dict(a=ns.x, b=ns.x)"),
    "texts in a list": "{% set b = 'x' * 4000000 %}{{ [b, b, b, b] }}",
    "slices kept": growing("'x' * 200000", "ns.x[1:] ~ ns.x[:100000]"),
    "a width for the percent sign": "{{ '%1000000000d' % 5 }}",
    "a width from the values": "{{ '%*d' % (1000000000, 5) }}",
    "a precision": "{{ '%.1000000000f' % 5 }}",
    "a width after a name": "{{ '%(a)1000000000d' % {'a': 5} }}",
    "a width in the format filter": "{{ '%1000000000d' | format(5) }}",
    "one text in many places": "{{ '%(a)s' * 10000 % {'a': 'x' * 100000} }}",
    "a width for str.format": "{{ '{:1000000000d}'.format(5) }}",
    "a width from a field": "{{ '{:{w}d}'.format(5, w=1000000000) }}",
    "many fields": "{{ ('{0}' * 1000000).format('a' * 10000) }}",
    "a width for format_map": "{{ '{a:1000000000}'.format_map({'a': 1}) }}",
    "much output": "{% for i in range(99999) %}{{ 'x' * 1000 }}{% endfor %}",
    "ten megabytes of the template's own": "{% for i in range(10000) %}" + "x" * 1000 + "{% endfor %}",
    "a block that is kept": "{% set y %}{% for i in range(99999) %}" + "x" * 1000 + "{% endfor %}{% endset %}",
    "a macro's output": "{% macro b() %}{% for i in range(99999) %}" + "x" * 1000 + "{% endfor %}{% endmacro %}{{ b() }}",
    "a filter block": "{% filter upper %}{% for i in range(99999) %}" + "x" * 1000 + "{% endfor %}{% endfilter %}",
    "the center filter": "{{ 'a' | center(1000000000) }}",
    "str.center": "{{ 'a'.center(1000000000) }}",
    "str.zfill": "{{ 'a'.zfill(1000000000) }}",
    "str.expandtabs": "{{ '\t'.expandtabs(1000000000) }}",
    "the indent filter": "{{ 'a\nb' | indent(1000000000) }}",
    "the indent filter with a text": "{{ ('a\n' * 100000) | indent('x' * 10000) }}",
    "str.replace": "{{ ('a' * 100000).replace('a', 'b' * 100000) }}",
    "str.replace of nothing": "{{ ('a' * 100000).replace('', 'b' * 100000) }}",
    "the replace filter": "{{ ('a' * 100000) | replace('a', 'b' * 100000) }}",
    "str.join": "{{ ('a' * 100000).join(range(99999) | map('string')) }}",
    "the join filter": "{{ range(99999) | join('b' * 100000) }}",
    "the batch filter": "{{ [1] | batch(1000000000, 'x') | list }}",
    "the slice filter": "{{ [1] | slice(1000000000) | list }}",
    "a long range": "{{ range(1000000000) | list }}",
    "the round filter": "{{ 5 | round(-100000000) }}",
    "indented JSON": "{{ [[[1]]] | tojson(indent=1000000000) }}",
    "separated JSON": "{{ [1, 2] | tojson(separators=('x' * 1000000, 'y')) }}",
    "numbers with a million digits": "{% set x = ('f' * 4000000) | int(0, 16) %}{{ x % 7 }}",
    "sums of lists": "{{ ([[0] * 1000] * 1000) | sum(start=[]) | length }}",
    "characters of a text": "{% for i in range(99999) %}{% set l = ('x' * 4000000) | list %}{% endfor %}",
    "words of a text": "{% for i in range(99999) %}{% set l = ('x ' * 2000000).split() %}{% endfor %}",
    "tuples of tuples as a key": "{% set ns = namespace(x=(1, 1)) %}{% for i in range(28) %}{% set ns.x = (ns.x, ns.x) %}{% endfor %}{% set d = {ns.x: 1} %}",
    "arguments of arguments": (
        "{% macro m(n) %}{% if n < 60 %}{{ m(n + 1, varargs, varargs) }}{% else %}{{ varargs }}{% endif %}{% endmacro %}"
        "{{ m(0, 1) }}"
    ),
    "a wide time": "{{ strftime_now('%1000000000d') }}",
    "a long time": "{{ strftime_now('%Y' * 100000) }}",
    "a source beyond all reason": "x" * 2000000,
}  # fmt: skip

FAILING = {
    "a macro that calls itself": "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
    "a macro that calls itself twice": "{% macro m(n) %}{{ m(n + 1) }}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
    "a loop that calls itself": "{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    "brackets in brackets": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "loops in loops": "{% for i in [1] %}" * 50 + "{% endfor %}" * 50,
    "signs before signs": "{{ " + "-" * 100000 + "1 }}",
    "a number of 5000 digits": "{{ " + "9" * 5000 + " }}",
    "another template": "{% include 'x' %}",
    "a module": "{% import 'os' as os %}",
    "filler text": "{{ lipsum(100000) }}",
}

FORBIDDEN = {
    "a class": "{{ ''.__class__.__mro__ }}",
    "a class by its key": "{{ ''['__class__']['__mro__'] }}",
    "globals": "{{ raise_exception.__globals__['x'] }}",
    "globals of a class": "{{ namespace.__init__.__globals__.x }}",
    "a class through str.format": "{{ '{0.__class__.__mro__}'.format('a') }}",
    "a class through format_map": "{{ '{a.__class__.__mro__}'.format_map({'a': 1}) }}",
    "a class through the attr filter": "{{ ('' | attr('__class__')).__mro__ }}",
    "a class through the map filter": "{{ (['a'] | map(attribute='__class__') | list)[0].__mro__ }}",
    "a kept str.format": "{% set f = '{0.__class__.__mro__}'.format %}{{ f('a') }}",
    "the environment": "{{ self._TemplateReference__context.environment }}",
    "a list that is changed": "{% set l = [] %}{{ l.append(1) }}",
    "a dictionary that is changed": "{{ {}.update({'a': 1}) }}",
    "messages that are changed": "{{ messages.clear() }}",
    "bytes": "{{ 'a'.encode() }}",
    "a table of replacements": "{{ 'a'.translate({97: 'b' * 1000}) }}",
    "huge bytes": "{{ (5).to_bytes(1000000000) }}",
}


def kind_of(source: str, seconds: float = 60.0) -> str:
    with pytest.raises(UserError) as caught:
        render(source, [user("hi")], bos="", eos="", deadline=Deadline(seconds))
    assert isinstance(caught.value, TemplateError)
    assert caught.value.sentence.english().endswith("Choose another chat template for this model.")
    return caught.value.kind


@pytest.mark.parametrize("what", TOO_LARGE)
def test_nothing_huge_is_ever_made(what: str) -> None:
    tracemalloc.start()
    try:
        assert kind_of(TOO_LARGE[what]) == "size"
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("what", FAILING)
def test_what_goes_on_for_ever_or_leads_nowhere_is_an_error_of_the_template(what: str) -> None:
    assert kind_of(FAILING[what]) in ("failed", "syntax")


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_way_leads_out_of_the_sandbox(what: str) -> None:
    assert kind_of(FORBIDDEN[what]) == "forbidden"


@pytest.mark.parametrize(
    "source",
    [
        LOOP,
        "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}",
        "{% for i in range(99999) %}{% set x = range(99999) | map('string') | select('equalto', 'x') | first %}{% endfor %}",
    ],
)
def test_what_never_ends_is_stopped(source: str) -> None:
    assert kind_of(source, RENDER_SECONDS) == "time"


def test_a_template_that_loops_only_over_marked_texts_is_stopped_and_its_prompt_is_used() -> None:
    source = "{{ messages[0].content }}{% if messages[0].content != 'a' %}" + LOOP + "{% endif %}"
    prompt = render(source, [user("a")], bos="", eos="", deadline=Deadline(0.3))
    assert (prompt.text, prompt.spans) == ("a", ())
    assert [(each.start, each.end, each.messages) for each in prompt.doubtful] == [(0, 1, (0,))]
    open_prompt = render(source, [user("a"), answer("b")], bos="", eos="", continue_last=True, deadline=Deadline(0.3))
    assert open_prompt.text == "ab"
    assert [(each.start, each.end, each.message) for each in open_prompt.spans] == [(1, 2, 1)]


def test_a_long_text_of_a_person_is_not_the_templates_fault() -> None:
    text = "ä" * (TEXT_CHARACTERS + 10)
    assert render(CHATML, [user(text)], bos="", eos="").text.count("ä") == len(text)


def test_the_limit_is_four_megabytes_to_the_character() -> None:
    source = "{{ 'x' * " + str(TEXT_CHARACTERS) + " }}"
    assert len(render(source, [user("")], bos="", eos="").text) == TEXT_CHARACTERS
    with pytest.raises(TemplateError) as caught:
        render(source + "x", [user("")], bos="", eos="")
    assert caught.value.kind == "size"


def test_all_that_is_made_on_the_way_is_limited_too() -> None:
    limits = Limits(0)
    for _ in range(16):
        limits.spend(TEXT_CHARACTERS)
    with pytest.raises(TemplateFault):
        limits.spend(1)


def test_half_a_character_out_of_a_template_is_the_templates_fault() -> None:
    with pytest.raises(TemplateError, match="half of a character"):
        render("{{ '%c' % 55296 }}hi", [user("Hi")], bos="", eos="")
