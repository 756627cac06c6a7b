"""A wrong grammar is told with line, column and one sentence; a right one passes."""

from __future__ import annotations

import msgspec
import pytest

from app.core.gbnf import check_gbnf
from app.core.grammar import LONGEST_GRAMMAR, Grammar, Place, WrongGrammar
from app.core.grammar_check import LONGEST_NAME, check, name_of
from app.core.sampling import SamplingSettings
from tests.everyday_grammars import EVERYDAY

WRONG = [
    ("", 1, 1, "no rule"),
    ("  # only words\n", 1, 1, "no rule"),
    ("root = x", 1, 6, "::="),
    ("ro_ot ::= x", 1, 3, "letters, digits and hyphens"),
    ('root ::= "a"\n  | "b"', 2, 3, "cannot begin with |"),
    ('root ::= "a";', 1, 13, "“;”"),
    ('root ::= "é" ß', 1, 14, "“ß”"),
    ('root ::= "a', 1, 10, "never closed"),
    ("root ::= [a-z", 1, 10, "never closed"),
    ("root ::= [a-", 1, 10, "never closed"),
    ('root ::= ("a" | "b"', 1, 10, "never closed"),
    ('root ::= "a" )', 1, 14, "“)”"),
    ("root ::= <think", 1, 10, "never closed"),
    ("root ::= <[x]>", 1, 10, "never closed"),
    ("root ::= !a", 1, 11, "“!”"),
    ('root ::= "a\\q"', 1, 12, "“\\q”"),
    ('root ::= "\\x4g"', 1, 11, "2 hexadecimal"),
    ('root ::= "\\u12"', 1, 11, "4 hexadecimal"),
    ('root ::= "a\\', 1, 10, "never closed"),
    ("root ::= *", 1, 10, "nothing before “*”"),
    ('root ::= ""+', 1, 12, "nothing before “+”"),
    ('root ::= "a"{x}', 1, 14, "braces"),
    ('root ::= "a"{2', 1, 15, "braces"),
    ('root ::= "a"{2,1}', 1, 13, "smaller number first"),
    ('root ::= "a"{2001}', 1, 13, "2,000"),
    ('root ::= "a"{1,5000}', 1, 13, "2,000"),
    ('root ::= ("a"{0,50} "b"){50}', 1, 25, "2,000"),
    (f'root ::= "{"x" * 300}"{{2000}}', 1, 312, "too large"),
    ("root ::= " + "(" * 101 + '"a"' + ")" * 101, 1, 110, "deep"),
    ('root ::= "a"' + "?" * 101, 1, 113, "deep"),
    ("root ::= []", 1, 10, "no character"),
    ("root ::= [^]", 1, 10, "no character"),
    ("root ::= [b-a]", 1, 11, "“b-a”"),
    ('root ::= "\0"', 1, 11, "none that people see"),
    ('start ::= "a"', 1, 1, "“start”"),
    ('root ::= a b\r\na ::= "x"', 1, 12, "no rule “b”"),
    ('root ::= "a"\nroot ::= "b"', 2, 1, "a rule “root” already"),
    ('root ::= root "a" | "b"', 1, 10, "begins with itself"),
    ('root ::= a\na ::= b? root\nb ::= "x"', 2, 10, "begins with itself"),
    ('root ::= ("a" | )*', 1, 18, "never end"),
    ('root ::= "a"?*', 1, 14, "never end"),
    ('root ::= a+\na ::= "x" | ', 1, 11, "never end"),
    ('root ::= "a"\rx ::= y', 2, 7, "no rule “y”"),
    ("root ::= " + "[a-z ]? " * 25, 1, 176, "at most 20 may stand side by side"),
    ('root ::= "a" ' + "x* y? " * 21 + '\nx ::= "a"\ny ::= "b"', 1, 135, "at most 20 may stand side by side"),
    ('root ::= ("a"? [a-z ]?){21}', 1, 24, "at most 20 may stand side by side"),
    ("root ::= " + "[a-m]? [k-z ]* [^k]? .? " * 11, 1, 135, "at most 20 may stand side by side"),
    ("root ::= " + "".join(f"[^{chr(97 + each)}]? " for each in range(26)), 1, 134, "at most 20 may stand"),
    ("root ::= " + "x " * 21 + "\nx ::= [a-z]?", 1, 50, "at most 20 may stand side by side"),
    ('root ::= ("b" | ' + "[a-z]* " * 21 + ")", 1, 162, "at most 20 may stand side by side"),
]


@pytest.mark.parametrize(("text", "line", "column", "words"), WRONG)
def test_what_is_wrong_is_told_in_a_sentence_with_its_place(text: str, line: int, column: int, words: str) -> None:
    with pytest.raises(WrongGrammar) as refused:
        check_gbnf(text)
    said = refused.value.sentence.english()
    assert refused.value.place == Place(line, column), said
    assert words in said
    if "no rule:" not in said:
        assert said.startswith(f"Line {line}, column {column}: ")
    assert said.endswith(".")


