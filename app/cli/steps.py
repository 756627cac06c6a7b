"""What can be typed after a failure: the options that do what its sentence asks for."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from app.core.events import Failed
from app.core.words import translate


def with_step(failed: Failed, template_names: Callable[[], list[str]]) -> Failed:
    """Return a failure whose sentence names the option that helps, where one does."""
    said = failed.sentence.english()
    match failed.kind:
        case "template_missing" | "template":
            sentence = translate(
                "CommandLine",
                "{said} Name one with --template, as in --template chatml; those that ship are: {names}.",
                said=said,
                names=", ".join(template_names()),
            )
        case "prompt_too_long":
            sentence = translate("CommandLine", "{said} Add --context N for a context of N tokens.", said=said)
        case "memory":
            sentence = translate(
                "CommandLine",
                "{said} Add --context N for a context of N tokens, or --load-anyway to try it all the same.",
                said=said,
            )
        case _:
            return failed
    return msgspec.structs.replace(failed, sentence=sentence)
