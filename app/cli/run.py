"""Runs one command: the only place that turns its result, or a sentence, into an exit code."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from app.cli.arguments import Arguments
from app.cli.ask import run_ask
from app.cli.bench import run_bench
from app.cli.doctor import run_doctor
from app.cli.download import run_download
from app.cli.models import run_models
from app.cli.models_files import run_models_file
from app.cli.models_inspect import run_models_inspect
from app.cli.models_recommend import run_models_recommend
from app.cli.models_search import run_models_search
from app.cli.models_show import run_models_show
from app.cli.models_token import run_models_token
from app.cli.moving import MakePage, run_moving
from app.cli.plan import run_plan
from app.cli.search import run_search
from app.cli.terminal import Terminal
from app.core.errors import ExitCode, UserError
from app.services.program import Program

_log = logging.getLogger(__name__)


def run(
    arguments: Arguments, words: Sequence[str], build: Callable[[], Program], make_page: MakePage | None = None
) -> int:
    """Run the command that was typed and return its exit code; `build` makes the program if one is needed.

    `make_page` makes what writes HTML, which no command line may know of.
    """
    terminal = Terminal()
    try:
        return _run(arguments, words, build, terminal, make_page)
    except UserError as error:
        terminal.clear_progress()
        terminal.say(error.sentence.english())
        return error.exit_code
    except BrokenPipeError:
        terminal.forget_output()
        return ExitCode.DONE


def _run(
    arguments: Arguments,
    words: Sequence[str],
    build: Callable[[], Program],
    terminal: Terminal,
    make_page: MakePage | None,
) -> ExitCode:
    if arguments.command == "bench":
        return run_bench([word for word in words if word != "bench"])
    program = build()
    try:
        if arguments.command == "doctor":
            return run_doctor(program, terminal, arguments.json)
        if arguments.moving is not None:
            return run_moving(program, arguments.moving, terminal, arguments.json, make_page)
        if arguments.chats is not None:
            return run_search(program.store, arguments.chats, terminal, arguments.json)
        if arguments.search is not None:
            return run_models_search(program.discovering, arguments.search, terminal, arguments.json)
        if arguments.recommend:
            return run_models_recommend(program, terminal, arguments.json)
        if arguments.inspect:
            return run_models_inspect(arguments.inspect, terminal, arguments.json)
        if arguments.file is not None:
            return run_models_file(program, arguments.file, terminal, arguments.json)
        if arguments.show:
            return run_models_show(program, arguments.show, terminal, arguments.json, arguments.card)
        if arguments.token:
            return run_models_token(program.hub_token, arguments.token, terminal, arguments.json)
        if arguments.plan is not None:
            return run_plan(program, arguments.plan, terminal, arguments.json)
        if arguments.download:
            return run_download(program, arguments.download, terminal)
        if arguments.ask is None:
            return run_models(program.models, program.store.look(), terminal, arguments.json)
        return run_ask(program, arguments.ask, terminal, arguments.json)
    finally:
        program.stop()
