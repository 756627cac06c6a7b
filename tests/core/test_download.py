"""What a download is called, and which paths of a listing stay inside the folder of models."""

from __future__ import annotations

import pytest

from app.core.download import DownloadFile, DownloadWanted, is_commit, is_sha256, safe_parts, wanted_of
from app.core.hub_model import HubFile, HubModel


@pytest.mark.parametrize("path", ["a.gguf", "Q4_K_M/модель 模型-00001-of-00002.gguf", ".hidden.gguf", "a..b/c.gguf"])
def test_ordinary_paths_are_taken_as_they_are(path: str) -> None:
    assert safe_parts(path) == tuple(path.split("/"))


def test_a_hidden_folder_is_none_here() -> None:
    assert safe_parts(".org/r/.cache/.a/.b.gguf") == ("_org", "r", "_cache", "_a", ".b.gguf")


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/a.gguf",
        "../a.gguf",
        "a/../../b.gguf",
        "a/./b.gguf",
        "a//b.gguf",
        "a/",
        "..\\a.gguf",
        "C:\\a.gguf",
        "C:a.gguf",
        "a.gguf:stream",
        "con.gguf",
        "a/LPT1",
        "nul .gguf",
        "a. /b.gguf",
        "a./b.gguf",
        " a.gguf",
        "a.gguf ",
        "a\0.gguf",
        "a\n.gguf",
        "a\u202egpj.gguf",
        "x" * 300 + ".gguf",
        "界" * 100 + ".gguf",
        "a/" * 200 + "a.gguf",
    ],
)
def test_paths_that_could_lead_elsewhere_are_refused(path: str) -> None:
    assert safe_parts(path) is None


def test_a_model_of_a_listing_is_one_download_with_all_its_parts() -> None:
    parts = tuple(HubFile(f"Q8/big-0000{n}-of-00002.gguf", n * 10, "ab" * 32) for n in (1, 2))
    wanted = wanted_of(HubModel("org/big-GGUF", parts, "abc"))
    assert wanted == DownloadWanted(
        "org/big-GGUF", "abc", tuple(DownloadFile(part.path, part.size, part.sha256) for part in parts)
    )
    assert (wanted.name, wanted.size) == ("big-00001-of-00002.gguf", 30)
    assert wanted.key == "org/big-GGUF@abc/Q8/big-00001-of-00002.gguf"


def test_a_commit_is_40_hexadecimal_digits() -> None:
    assert is_commit("0f" * 20)
    assert not any(map(is_commit, ("", "main", "0f" * 19, "0F" * 20, "zz" * 20)))


def test_a_checksum_is_64_hexadecimal_digits() -> None:
    assert is_sha256("0f" * 32)
    assert not any(map(is_sha256, ("", "0", "0f" * 31, "0F" * 32, "zz" * 32)))
