"""What models a repository of the hub holds, as its listing tells, and which of them somebody means."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import quote, urljoin, urlsplit

import msgspec

from app.core.download import is_commit, is_sha256
from app.core.errors import ExitCode, UserError
from app.core.gguf_cursor import shown_name
from app.core.hub_model import MAIN, HubFile, HubModel, HubReference
from app.core.words import counted, translate
from app.hub import web_sentences
from app.hub.web import Limits, Web, host_of

MOST_PAGES = 50
MOST_LISTING_BYTES = 32 * 1024 * 1024
MOST_NAMED = 5
COMMIT = "X-Repo-Commit"
"""The header in which the hub tells what it has answered of."""
_PART = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$", re.IGNORECASE)
_NO_CHAT = ("mmproj", "imatrix")
"""How the names of GGUF files begin, or end, that go with a model and are none."""
_NEXT = re.compile(r'<([^<>\s]+)>\s*;[^,]*\brel="?next"?')


class _Pointer(msgspec.Struct):
    size: int = -1
    oid: str = ""


class _Entry(msgspec.Struct):
    type: str
    path: str
    size: int = -1
    lfs: _Pointer | None = None


def models_of(web: Web, endpoint: str, repository: str, limits: Limits) -> tuple[HubModel, ...]:
    """Return the models of a repository by name, the parts of one together; empty where it holds no GGUF file."""
    address = f"{endpoint}/api/models/{repository}/tree/{MAIN}?recursive=true"
    entries: dict[str, _Entry] = {}
    seen: set[str] = set()
    revision = ""
    for _ in range(MOST_PAGES):
        seen.add(address)
        content, following, commit = _page(web, address, limits)
        revision = revision or commit
        if commit not in (revision, MAIN):
            raise web_sentences.changed_meanwhile(repository)
        entries |= {entry.path: entry for entry in content}
        if following is None or following in seen:  # pages in a circle: there is no more than that
            break
        address = following
    files = [
        HubFile(entry.path, size, _sha256(entry))
        for entry in entries.values()
        if entry.type == "file" and entry.path.lower().endswith(".gguf") and (size := _size(entry)) > 0
    ]
    return _models((repository, revision), sorted(files, key=lambda file: file.path.lower()))


def address_of(endpoint: str, repository: str, revision: str, path: str) -> str:
    """Return where a file can be read."""
    return f"{endpoint}/{repository}/resolve/{quote(revision, safe='')}/{quote(path)}"


def chosen(models: Iterable[HubModel], wanted: HubReference) -> tuple[HubModel, ...]:
    """Return the models that somebody means: all, or those whose file, or whose quantisation, was named."""
    models = tuple(models)
    if not models:
        raise UserError(
            translate(
                "Hub",
                "{repository} holds no GGUF file: look for the same model with “GGUF” in its name.",
                repository=wanted.repository,
            )
        )
    if not wanted.file:
        return models
    name = wanted.file.lower()
    exact = [model for model in models if name in (model.path.lower(), _last(model), _last(model)[: -len(".gguf")])]
    found = exact or [model for model in models if _is_quantisation(_stem(model), name)]
    if found:
        return tuple(found)
    names = ", ".join(shown_name(model.path) for model in models[:MOST_NAMED])
    said: dict[str, str] = {"repository": wanted.repository, "file": shown_name(wanted.file), "names": names}
    raise UserError(
        counted(
            len(models),
            translate("Hub", "{repository} holds no “{file}”: its only model is {names}.", **said),
            translate(
                "Hub",
                "{repository} holds no “{file}”: name one of its {count} models, such as {names}.",
                count=len(models),
                **said,
            ),
        ),
        ExitCode.WRONG_USE,
    )


def _page(web: Web, address: str, limits: Limits) -> tuple[list[_Entry], str | None, str]:
    reply = web.get(address, limits)
    try:
        if reply.headers.get_content_type() == "text/html":
            raise web_sentences.web_page(reply.host)
        content = reply.read(MOST_LISTING_BYTES)
    finally:
        reply.close()
    if reply.length is not None and len(content) < min(reply.length, MOST_LISTING_BYTES):
        raise web_sentences.lost(reply.host)
    try:
        entries = msgspec.json.decode(content, type=list[_Entry])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise web_sentences.unreadable_listing(reply.host) from error
    told = reply.headers.get(COMMIT, "").strip().lower()
    commit = told if is_commit(told) else MAIN
    following = _NEXT.search(reply.headers.get("Link", ""))
    if following is None:
        return entries, None, commit
    address = urljoin(reply.address, following[1])
    if urlsplit(address)[:2] != urlsplit(reply.address)[:2]:
        raise web_sentences.unreadable_listing(host_of(reply.address))
    return entries, address, commit


def _size(entry: _Entry) -> int:
    return entry.lfs.size if entry.lfs is not None and entry.lfs.size > 0 else entry.size


def _sha256(entry: _Entry) -> str:
    told = (entry.lfs.oid if entry.lfs is not None else "").removeprefix("sha256:").lower()
    return told if is_sha256(told) else ""


def _models(where: tuple[str, str], files: list[HubFile]) -> tuple[HubModel, ...]:
    by_name: dict[str, list[HubFile]] = {}
    for file in files:
        name = file.path.rpartition("/")[2].lower()
        if name.startswith(_NO_CHAT) or name.removesuffix(".gguf").endswith(_NO_CHAT):
            continue
        part = _PART.search(file.path)
        key = file.path if part is None else f"{file.path[: part.start()]}|{part[2]}"
        by_name.setdefault(key, []).append(file)
    return tuple(HubModel(where[0], tuple(parts), where[1]) for parts in by_name.values())


def _last(model: HubModel) -> str:
    return model.path.rpartition("/")[2].lower()


def _stem(model: HubModel) -> str:
    return _PART.sub("", _last(model)).removesuffix(".gguf")


def _is_quantisation(stem: str, name: str) -> bool:
    return stem.endswith(name) and (len(stem) == len(name) or stem[-len(name) - 1] in "-._")
