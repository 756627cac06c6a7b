from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from app.core.errors import UserError
from app.core.model_file import ModelSource
from app.system.model_files import OpenFiles, identify, lost, shown
from app.system.model_search import find_files, find_models


def touch(path: Path, content: bytes = b"GGUF") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_models_are_found_in_folders_below_whatever_their_names(tmp_path: Path) -> None:
    wanted = [
        touch(tmp_path / "a" / "sp ace ümlaut 日本 😀.gguf"),
        touch(tmp_path / "a" / "deep" / "er" / "50%#'.GGUF"),
        touch(tmp_path / "b" / "z.gguf"),
    ]
    touch(tmp_path / "a" / "notes.txt")
    touch(tmp_path / "a" / ".cache" / "hidden.gguf")
    found = find_models([tmp_path / "a", tmp_path / "b", tmp_path / "none"])
    assert sorted(found) == sorted(wanted)


def test_a_file_in_two_folders_is_found_once(tmp_path: Path) -> None:
    model = touch(tmp_path / "a" / "x.gguf")
    assert find_models([tmp_path, tmp_path / "a"]) == [model]


def test_of_a_model_in_parts_only_the_first_is_found(tmp_path: Path) -> None:
    first = touch(tmp_path / "m-00001-of-00003.gguf")
    touch(tmp_path / "m-00002-of-00003.gguf")
    touch(tmp_path / "m-00003-of-00003.gguf")
    assert find_models([tmp_path]) == [first]


def test_a_model_in_parts_is_one_row_that_knows_which_are_there(tmp_path: Path) -> None:
    for number in (1, 3):
        touch(tmp_path / f"m-0000{number}-of-00003.gguf", b"GGUF" * number)
    for number in (2, 3):
        touch(tmp_path / f"n-0000{number}-of-00003.gguf")
    touch(tmp_path / "o-00007-of-00003.gguf")
    whole, headless, odd = find_files([tmp_path])
    assert (Path(whole.path).name, whole.parts, whole.parts_wanted, whole.is_first) == (
        "m-00001-of-00003.gguf",
        2,
        3,
        True,
    )
    assert whole.size == 16
    assert (Path(headless.path).name, headless.parts, headless.is_first) == ("n-00002-of-00003.gguf", 2, False)
    assert (odd.parts, odd.parts_wanted, odd.is_first) == (1, 1, True)


def test_the_parts_of_models_in_two_folders_are_not_thrown_together(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        touch(tmp_path / folder / "m-00001-of-00002.gguf")
    assert [found.parts for found in find_files([tmp_path])] == [1, 1]


def test_a_file_and_a_link_to_it_are_one_model_under_its_own_path(tmp_path: Path) -> None:
    model = touch(tmp_path / "z.gguf")
    (tmp_path / "a.gguf").symlink_to(model)
    os.link(model, tmp_path / "zz.gguf")
    assert find_models([tmp_path]) == [model]


def test_a_link_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.gguf").symlink_to(tmp_path / "gone")
    assert find_models([tmp_path]) == [tmp_path / "a.gguf"]


def test_an_open_file_is_read_in_pieces_and_closed_afterwards(tmp_path: Path) -> None:
    touch(tmp_path / "x.gguf", bytes(range(100)))
    with OpenFiles(tmp_path) as files:
        source = files.open("x.gguf")
        assert source is not None
        assert source.size == 100
        assert source.read(10, 3) == bytes([10, 11, 12])
        assert source.read(98, 10) == bytes([98, 99])
        assert files.open("y.gguf") is None
    with pytest.raises(ValueError, match="closed"):
        source.read(0, 1)


def test_a_folder_with_the_name_of_a_model_says_so(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").mkdir()
    with OpenFiles(tmp_path) as files, pytest.raises(UserError, match="is a folder"):
        files.open("x.gguf")


def test_a_pipe_is_no_model_and_is_not_waited_for(tmp_path: Path) -> None:
    if sys.platform == "win32":
        target = tmp_path / "pipe.gguf"
        target.mkdir()
    else:
        os.mkfifo(tmp_path / "pipe.gguf")
    with OpenFiles(tmp_path) as files, pytest.raises(UserError):
        files.open("pipe.gguf")


def source_of(content: bytes) -> ModelSource:
    return ModelSource(lambda offset, count: content[offset : offset + count], len(content))


def test_the_identity_depends_on_header_weights_and_size_and_not_on_the_name() -> None:
    header, weights = b"h" * 5000, bytes(7) * 500_000
    content = header + weights
    same = identify(source_of(content), len(header), Path("a.gguf")).identity
    assert identify(source_of(content), len(header), Path("b.gguf")).identity == same
    others = [
        b"H" + content[1:],
        content[:-1] + b"\1",
        content + b"\0",
        content[:5000] + b"\1" + content[5001:],
    ]
    identities = {identify(source_of(other), len(header), Path("a.gguf")).identity for other in others}
    assert len(identities) == len(others)
    assert same not in identities


def test_only_sixteen_pieces_of_the_weights_are_read() -> None:
    read = []

    def note(offset: int, count: int) -> bytes:
        read.append((offset, count))
        return bytes(min(count, 10))

    size = 40 * 2**30
    identify(ModelSource(note, size), 1000, Path("big.gguf"))
    weights = [piece for piece in read if piece[0] >= 1000]
    assert len(weights) == 16
    assert all(count == 65_536 for _, count in weights)
    assert weights[0][0] == 1000
    assert weights[-1][0] == size - 65_536


def test_a_small_model_has_an_identity_too() -> None:
    ref = identify(source_of(b"h" * 10 + b"w"), 10, Path("tiny.gguf"))
    assert ref.identity.startswith("11-")


def test_a_name_that_is_no_text_can_be_shown() -> None:
    assert shown(os.fsdecode(b"m\xff.gguf")).encode() == "m\ufffd.gguf".encode()


def test_a_disk_that_gives_no_reason_is_told_in_whole_words_of_one_language() -> None:
    told = lost(Path("m.gguf"), OSError())
    assert told.values == {"path": "m.gguf"} and told.english().startswith("m.gguf went away while it was read")
    assert lost(Path("m.gguf"), OSError(5, "Input/output error")).values["reason"] == "Input/output error"
