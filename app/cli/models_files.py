"""The commands `models rename` and `models trash`: the files of a model in our own folder get another name, or go."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from app.cli.models_options import FileDeed
from app.cli.pump import Pump
from app.cli.terminal import Terminal, one_line
from app.core.errors import ExitCode, UserError
from app.core.gguf_cursor import shown_name
from app.core.model import FoundModel
from app.core.words import Sentence, translate
from app.services.library_files import LibraryFiles
from app.services.program import Program
from app.services.units import byte_size
from app.system.instance import window_is_open
from app.system.model_files import readable, shown
from app.system.model_search import files_of

_MOST_NAMED = 5


def run_models_file(program: Program, deed: FileDeed, terminal: Terminal, as_json: bool) -> ExitCode:
    """Say what uses the model, do what was wanted and return the exit code."""
    if window_is_open(program.paths.data):
        raise _wrong(
            translate(
                "CommandLine",
                "The window of Tokenlight is open and may use this model: do it there, on the page Models, or close it.",
            )
        )
    files, model = program.library_files, _meant(program, deed.model)
    _refuse(files.refusal(model))
    pump = Pump(program.inbox, program.dispatch, lambda: None)
    files.begin(model)
    pump.run(lambda: files.is_ready or pump.interrupted, lambda: os._exit(ExitCode.INTERRUPTED))
    if pump.interrupted:
        return ExitCode.INTERRUPTED
    _refuse(files.hindrance)
    if deed.new_name is not None:
        has_begun = _renames(files, deed.new_name, terminal)
    else:
        has_begun = _throws(files, model, deed, terminal)
    if not has_begun:
        terminal.say("Nothing was changed.")
        return ExitCode.INTERRUPTED
    pump.run(lambda: not files.is_busy, lambda: os._exit(ExitCode.INTERRUPTED))
    if files.problem is not None:
        raise UserError(files.problem)
    if as_json:
        told = {"model": shown(model.path), "path": shown(files.done_path) if files.done_path else None}
        told["state"] = "renamed" if files.done_path else "in_trash"
        terminal.write(msgspec.json.encode(told).decode() + "\n")
    else:
        where = shown(files.done_path) if files.done_path else f"In the trash: {one_line(shown(model.path))}"
        terminal.write(f"{where}\n")
    return ExitCode.DONE


def _renames(files: LibraryFiles, name: str, terminal: Terminal) -> bool:
    _refuse(files.naming.problem(name))
    if not files.naming.is_new(name):
        raise _wrong(translate("CommandLine", "It is called so already."))
    for each in files.uses("rename"):
        terminal.say(each.english())
    files.rename(name)
    return True


def _throws(files: LibraryFiles, model: FoundModel, deed: FileDeed, terminal: Terminal) -> bool:
    """Begin it, unless somebody who was told what uses it does not want to."""
    for each in files.uses("trash"):
        terminal.say(each.english())
    if not deed.yes:
        answer = terminal.confirm(
            f"Move {one_line(shown(model.path))} ({byte_size(files.size)}) to the trash? [y/N] "
        )
        if answer is None:
            raise _wrong(translate("CommandLine", "Nobody can be asked here: add --yes to move it to the trash."))
        if not answer:
            return False
    files.move_to_trash()
    return True


def _meant(program: Program, word: str) -> FoundModel:
    """Return the model of a path or a name; of a model in several files any of them may be named."""
    found = program.models.list_now()
    path = os.path.abspath(os.path.expanduser(word))  # noqa: PTH100, PTH111  Path.expanduser raises for ~nobody
    word = shown(word)  # bytes that are no text are named as they are printed, too
    here = [each for each in found if path == each.path or (os.path.lexists(path) and path in _files(each))]
    wanted = word.casefold()
    for is_called in (_file_name, _file_stem, _name):
        here = here or [each for each in found if is_called(each).casefold() == wanted]
    if len(here) > 1:
        paths = ", ".join(readable(each.path) for each in here[:_MOST_NAMED])
        raise _wrong(
            translate(
                "CommandLine",
                "“{word}” is the name of several models, name one by its path: {paths}.",
                word=shown_name(word),
                paths=paths,
            )
        )
    if not here:
        raise _wrong(
            translate(
                "CommandLine",
                "There is no model “{word}” in {folder}: see tokenlight models.",
                word=shown_name(word),
                folder=readable(program.paths.models),
            )
        )
    return here[0]


def _file_name(model: FoundModel) -> str:
    return shown(Path(model.path).name)


def _file_stem(model: FoundModel) -> str:
    return shown(Path(model.path).stem)


def _name(model: FoundModel) -> str:
    return shown(model.name)


def _files(model: FoundModel) -> list[str]:
    try:
        return files_of(model.path)
    except OSError:
        return [model.path]


def _refuse(problem: Sentence | None) -> None:
    if problem is not None:
        raise _wrong(problem)


def _wrong(sentence: Sentence) -> UserError:
    return UserError(sentence, ExitCode.WRONG_USE)