EXPLOSIVE = [
    ('root ::= ("="+)* "x"', 1, 16),
    ('root ::= "x" line\nline ::= ([-=]+ " "?){1,40} "x"', 2, 22),
    ('root ::= ("-" | "-" | "x")* "x"', 1, 27),
    ('root ::= ([ \\t] | blank)+ "x"\nblank ::= " "', 1, 25),
    ('root ::= ((("*")+)+)+ "x"', 1, 21),
    ("root ::= " + "[^\\n]* " * 6, 1, 15),
    ("root ::= " + "dots " * 7 + '"x"\ndots ::= "."+', 1, 15),
    ('root ::= a "x"\na ::= "_" a | "_" b | ""\nb ::= "_" a | "_" b | ""', 3, 19),
    ('root ::= "\\"" ([^"\\\\\\n]+ | "\\\\" .)* "\\""', 1, 35),
    ("root ::= ([a-z] | [a-m] | [a-k]){13}", 1, 33),
    ('root ::= ("="+)+ "x" | p+\np ::= "(" p ")" | "(" p "]" | "y"', 1, 16),
    ('root ::= "(" root ")" | "(" root "]" | ("="+)+ "x"', 1, 46),
]


@pytest.mark.parametrize(("text", "line", "column"), EXPLOSIVE)
def test_what_can_be_read_in_too_many_ways_is_refused_with_its_place(text: str, line: int, column: int) -> None:
    with pytest.raises(WrongGrammar, match="can be read in over a million ways") as refused:
        check_gbnf(text)
    assert refused.value.place == Place(line, column)


@pytest.mark.parametrize("name", EVERYDAY)
def test_everyday_grammars_are_not_refused(name: str) -> None:
    text, _fitting = EVERYDAY[name]
    check_gbnf(text)
    check_gbnf(f"{text}\n".replace("root", "begin") + "root ::= begin{1,2}")


RIGHT = [
    'root ::= ("="+ "x")*',
    'root ::= ([a-z]+)* "." | ([=-] | "x")*',
    'root ::= ("- " [a-z]+ "\\n"+)+',
    'root ::= "yes" | "no"',
    '# a list\nroot ::= item+ # of items\nitem ::= "- " [^\\r\\n\\x0b\\u2028]+ "\\n"\n\n',
    'root ::= (\n  "a" | # comment\n  b\n)*\nb ::= .{1,3} [\\]\\[\\-a-]{2,} "\\U0001F600"?\n',
    'root ::= "a" (\n"b"\n){0,2}|\n"c"',
    "root ::= <[7]> !<[8]> <|im_end|>",
    'root ::= "a" | ',
    'root ::= ("a"? "b"?)* "c"',
    'root ::= "(" root ")" | "x"',
    "root ::= a\r\na ::= [^a]\r\n",
    "root ::= " + "[a-z ]? " * 20 + '"." ' + "[a-z ]? " * 20,
    "root ::= " + " ".join(f"[{chr(97 + number)}]?" for number in range(26)),
    "root ::= [a-z ]{0,2000} [a-z ]{300} [a-z ]{0,300}",
    "root ::= " + " ".join(f'"{number}"?' for number in range(60)),
]


@pytest.mark.parametrize("text", RIGHT)
def test_what_is_right_passes(text: str) -> None:
    check_gbnf(text)


def test_a_long_text_is_not_read() -> None:
    with pytest.raises(WrongGrammar, match="65,536"):
        check(Grammar("gbnf", 'root ::= "a"' + " " * LONGEST_GRAMMAR))
    with pytest.raises(WrongGrammar, match="65,536"):
        check(Grammar("json_schema", "{}" + " " * LONGEST_GRAMMAR))


def test_many_rules_that_lead_to_one_another_are_read_to_the_end() -> None:
    count = 4000
    rules = [f"r{number} ::= r{number + 1}" for number in range(count)]
    check_gbnf("\n".join(["root ::= r0", *rules, f'r{count} ::= "x"']))
    with pytest.raises(WrongGrammar, match="begins with itself"):
        check_gbnf("\n".join(["root ::= r0", *rules, f"r{count} ::= r7"]))


@pytest.mark.parametrize(
    ("grammar", "name"),
    [
        (Grammar("gbnf", '\n# A list of things\nroot ::= "x"'), "A list of things"),
        (Grammar("gbnf", '\n#\nroot ::= "x"'), "root"),
        (Grammar("gbnf", "  "), ""),
        (Grammar("gbnf", "#" + "x" * 100), "x" * (LONGEST_NAME - 1) + "…"),
        (Grammar("gbnf", "# turned \u202e round"), "turned \ufffd round"),
        (Grammar("json_schema", '{"title": " A person "}'), "A person"),
        (Grammar("json_schema", '{"title": 3}'), ""),
        (Grammar("json_schema", "[" * 10_000), ""),
    ],
)
def test_a_grammar_has_a_name(grammar: Grammar, name: str) -> None:
    assert name_of(grammar) == name


def test_settings_keep_a_grammar_that_can_be_sent() -> None:
    settings = SamplingSettings(grammar=Grammar("gbnf", 'root ::= "\ud800"')).validated()
    assert settings.grammar == Grammar("gbnf", 'root ::= "\ufffd"')
    assert SamplingSettings().validated().grammar is None


def test_settings_that_were_stored_before_have_no_grammar() -> None:
    stored = msgspec.json.decode(b'{"temperature": 0.5}', type=SamplingSettings)
    assert stored == SamplingSettings(temperature=0.5)
    assert stored.grammar is None
    fitting = SamplingSettings(grammar=Grammar("json_schema", "{}"))
    assert msgspec.json.decode(msgspec.json.encode(fitting), type=SamplingSettings) == fitting
