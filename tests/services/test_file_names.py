from __future__ import annotations

from pathlib import Path

import pytest

from app.core.words import translate
from app.services.file_names import LONGEST_NAME, short_name, short_path, unsaid_name

LONG = Path("/models/Some-Very-Long-Model-Name-That-Goes-On-And-On-And-On-Instruct.Q4_K_M.gguf")
DAMAGED = translate("Test", "This file is damaged.")


def test_a_long_name_keeps_both_of_its_ends() -> None:
    name = short_name(LONG)
    assert len(name) == LONGEST_NAME
    assert name.startswith("Some-Very-Long-Model") and "…" in name and name.endswith("Instruct.Q4_K_M.gguf"[-19:])
    assert short_name(Path("/models/tiny.gguf")) == "tiny.gguf"


@pytest.mark.parametrize("bad", ["\n", "\u202e", "\udcff"])
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
