"""The command `models token`: the access token for gated models, which is read from standard input and never printed."""

from __future__ import annotations

import msgspec

from app.cli.terminal import Terminal, one_line
from app.core.errors import ExitCode
from app.core.hub_token import HubToken
from app.services.hub_token import HubTokenKeeping

_SAID = {
    "none": "There is no access token for {host}.",
    "environment": "The access token for {host} is that of HF_TOKEN.",
    "keyring": "The access token for {host} is in this system's keyring.",
}


def run_models_token(keeping: HubTokenKeeping, word: str, terminal: Terminal, as_json: bool) -> ExitCode:
    """Say where the token is, after keeping or forgetting one; return the exit code."""
    if word == "set":
        state = keeping.keep_now(terminal.read_secret("Access token: "))
    elif word == "forget":
        state = keeping.forget_now()
    else:
        state = keeping.state_now()
    terminal.write((_plain(state) if as_json else _text(state)) + "\n")
    return ExitCode.DONE


def _plain(state: HubToken) -> str:
    problem = None if state.problem is None else state.problem.english()
    return msgspec.json.encode({"host": state.host, "place": state.place, "problem": problem}).decode()


def _text(state: HubToken) -> str:
    text = _SAID[state.place].format(host=one_line(state.host))
    return text if state.problem is None else f"{text} {state.problem.english()}"
