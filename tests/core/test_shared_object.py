"""Reading what a library needs: real ones, broken ones, and what is missing around them."""

from __future__ import annotations

import io
import random
import sys
from pathlib import Path
from typing import BinaryIO

import pytest

from app.core.shared_object import Damaged, SharedObject, find_trouble, read_shared_object
from tests.broken_libraries import NOTHING, compile_library, needs_linux, real_folder

pytestmark = needs_linux


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("library") / "libthing.so"
    compile_library(path, NOTHING, "liba.so.1", "libb.so")
    return path.read_bytes()


def open_file(path: str) -> BinaryIO:
    return Path(path).open("rb")


def known(name: str) -> bool:
    return name.startswith(("libc.", "libm.", "libstdc++.", "libgcc_s.", "libgomp.", "libdl.", "libpthread.", "ld-"))


def test_what_a_library_needs_and_where_it_looks_is_read(content: bytes) -> None:
    library = read_shared_object(io.BytesIO(content))
    assert library.needed[:2] == ("liba.so.1", "libb.so")
    assert library.folders == ("$ORIGIN",)


def test_the_real_libraries_lack_nothing() -> None:
    assert find_trouble(str(real_folder() / "libllama.so"), open_file, known) == ((), ())


def test_an_interpreter_is_read_too() -> None:
    assert isinstance(read_shared_object(io.BytesIO(Path(sys.executable).resolve().read_bytes())), SharedObject)


def test_every_truncated_library_is_damaged(content: bytes) -> None:
    whole = read_shared_object(io.BytesIO(content))
    damaged = 0
    for length in range(0, len(content), 61):
        try:
            assert read_shared_object(io.BytesIO(content[:length])) == whole  # what is cut off is not loaded
        except Damaged:
            damaged += 1
    assert damaged > len(content) / 61 / 3


def test_a_library_whose_last_part_is_cut_off_is_damaged(tmp_path: Path) -> None:
    compile_library(tmp_path / "libdata.so", "char data[100000] = {1};")
    whole = (tmp_path / "libdata.so").read_bytes()
    assert read_shared_object(io.BytesIO(whole)).folders == ("$ORIGIN",)
    with pytest.raises(Damaged):
        read_shared_object(io.BytesIO(whole[:-60_000]))


@pytest.mark.parametrize("seed", range(200))
def test_a_library_with_wrong_bytes_is_read_or_damaged_and_nothing_else(content: bytes, seed: int) -> None:
    chance = random.Random(seed)
    broken = bytearray(content)
    for _ in range(chance.randrange(1, 40)):
        broken[chance.randrange(64 + 56 * 12)] = chance.randrange(256)
    try:
        read_shared_object(io.BytesIO(bytes(broken)))
    except Damaged:
        return


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"MZ" + bytes(200), bytes(64)])
def test_what_is_no_library_is_damaged(data: bytes) -> None:
    with pytest.raises(Damaged):
        read_shared_object(io.BytesIO(data))


def test_missing_and_damaged_libraries_are_named_through_others(tmp_path: Path) -> None:
    compile_library(tmp_path / "libdeep.so", NOTHING, "libgone.so.1")
    compile_library(tmp_path / "libbroken.so", NOTHING)
    compile_library(tmp_path / "libmain.so", NOTHING, "libdeep.so", "libbroken.so", "libalso.so")
    (tmp_path / "libbroken.so").write_bytes(b"\x7fELF")
    trouble = find_trouble(str(tmp_path / "libmain.so"), open_file, known)
    assert set(trouble.missing) == {"libgone.so.1", "libalso.so"}
    assert trouble.damaged == (str(tmp_path / "libbroken.so"),)


def test_libraries_that_need_each_other_are_followed_once(tmp_path: Path) -> None:
    compile_library(tmp_path / "liba.so", NOTHING)
    compile_library(tmp_path / "libb.so", NOTHING, "liba.so")
    (tmp_path / "liba.so").unlink()
    compile_library(tmp_path / "liba.so", NOTHING, "libb.so")
    assert find_trouble(str(tmp_path / "liba.so"), open_file, known) == ((), ())


def test_a_library_that_is_not_there_is_missing(tmp_path: Path) -> None:
    assert find_trouble(str(tmp_path / "libx.so"), open_file, known).missing == ("libx.so",)
