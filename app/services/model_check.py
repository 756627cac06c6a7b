"""Looks at one model file before it is loaded: what it is, whether it can chat, and which model it is.

Pure work on bytes for a job thread or the command line; starts no engine.
"""

from __future__ import annotations

import re
from pathlib import Path

from app.core.cache_bound import most_cache_elements
from app.core.errors import UserError
from app.core.file_name import model_stem
from app.core.found_file import FoundFile
from app.core.gguf_header import read_header
from app.core.model import FoundModel, ModelRef
from app.core.model_facts import model_facts
from app.core.model_file import check_model_file
from app.core.model_kind import ModelKind, NotForChat
from app.core.printable import printable
from app.core.words import translate
from app.system.model_files import SUFFIX, OpenFiles, Unreadable, identify, lost, readable, shown

_DIGEST = re.compile(r"(sha256-)?[0-9a-f]{32,64}")


def check_model(path: Path) -> tuple[FoundModel, ModelRef | None]:
    """Return what the file says of itself, with its problem if there is one, else with its identity."""
    kind: ModelKind | None = None
    is_lost = False
    with OpenFiles(path.parent) as files:
        try:
            _refuse_unwritable_name(path)
            source = files.open(path.name)
            headers = check_model_file(path.name, files.open)
            if source is None:
                raise FileNotFoundError(path)
            ref = identify(source, headers[0].data_offset, path)
        except UserError as error:
            problem = error.sentence
            kind = error.kind if isinstance(error, NotForChat) else None
            is_lost = isinstance(error, Unreadable)
        except OSError as error:
            problem, is_lost = lost(path, error), True
        else:
            facts = model_facts(headers)
            # The first file was opened twice, once for the digest.
            found = FoundModel(
                path=str(path),
                size=files.size - source.size,
                name=model_name(path, facts.name, facts.quantisation),
                architecture=facts.architecture,
                quantisation=facts.quantisation,
                parameters=facts.parameters,
                trained_context=facts.trained_context,
                has_template=facts.tokenizer.chat_template is not None,
                license=facts.license,
                cache_elements=most_cache_elements(facts),
                is_mixture=facts.is_mixture,
                kind="chat",
                identity=ref.identity,
            )
            return found, ref
        name, identity = model_name(path, None, None), _file_identity(files, path)
        found = FoundModel(
            str(path), _size(path), name, problem=problem, kind=kind, identity=identity, is_lost=is_lost
        )
        return found, None


def _file_identity(files: OpenFiles, path: Path) -> str:
    """Return what notes are kept under of a file that is no whole chat model: as one, so far as its header is read.

    Empty where nothing of it can be read.
    """
    try:
        if (source := files.open(path.name)) is None or not source.size:
            return ""
        try:
            begin = read_header(*source).data_offset
        except UserError:
            begin = 0
        return identify(source, begin, path).identity
    except (UserError, OSError):
        return ""


def check_script(path: Path) -> tuple[FoundModel, ModelRef | None]:
    """Let the scripted engine have its scripts, which are no models."""
    if path.suffix != ".json":
        return check_model(path)
    return FoundModel(str(path), 0, path.stem), ModelRef(0, path.name, str(path))


def unread(file: FoundFile) -> FoundModel:
    """Return the row of a file that nobody has looked into yet."""
    return FoundModel(
        path=file.path,
        size=file.size,
        name=file.name or model_name(Path(file.path), None, None),
        origin=file.origin,
        parts=file.parts,
        parts_wanted=file.parts_wanted,
        is_read=False,
    )


def without_first(file: FoundFile) -> FoundModel:
    """Return the row of a model whose first file is not there, so that none of the others can be opened."""
    path = Path(file.path)
    first = f"{model_stem(path.name)}-00001-of-{file.parts_wanted:05d}"
    problem = translate(
        "ModelFile",
        "Of the {count} files of this model {there} are here, and the first one, “{file}”, is not: download it into the"
        " same folder.",
        count=file.parts_wanted,
        there=file.parts,
        file=printable(shown(first + SUFFIX)),
    )
    return FoundModel(path=file.path, size=file.size, name=model_name(path, None, None), problem=problem)


def model_name(path: Path, own_name: str | None, quantisation: str | None) -> str:
    """Return what to call a model: its file's name without the quantisation, which people chose and recognise."""
    if own_name and _DIGEST.fullmatch(path.stem):
        return printable(own_name)
    stem = model_stem(f"{path.stem}{SUFFIX}")
    if quantisation and stem.lower().endswith(quantisation.lower()):
        stem = stem[: -len(quantisation)].rstrip("-._ ")
    return printable(stem or own_name or path.name)


def _refuse_unwritable_name(path: Path) -> None:
    """llama.cpp and the settings need the name as text, and Linux allows names that are none."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        raise UserError(
            translate(
                "ModelFile",
                "The name of {path} holds bytes that are no text: rename the file or its folder.",
                path=readable(path),
            )
        ) from None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
