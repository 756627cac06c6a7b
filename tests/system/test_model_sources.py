"""What each model came of is kept over restarts, as long as it is the same file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.download import DownloadFile, DownloadWanted
from app.core.found_file import FoundFile
from app.core.model import FoundModel, ModelRef
from app.system import model_sources
from app.system.model_search import find_files
from app.system.model_sources import ModelSources
from tests.examples import examples

DIGEST = "1" * 64
WANTED = DownloadWanted("org/repo", "a" * 40, (DownloadFile("m.gguf", 4, DIGEST),))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "models"
    made.mkdir()
    (made / "m.gguf").write_bytes(b"abcd")
    return made


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "data" / "sources.json"


def found(folder: Path) -> FoundFile:
    (file,) = find_files([folder])
    return file


def test_it_is_known_after_a_restart_by_a_search_and_by_a_load(folder: Path, kept: Path) -> None:
    ModelSources(kept).note(folder / "m.gguf", WANTED)
    later = ModelSources(kept)
    assert later.of(found(folder)) == WANTED
    path = str(folder / "m.gguf")
    model, ref = later.told(FoundModel(path, 4, "M"), ModelRef(4, "d", path))
    assert model.source == WANTED and ref is not None
    assert (ref.repository, ref.revision, ref.sha256) == ("org/repo", "a" * 40, DIGEST)
    assert ref.identity == ModelRef(4, "d").identity, "it is the same model whatever is known of it"
    assert later.told(FoundModel(path, 4, "M"), None)[1] is None
    assert later.checked(lambda _path: (model, None))(Path(path))[0].source == WANTED


def test_of_several_parts_none_is_the_checksum_of_the_whole(folder: Path, kept: Path) -> None:
    names = [f"p-0000{number}-of-00002.gguf" for number in (1, 2)]
    for name in names:
        (folder / name).write_bytes(b"xy")
    wanted = DownloadWanted("org/p", "b" * 40, tuple(DownloadFile(name, 2, DIGEST) for name in names))
    sources = ModelSources(kept)
    sources.note(folder / names[0], wanted)
    assert [sources.of(file) for file in find_files([folder])] == [None, wanted]
    _, ref = sources.told(FoundModel(str(folder / names[0]), 4, "P"), ModelRef(4, "d"))
    assert ref is not None and (ref.repository, ref.sha256) == ("org/p", None)


@pytest.mark.parametrize("change", ["size", "time", "gone"])
def test_of_another_file_at_its_path_nothing_is_known(folder: Path, kept: Path, change: str) -> None:
    sources, path = ModelSources(kept), folder / "m.gguf"
    sources.note(path, WANTED)
    before = found(folder)
    match change:
        case "size":
            path.write_bytes(b"abcde")
            os.utime(path, ns=(before.modified_ns, before.modified_ns))
        case "time":
            os.utime(path, ns=(before.modified_ns, before.modified_ns + 1_000_000_000))
        case _:
            path.unlink()
    assert sources.told(FoundModel(str(path), 4, "M"), None)[0].source is None
    assert all(sources.of(each) is None for each in find_files([folder]))


def test_it_follows_to_another_name_and_is_forgotten_in_the_trash(folder: Path, kept: Path) -> None:
    sources, old, new = ModelSources(kept), folder / "m.gguf", folder / "n.gguf"
    sources.note(old, WANTED)
    old.rename(new)
    sources.follow({str(old), "elsewhere"}, str(new))
    assert sources.of(found(folder)) == WANTED and ModelSources(kept).of(found(folder)) == WANTED
    sources.follow({str(new)}, "")
    assert ModelSources(kept).of(found(folder)) is None


def test_of_many_the_oldest_go(folder: Path, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_sources, "MOST_KEPT", 2)
    sources = ModelSources(kept)
    for name in ("a", "b", "c"):
        (folder / f"{name}.gguf").write_bytes(b"abcd")
        sources.note(folder / f"{name}.gguf", WANTED)
    known = {Path(each.path).stem for each in find_files([folder]) if ModelSources(kept).of(each)}
    assert known == {"b", "c"}


def test_a_disk_that_refuses_stops_nothing(folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "app.system.model_sources")
    (tmp_path / "taken").write_bytes(b"")
    sources = ModelSources(tmp_path / "taken" / "sources.json")
    sources.note(folder / "m.gguf", WANTED)
    assert sources.of(found(folder)) == WANTED and "cannot be kept" in caplog.text
    sources.note(folder / "nothing.gguf", WANTED)


@examples(20)
@given(content=st.one_of(st.binary(max_size=60), st.sampled_from([b"[[]]", b'[{"path": 3}]', b"{}"])))
def test_a_damaged_file_says_nothing(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    kept = tmp_path_factory.mktemp("kept") / "sources.json"
    kept.write_bytes(content)
    assert ModelSources(kept).of(FoundFile("m.gguf", 4, 0)) is None
