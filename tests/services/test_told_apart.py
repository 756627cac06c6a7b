"""Models that are called alike: each is told from the others, and none whose name says enough is changed."""

from __future__ import annotations

import pytest

from app.services.plan_values import OfferedModel
from app.services.told_apart import told_apart


def offered(path: str, name: str = "tiny", quantisation: str | None = "F16") -> OfferedModel:
    return OfferedModel(path, name, quantisation, 1, ())


@pytest.mark.parametrize(
    ("models", "names"),
    [
        ([offered("/a/tiny.gguf"), offered("hub:org/tiny")], ["tiny", "tiny · org/tiny"]),
        (
            [offered("/a/tiny.gguf"), offered("/b/tiny.gguf"), offered("hub:org/tiny")],
            ["tiny · a", "tiny · b", "tiny · org/tiny"],
        ),
        ([offered("hub:a/tiny"), offered("hub:b/tiny")], ["tiny · a/tiny", "tiny · b/tiny"]),
        (
            [offered("/a/x/tiny.gguf"), offered("/b/x/tiny.gguf")],
            ["tiny · /a/x/tiny.gguf", "tiny · /b/x/tiny.gguf"],
        ),
        ([offered("/a/tiny.gguf"), offered("/b/tiny.gguf", quantisation="Q8_0")], ["tiny", "tiny"]),
        ([offered("/a/tiny.gguf"), offered("hub:org/other", "other")], ["tiny", "other"]),
        ([offered("/a/x.gguf", quantisation=None), offered("hub:o/x", quantisation=None)], ["tiny", "tiny · o/x"]),
    ],
)
def test_each_of_those_that_are_called_alike_says_where_it_is(models: list[OfferedModel], names: list[str]) -> None:
    told = told_apart(models)
    assert [model.name for model in told] == names
    assert [model.path for model in told] == [model.path for model in models]
