from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.core.words import translate
from app.services.file_names import LONGEST_NAME, short_name, short_path, unsaid_name
from app.services.model_check import check_model, model_name

LONG = Path("/models/Some-Very-Long-Model-Name-That-Goes-On-And-On-And-On-Instruct.Q4_K_M.gguf")
DAMAGED = translate("Test", "This file is damaged.")


def test_a_long_name_keeps_both_of_its_ends() -> None:
    name = short_name(LONG)
    assert len(name) == LONGEST_NAME
    assert name.startswith("Some-Very-Long-Model") and "…" in name and name.endswith("Instruct.Q4_K_M.gguf"[-19:])
    assert short_name(Path("/models/tiny.gguf")) == "tiny.gguf"


@pytest.mark.parametrize(
    "bad", ["\n", "\x00", "\x7f", "\x9b", "\u061c", "\u200f", "\u2028", "\u202e", "\u2066", "\ufeff", "\udcff"]
)
def test_what_cannot_be_shown_is_replaced(bad: str) -> None:
    assert short_name(Path(f"/models/a{bad}b.gguf")) == "a\ufffdb.gguf"
    assert short_path(Path(f"/models/a{bad}b.gguf")) == str(Path("/models/a\ufffdb.gguf"))


def test_a_name_is_added_only_where_nothing_says_it() -> None:
    tiny = Path("/models/tiny.F16.gguf")
    assert unsaid_name(tiny, DAMAGED) == "tiny.F16.gguf"
    assert unsaid_name(tiny, translate("Test", "“{file}” is damaged.", file="tiny.F16.gguf")) == ""
    assert unsaid_name(tiny, translate("Test", "“{name}” needs memory.", name="tiny"), "tiny") == ""
    assert unsaid_name(tiny, translate("Test", "A tiny file is damaged."), "tiny") == "tiny.F16.gguf"
    assert unsaid_name(LONG, DAMAGED) == short_name(LONG)


def test_words_of_every_language_stay_as_they_are() -> None:
    for name in ("日本\u3000語.gguf", "می\u200cخواهم.gguf", "\U0001f469\u200d\U0001f4bb.gguf", "שלום.gguf"):
        assert short_name(Path("/models", name)) == name


@pytest.mark.parametrize("bad", ["\n", "\x1b", "\u202e", "\u2067"])
def test_a_model_is_called_by_what_can_stand_in_a_row(model: Path, tmp_path: Path, bad: str) -> None:
    path = tmp_path / f"a{bad}b.gguf"
    shutil.copy(model, path)
    found = check_model(path)[0]
    assert (found.name, found.path) == ("a\ufffdb", str(path))
    assert model_name(Path(f"{'0a' * 32}.gguf"), f"own{bad}name", None) == "own\ufffdname"
    path.write_bytes(b"")
    refused = check_model(path)[0]
    assert refused.name == "a\ufffdb" and refused.problem is not None
    assert bad not in refused.problem.english()
    path.unlink()
    path.mkdir()
    no_file = check_model(path)[0].problem
    assert no_file is not None and "a\ufffdb.gguf is a folder" in no_file.english()
