from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.found_file import FileOrigin
from app.hub.library import OtherModels
from app.hub.library_ollama import find_in_store
from app.hub.library_places import Places

CONTENT = b"GGUF"
MODEL = "application/vnd.ollama.image.model"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def found(home: Path, platform: str = "linux", **environment: str) -> list[tuple[FileOrigin, str, str]]:
    """Return what is found, without what this machine has of its own."""
    variable = "USERPROFILE" if platform == "win32" else "HOME"
    told = {variable: str(home), **environment}
    files = OtherModels(told, Places(told, platform)).find()
    below = [file for file in files if Path(file.path).is_relative_to(home.parent)]
    return [(file.origin, str(Path(file.path).relative_to(home.parent)), file.name) for file in below]


def touch(path: Path, content: bytes = CONTENT) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def into_hub_cache(cache: Path, revision: str, name: str, content: bytes = CONTENT) -> Path:
    """Lay a file into a cache as huggingface_hub does: a blob, and a link to it in the revision's snapshot."""
    repository = cache / "models--org--Tiny-GGUF"
    blob = touch(repository / "blobs" / hashlib.sha256(content).hexdigest(), content)
    link = repository / "snapshots" / revision / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(os.path.relpath(blob, link.parent))
    return link


def into_ollama(store: Path, *way: str, content: bytes = CONTENT, **layer: object) -> Path:
    """Lay a model into a store as Ollama does: a blob, and a manifest that names it."""
    digest = hashlib.sha256(content).hexdigest()
    blob = touch(store / "blobs" / f"sha256-{digest}", content)
    layers: list[object] = [
        {"mediaType": "application/vnd.ollama.image.template", "digest": f"sha256:{'0' * 64}"},
        {"mediaType": MODEL, "digest": f"sha256:{digest}", "size": len(content), **layer},
    ]
    touch(store.joinpath("manifests", *way), json.dumps({"schemaVersion": 2, "layers": layers}).encode())
    return blob


def test_lm_studios_models_are_found_in_both_of_its_folders(home: Path) -> None:
    touch(home / ".lmstudio" / "models" / "org" / "Tiny-GGUF" / "Tiny-Q4_0.gguf")
    touch(home / ".cache" / "lm-studio" / "models" / "org" / "Old-GGUF" / "Old-Q8_0.gguf")
    assert found(home) == [
        ("lm_studio", "home/.lmstudio/models/org/Tiny-GGUF/Tiny-Q4_0.gguf", ""),
        ("lm_studio", "home/.cache/lm-studio/models/org/Old-GGUF/Old-Q8_0.gguf", ""),
    ]


def test_a_folder_that_was_chosen_in_lm_studio_is_searched(home: Path, tmp_path: Path) -> None:
    elsewhere, moved = tmp_path / "elsewhere", tmp_path / "moved"
    touch(elsewhere / "org" / "a.gguf")
    touch(moved / "models" / "org" / "b.gguf")
    touch(home / ".lmstudio" / "settings.json", json.dumps({"downloadsFolder": str(elsewhere)}).encode())
    touch(home / ".lmstudio-home-pointer", f"{moved}\n".encode())
    assert [path for _, path, _ in found(home)] == ["elsewhere/org/a.gguf", "moved/models/org/b.gguf"]


@pytest.mark.parametrize(
    ("platform", "data"),
    [
        ("linux", ".local/share/Jan/data"),
        ("darwin", "Library/Application Support/Jan/data"),
        ("linux", "jan"),
    ],
)
def test_jans_models_are_called_by_their_folders(home: Path, platform: str, data: str) -> None:
    touch(home / data / "llamacpp" / "models" / "org" / "Tiny-Q4_0" / "model.gguf")
    touch(home / data / "models" / "tiny" / "tiny-q8_0.gguf", b"GGUF2")
    assert found(home, platform) == [
        ("jan", f"home/{data}/llamacpp/models/org/Tiny-Q4_0/model.gguf", "org/Tiny-Q4_0"),
        ("jan", f"home/{data}/models/tiny/tiny-q8_0.gguf", ""),
    ]


def test_jans_folder_of_data_is_where_its_settings_say(home: Path, tmp_path: Path) -> None:
    touch(tmp_path / "data" / "llamacpp" / "models" / "x" / "model.gguf")
    settings = home / ".local" / "share" / "jan.ai.app" / "settings.json"
    touch(settings, json.dumps({"data_folder": str(tmp_path / "data")}).encode())
    assert found(home) == [("jan", "data/llamacpp/models/x/model.gguf", "x")]


