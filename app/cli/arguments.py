"""What can be typed after `tokenlight`: commands, options and their ranges; reads nothing else and runs nothing.

A mistake is one sentence with the nearest thing that exists, never a page of usage.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any, NoReturn, get_args

import msgspec

from app.cli.asked_options import ask_options
from app.cli.chat_options import ExportAsked, ImportAsked, add_export, add_import, moving_asked
from app.cli.models_options import FileDeed, add_models, file_asked, inspect_asked, search_asked, token_asked
from app.cli.other_names import suggestion
from app.cli.other_options import SearchAsked, add_bench, add_doctor, add_search, chats_asked
from app.cli.plan_options import PLAN_DESCRIPTION, PLAN_EPILOG, add_plan, plan_asked
from app.cli.values import (
    file,
    gpu_layers,
    one_of,
    sampling_number,
    setting_help,
    stages,
    text,
    tokens,
    whole_number,
)
from app.core.errors import ExitCode, UserError
from app.core.hub_search import HubQuery
from app.core.model import CONTEXT_STEP, DEFAULT_CONTEXT, MOST_CONTEXT, MOST_THREADS, KVType
from app.core.sampling import BOUNDS, MAX_SEED, PRESETS, STAGES
from app.core.words import translate
from app.services.ask_options import AskOptions
from app.services.plan_answer import PlanAsked

COMMANDS = ("ask", "search", "export", "import", "models", "bench", "doctor", "plan")
_LONGEST_WORD = 40
_INTEGER_SETTINGS = {"top_k", "penalty_last_n", "dry_allowed_length", "dry_penalty_last_n", "max_tokens"}


class Arguments(msgspec.Struct, frozen=True):
    """What was typed, read and checked."""

    command: str = ""
    """Empty opens the window."""
    model: Path | None = None
    """The model to open the window with."""
    ask: AskOptions | None = None
    plan: PlanAsked | None = None
    download: str = ""
    """The model of a hub to download."""
    search: HubQuery | None = None
    chats: SearchAsked | None = None
    """What is to be looked for in the chats."""
    moving: ExportAsked | ImportAsked | None = None
    """Which chats go into a file, or come out of some."""
    recommend: bool = False
    inspect: tuple[Path, ...] = ()
    """The file to show, or two to compare."""
    file: FileDeed | None = None
    """What is to be done with the files of a model."""
    show: str = ""
    """The repository of a hub to describe."""
    card: bool = False
    token: str = ""
    """What is wanted of the access token: show, set or forget."""
    json: bool = False
    only: tuple[str, ...] = ()
    """Names of benchmarks."""
    fake_engine: bool = False
    version: bool = False
    help: str = ""
    """The page of help that was asked for; then nothing else counts."""


class _HelpWanted(Exception):
    """Somebody asked for this page of help."""


class _Parser(argparse.ArgumentParser):
    """Raises its complaints instead of printing a page of usage and ending the process."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**{**given, "allow_abbrev": False, "exit_on_error": False})

    def print_help(self, file: object = None) -> NoReturn:
        """Raise the page of help instead of printing it."""
        raise _HelpWanted(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Raise a complaint that belongs to no option."""
        raise argparse.ArgumentError(None, message)

    def known_options(self) -> list[str]:
        """Return every option that people may use here."""
        return [
            name for action in self._actions if action.help != argparse.SUPPRESS for name in action.option_strings
        ]


def read_arguments(words: list[str]) -> Arguments:
    """Return what was typed, or raise the sentence that says what is wrong with it."""
    first = next((word for word in words if not word.startswith("-")), None)
    if first is not None and first not in COMMANDS:
        return _window_with_model(words, first)
    parser, commands = _parser()
    try:
        found, unknown = parser.parse_known_args(words)
    except argparse.ArgumentError as error:
        raise _complaint(error, _page(first)) from error
    except _HelpWanted as wanted:
        return Arguments(command="help", help=str(wanted))
    command = found.command or ""
    if unknown:
        raise _unknown(unknown[0], commands.get(command, parser), _page(command))
    return Arguments(
        command=command,
        ask=ask_options(found) if command == "ask" else None,
        plan=plan_asked(found) if command == "plan" else None,
        download=getattr(found, "download", None) or "",
        search=search_asked(found),
        chats=chats_asked(found),
        moving=_moving(found),
        recommend=getattr(found, "within", None) == "recommend",
        token=token_asked(found),
        inspect=inspect_asked(found),
        file=file_asked(found),
        show=getattr(found, "show", None) or "",
        card=getattr(found, "card", False),
        json=getattr(found, "json", False),
        only=tuple(getattr(found, "only", None) or ()),
        fake_engine=found.fake_engine,
        version=found.version,
    )


def _window_with_model(words: list[str], first: str) -> Arguments:
    if first.lower().endswith(".gguf") or os.path.isfile(first):  # noqa: PTH113  Path.is_file raises for long names
        rest = [word for word in words if word != first]
        found = read_arguments(rest)
        if found.help:
            return found
        if not found.command:
            return msgspec.structs.replace(found, model=Path(first))
    if any(map(str.isspace, first)) or len(first) > _LONGEST_WORD:
        sentence = translate(
            "CommandLine",
            "“{start}…” is no command: to have that answered, type tokenlight ask before it, and put it in quotes.",
            start=first[:_LONGEST_WORD].strip(),
        )
        raise UserError(sentence, ExitCode.WRONG_USE)
    raise UserError(
        translate(
            "CommandLine",
            "There is no command “{word}”{suggestion}: use ask, search, export, import, plan, models, doctor or bench, a .gguf"
            " file, or nothing for the window.",
            word=first,
            suggestion=suggestion(first, COMMANDS),
        ),
        ExitCode.WRONG_USE,
    )


def _parser() -> tuple[_Parser, dict[str, _Parser]]:
    parser = _Parser(
        prog="tokenlight",
        description="Chat with local models, and see what the machine does while it answers.",
        epilog="Without a command the window opens; the path of a .gguf file opens it with that model.",
    )
    parser.add_argument("--version", action="store_true", help="print the version and end")
    parser.add_argument("--fake-engine", action="store_true", help=argparse.SUPPRESS)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    ask = commands.add_parser("ask", help="answer a prompt on the terminal")
    _add_ask(ask)
    models = commands.add_parser("models", help="list the model files on this machine, search a hub, or download one")
    add_models(models, _Parser)
    plan = commands.add_parser(
        "plan",
        help="say whether a model fits, and how fast it would be",
        description=PLAN_DESCRIPTION,
        epilog=PLAN_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_plan(plan)
    moving = {"export": add_export(commands), "import": add_import(commands)}
    others = {"search": add_search(commands), **moving, "bench": add_bench(commands), "doctor": add_doctor(commands)}
    return parser, {"ask": ask, "models": models, "plan": plan, **others}


def _add_ask(ask: _Parser) -> None:
    ask.add_argument("prompt", metavar="PROMPT", help="the question; - reads it from standard input")
    ask.add_argument("--model", metavar="PATH", type=file, help="a .gguf file; the last one used if left out")
    ask.add_argument("--system", metavar="TEXT", type=text, default="", help="instructions before the conversation")
    attached = "text, Markdown, source, CSV or PDF that goes before the question; may be given again"
    ask.add_argument("--file", metavar="PATH", dest="files", action="append", type=Path, default=[], help=attached)
    ask.add_argument("--json", action="store_true", help="print one JSON object per event")
    ask.add_argument("--template", metavar="NAME|FILE", help="chat template to use instead of the model's own")
    ask.add_argument("--raw", action="store_true", help="continue the text as it is, without a chat template")
    ask.add_argument("--fake-engine", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    _add_loading(ask)
    sampling = ask.add_argument_group("sampling", "What is left out is as it was set for the model, where it was.")
    sampling.add_argument(
        "--preset",
        metavar="NAME",
        type=one_of(PRESETS),
        help=f"one of {', '.join(PRESETS)}; what was set for the model, else Balanced, if left out",
    )
    for name, bounds in BOUNDS.items():
        sampling.add_argument(
            f"--{name.replace('_', '-')}",
            metavar="N",
            type=sampling_number(bounds, name in _INTEGER_SETTINGS),
            help=setting_help(name, bounds),
        )
    sampling.add_argument(
        "--dry-sequence-breakers",
        metavar="TEXT",
        action="append",
        type=text,
        help="text that DRY stops at; may repeat",
    )
    sampling.add_argument(
        "--order",
        metavar="STAGE,…",
        type=stages,
        help=f"order of the stages, {','.join(STAGES)} if left out; those not named stay beside their neighbours",
    )
    sampling.add_argument(
        "--without",
        metavar="STAGE,…",
        action="extend",
        dest="off",
        type=stages,
        help="stages that are switched off, whatever their values; may repeat",
    )
    sampling.add_argument(
        "--seed",
        metavar="N",
        type=whole_number(0, MAX_SEED),
        help=f"fixed seed of the draw, 0 to {MAX_SEED:,}; another one each time if left out",
    )
    sampling.add_argument(
        "--stop", metavar="TEXT", action="append", type=text, help="end before this text; may repeat"
    )
    fitting = sampling.add_mutually_exclusive_group()
    fitting.add_argument(
        "--grammar", metavar="FILE", type=Path, help="a grammar in GBNF that the whole answer has to fit"
    )
    fitting.add_argument("--json-schema", metavar="FILE", type=Path, help="a JSON schema that the answer has to fit")


def _add_loading(ask: _Parser) -> None:
    load = ask.add_argument_group("loading")
    load.add_argument(
        "--context",
        metavar="N",
        type=tokens(CONTEXT_STEP, MOST_CONTEXT),
        help=f"cells of the KV cache, such as 8192 or 8k; at most {DEFAULT_CONTEXT:,} if left out",
    )
    load.add_argument(
        "--threads",
        metavar="N",
        type=whole_number(1, MOST_THREADS),
        help="processor threads; one a physical core if left out",
    )
    load.add_argument(
        "--gpu-layers",
        metavar="auto|all|N",
        type=gpu_layers,
        help="layers on the GPU, the output layer counted; as many as fit if left out",
    )
    load.add_argument(
        "--load-anyway", action="store_true", help="load the model although memory does not seem to be enough"
    )
    load.add_argument(
        "--kv-type",
        type=one_of(get_args(KVType)),
        metavar="TYPE",
        help="f16, q8_0 or q4_0: how keys and values are kept",
    )


def _moving(found: argparse.Namespace) -> ExportAsked | ImportAsked | None:
    try:
        return moving_asked(found)
    except argparse.ArgumentError as error:
        raise _complaint(error, _page(found.command)) from error


def _page(command: str | None) -> str:
    return f"tokenlight {command} --help" if command else "tokenlight --help"


def _complaint(error: argparse.ArgumentError, page: str) -> UserError:
    sentence = translate("CommandLine", "{message}; see {page}.", message=_capital(error.message), page=page)
    if error.argument_name is not None:
        sentence = translate("CommandLine", "{option} {problem}.", option=error.argument_name, problem=error.message)
    return UserError(sentence, ExitCode.WRONG_USE)


def _unknown(word: str, parser: _Parser, page: str) -> UserError:
    if not word.startswith("-"):
        sentence = translate(
            "CommandLine", "“{word}” is one word too many: put what has spaces in it in quotes.", word=word
        )
        return UserError(sentence, ExitCode.WRONG_USE)
    return UserError(
        translate(
            "CommandLine",
            "There is no option {word} here{suggestion}: see {page}.",
            word=word,
            page=page,
            suggestion=suggestion(word.partition("=")[0], parser.known_options()),
        ),
        ExitCode.WRONG_USE,
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
