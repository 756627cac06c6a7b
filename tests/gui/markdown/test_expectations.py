"""What every feature of Markdown is read as, compared with what is stored beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.gui.markdown.document import Document, readable
from tests.gui.markdown.describing import EXPECTED, SUFFIX, described
from tests.gui.test_markdown_document import streamed

FEATURES = sorted(EXPECTED.glob("*.md"))


@pytest.mark.parametrize("feature", FEATURES, ids=lambda path: path.stem)
def test_a_feature_is_read_as_it_is_stored(feature: Path) -> None:
    source = feature.read_text(encoding="utf-8")
    expected = feature.with_name(feature.stem + SUFFIX).read_text(encoding="utf-8")
    assert described(Document(source).blocks) == expected


@pytest.mark.parametrize("feature", FEATURES, ids=lambda path: path.stem)
@pytest.mark.parametrize("size", [1, 2, 5, 17, 64, 500])
def test_a_feature_that_arrives_in_pieces_is_the_same_in_the_end(feature: Path, size: int) -> None:
    source = feature.read_text(encoding="utf-8")
    whole = Document(source).blocks
    assert streamed(source, list(range(0, len(source), size))).blocks == whole
    assert list(readable(source)) == whole


def test_each_feature_is_stored_with_its_blocks() -> None:
    assert len(FEATURES) >= 12
    stored = {path.name for path in EXPECTED.iterdir()}
    assert stored == {name for path in FEATURES for name in (path.name, path.stem + SUFFIX)}