@pytest.mark.parametrize("variable", ["HF_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", None])
def test_the_hub_cache_is_found_wherever_it_is(home: Path, tmp_path: Path, variable: str | None) -> None:
    root = tmp_path / "cache" if variable else home / ".cache"
    below = {"HF_HUB_CACHE": "", "HF_HOME": "hub"}.get(variable or "", "huggingface/hub")
    into_hub_cache(root / below, "abc", "sub/Tiny-Q4_0.gguf")
    listed = found(home, **({variable: str(root)} if variable else {}))
    path = (root / below / "models--org--Tiny-GGUF/snapshots/abc/sub/Tiny-Q4_0.gguf").relative_to(tmp_path)
    assert listed == [("hub_cache", str(path), "")]


def test_a_blob_in_two_revisions_is_one_model_under_the_newest(home: Path) -> None:
    cache = home / ".cache" / "huggingface" / "hub"
    for revision in ("aaa", "bbb"):
        into_hub_cache(cache, revision, "Tiny-Q4_0.gguf")
    into_hub_cache(cache, "aaa", "Older-Q4_0.gguf", b"GGUF2")
    touch(cache / "models--org--Tiny-GGUF" / "refs" / "main", b"bbb\n")
    assert [path.split("snapshots/")[1] for _, path, _ in found(home)] == [
        "bbb/Tiny-Q4_0.gguf",
        "aaa/Older-Q4_0.gguf",
    ]


def test_a_link_whose_blob_was_deleted_is_no_model(home: Path) -> None:
    link = into_hub_cache(home / ".cache" / "huggingface" / "hub", "abc", "Tiny-Q4_0.gguf")
    link.resolve().unlink()
    assert found(home) == []


