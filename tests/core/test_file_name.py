"""Names of files that every system takes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.file_name import (
    LONGEST_BYTES,
    PartName,
    fitting_stem,
    is_reserved,
    model_stem,
    name_key,
    part_name,
    stem_problem,
    typed_stem,
)


@pytest.mark.parametrize(
    "stem",
    [
        "a",
        "Llama 3.2 – 1B",
        "モデル",
        "नमूना",
        "نموذج",
        "модель-ё",
        "a.b.c",
        "console",
        "com10",
        "com",
        "aux2.x",
        "-n",
        "👩‍🔬",
    ],
)
def test_names_in_any_script_are_good(stem: str) -> None:
    assert stem_problem(stem, ".gguf") is None


@pytest.mark.parametrize(
    ("stem", "words"),
    [
        ("", "Type a name"),
        ("a/b", "Leave / out"),
        ("..\\..\\b", "Leave \\ out"),
        ("a:b?*", "Leave * : ? out"),
        (".", "begin with a dot"),
        ("..", "begin with a dot"),
        (".hidden", "begin with a dot"),
        ("a.", "end with a dot"),
        ("a ", "end with a dot or a blank"),
        ("CON", "device"),
        ("aux", "device"),
        ("Nul .Q4", "device"),
        ("com1.v2", "device"),
        ("LPT³", "device"),
        ("CONIN$", "device"),
        ("a\nb", "cannot be seen"),
        ("a\x00b", "cannot be seen"),
        ("a\u202eb", "cannot be seen"),
        ("a\udcff", "cannot be seen"),
        ("m-00001-of-00003", "number at its end"),
        ("あ" * 79, "too long"),
        ("x" * 236, "too long"),
    ],
)
def test_what_some_system_refuses_is_told(stem: str, words: str) -> None:
    problem = stem_problem(stem, ".gguf")
    assert problem is not None and words in problem.english()


def test_the_longest_name_counts_bytes_with_its_ending() -> None:
    assert stem_problem("x" * (LONGEST_BYTES - 5), ".gguf") is None
    assert stem_problem("x" * (LONGEST_BYTES - 5), "-00001-of-00002.gguf") is not None


def test_an_ending_that_it_has_anyway_may_be_typed() -> None:
    assert typed_stem("  new.GGUF ", (".gguf",)) == "new"
    assert typed_stem("new-00001-of-00003.gguf", ("-00001-of-00003.gguf", ".gguf")) == "new"
    assert typed_stem("e\u0301", (".gguf",)) == "é"


def test_names_that_some_disks_take_for_one_are_the_same() -> None:
    assert name_key("É.gguf") == name_key("e\u0301.GGUF") != name_key("e.gguf")


@given(st.text(max_size=300))
def test_any_text_becomes_a_name_or_nothing(text: str) -> None:
    stem = fitting_stem(text)
    assert len(stem.encode("utf-8", "replace")) <= LONGEST_BYTES and not is_reserved(stem)
    assert not set(stem) & set('<>:"/\\|?*\n\0') and stem == stem.strip(" .")


@pytest.mark.parametrize(
    ("path", "part", "stem"),
    [
        ("m-Q4_K_M-00002-of-00003.gguf", PartName("m-Q4_K_M", 2, 3), "m-Q4_K_M"),
        ("org/a b/m-00001-of-00001.GGUF", PartName("org/a b/m", 1, 1), "org/a b/m"),
        ("a\nb-00001-of-00002.gguf", PartName("a\nb", 1, 2), "a\nb"),
        ("a-00001-of-00002-00001-of-00003.gguf", PartName("a-00001-of-00002", 1, 3), "a-00001-of-00002"),
        ("m-00000-of-00003.gguf", PartName("m", 0, 3), "m"),
        ("m-00004-of-00003.gguf", PartName("m", 4, 3), "m"),
        ("m-0001-of-0003.gguf", None, "m-0001-of-0003"),
        ("m-٠٠٠٠١-of-٠٠٠٠٣.gguf", None, "m-٠٠٠٠١-of-٠٠٠٠٣"),
        ("m-00001-of-00003.gguf\n", None, "m-00001-of-00003.gguf\n"),
        ("-00001-of-00003.gguf", None, "-00001-of-00003"),
        ("m-00001-of-00003.gguf.part", None, "m-00001-of-00003.gguf.part"),
        ("m.gguf", None, "m"),
        ("m", None, "m"),
    ],
)
def test_which_part_of_a_model_a_file_is_stands_in_its_name(path: str, part: PartName | None, stem: str) -> None:
    assert (part_name(path), model_stem(path)) == (part, stem)


def test_no_part_is_before_the_first_or_behind_the_last() -> None:
    assert [PartName("m", number, 3).can_be for number in range(5)] == [False, True, True, True, False]