def test_ollamas_models_have_the_names_by_which_it_runs_them(home: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    blobs = [
        into_ollama(home / ".ollama" / "models", "registry", "library", "tiny", "1b", content=b"GGUF1"),
        into_ollama(store, "registry", "somebody", "tiny", "latest", content=b"GGUF2"),
        into_ollama(store, "another.host", "org", "日本-GGUF", "Q4_0", content=b"GGUF3"),
    ]
    listed = found(home, OLLAMA_MODELS=str(store))
    assert {(path, name) for _, path, name in listed} == {
        (str(blob.relative_to(tmp_path)), name)
        for blob, name in zip(blobs, ["tiny:1b", "somebody/tiny:latest", "org/日本-GGUF:Q4_0"], strict=True)
    }


def test_one_blob_under_two_tags_is_one_model(home: Path) -> None:
    store = home / ".ollama" / "models"
    into_ollama(store, "registry", "library", "tiny", "1b")
    into_ollama(store, "registry", "library", "tiny", "latest")
    assert [name for _, _, name in found(home)] == ["tiny:1b"]


OUTSIDE = "sha256:../../../secret"


@pytest.mark.parametrize(
    "manifest",
    [
        b"",
        b"{",
        b"[" * 100_000,
        b"\xff\xfe",
        b"null",
        b"[]",
        b'{"layers": 3}',
        b'{"layers": [3, null, {}]}',
        json.dumps({"layers": [{"mediaType": MODEL, "digest": OUTSIDE}]}).encode(),
        json.dumps({"layers": [{"mediaType": MODEL, "digest": "sha256:" + "a" * 64 + "/../x"}]}).encode(),
        json.dumps({"layers": [{"mediaType": MODEL, "digest": "sha256:" + "A" * 64}]}).encode(),
        json.dumps({"layers": [{"mediaType": MODEL, "digest": ["sha256:" + "a" * 64]}]}).encode(),
        json.dumps({"layers": [{"mediaType": MODEL, "digest": "sha256:" + "b" * 64}]}).encode(),
        b" " * (2 << 20),
    ],
)
def test_a_manifest_that_makes_no_sense_names_no_model(home: Path, manifest: bytes) -> None:
    store = home / ".ollama" / "models"
    for digest in ("a" * 64, "A" * 64):
        touch(store / "blobs" / f"sha256-{digest}")
    touch(home / "secret")
    touch(store / "manifests" / "registry" / "library" / "tiny" / "1b", manifest)
    assert found(home) == []


@given(st.binary(max_size=200) | st.recursive(st.text(max_size=9), lambda inner: st.lists(inner, max_size=3)))
def test_no_manifest_breaks_the_search(tmp_path_factory: pytest.TempPathFactory, content: bytes | object) -> None:
    store = tmp_path_factory.mktemp("store")
    raw = content if isinstance(content, bytes) else json.dumps({"layers": content}).encode()
    touch(store / "manifests" / "a" / "b" / "c" / "d", raw)
    assert list(find_in_store(store)) == []


def test_links_among_manifests_are_not_followed(home: Path) -> None:
    store = home / ".ollama" / "models"
    into_ollama(store, "registry", "library", "tiny", "1b")
    (store / "manifests" / "round").symlink_to(store / "manifests", target_is_directory=True)
    assert [name for _, _, name in found(home)] == ["tiny:1b"]


def test_folders_that_link_in_a_circle_are_gone_through_once(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = home / ".lmstudio" / "models"
    touch(tmp_path / "drive" / "org" / "far.gguf", b"GGUF2")
    touch(models / "org" / "near.gguf")
    (models / "org" / "round").symlink_to(models, target_is_directory=True)
    (models / "drive").symlink_to(tmp_path / "drive", target_is_directory=True)
    listed: list[str] = []
    scan = os.scandir

    def count(folder: str) -> object:
        listed.append(os.path.realpath(folder))
        return scan(folder)

    monkeypatch.setattr(os, "scandir", count)
    assert sorted(Path(path).name for _, path, _ in found(home)) == ["far.gguf", "near.gguf"]
    assert listed.count(str(models)) == 1


def test_blobs_that_cannot_be_reached_cost_no_other_model(home: Path, tmp_path: Path) -> None:
    store = tmp_path / "closed"
    into_ollama(store, "registry", "library", "tiny", "1b")
    shutil.rmtree(store / "blobs")
    (store / "blobs").symlink_to("x" * 300)  # the system refuses to look, as with a folder that may not be entered
    into_ollama(home / ".ollama" / "models", "registry", "library", "small", "1b", content=b"GGUF2")
    assert [name for _, _, name in found(home, OLLAMA_MODELS=str(store))] == ["small:1b"]


@pytest.mark.parametrize("name", ["HF_HUB_CACHE", "OLLAMA_MODELS", "HF_HOME"])
@pytest.mark.parametrize("value", ["", "  ", "relative/folder", "/none/at/all", "bad\0name"])
def test_a_place_that_is_not_there_holds_nothing(home: Path, name: str, value: str) -> None:
    assert found(home, **{name: value}) == []


def test_a_place_that_is_named_from_nowhere_is_not_looked_for(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    into_ollama(home / "relative", "registry", "library", "tiny", "1b")
    monkeypatch.chdir(home)
    told = {"HOME": str(home), "OLLAMA_MODELS": "relative", "HF_HOME": "relative"}
    assert not any("relative" in str(place) for place in (*Places(told).ollama(), *Places(told).hub_caches()))
    assert len(found(home, OLLAMA_MODELS="~/relative")) == 1


def test_a_manifest_of_no_sane_size_is_not_taken_in(home: Path) -> None:
    store = home / ".ollama" / "models"
    manifest = store / "manifests" / "registry" / "library" / "tiny" / "1b"
    into_ollama(store, "registry", "library", "tiny", "1b")
    manifest.write_bytes(manifest.read_bytes() + b" " * (1 << 20))
    assert found(home) == []


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="whoever runs this may read everything")
def test_a_folder_without_the_right_to_read_it_holds_nothing(home: Path) -> None:
    hidden = home / ".lmstudio" / "models"
    touch(hidden / "org" / "a.gguf")
    touch(home / ".cache" / "lm-studio" / "models" / "b.gguf", b"GGUF2")
    hidden.chmod(0)
    listed = found(home)
    hidden.chmod(0o700)
    assert [Path(path).name for _, path, _ in listed] == ["b.gguf"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no such files here")
def test_what_is_no_file_is_not_waited_for(home: Path) -> None:
    for place in (".lmstudio-home-pointer", ".lmstudio/settings.json", ".ollama/models/manifests/a/b/c/d"):
        (home / place).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(home / place)
    assert found(home) == []


def test_without_a_home_and_with_the_switch_nothing_is_found(home: Path) -> None:
    touch(home / ".lmstudio" / "models" / "org" / "a.gguf")
    assert found(home, TOKENLIGHT_OWN_MODELS_ONLY="1") == []
    assert found(home, TOKENLIGHT_OWN_MODELS_ONLY="0") != []
    assert Places({}, "darwin").lm_studio() == []


def test_a_search_writes_nothing_and_asks_no_network(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch(home / ".lmstudio" / "models" / "org" / "a.gguf")
    into_hub_cache(home / ".cache" / "huggingface" / "hub", "abc", "b.gguf", b"GGUF2")
    into_ollama(home / ".ollama" / "models", "registry", "library", "tiny", "1b", content=b"GGUF3")
    before = stamps(home)
    monkeypatch.setattr(socket, "socket", _refuse)
    assert len(found(home)) == 3
    assert stamps(home) == before


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_size) for path in folder.rglob("*")}


def _refuse(*_words: object) -> None:
    raise AssertionError
