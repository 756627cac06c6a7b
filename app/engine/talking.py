"""What is answered about text, also while a prompt is being prefilled: tokens, rendered prompts, pieces.

For the engine's second thread: it reads the vocabulary, never the context.
"""

from __future__ import annotations

import numpy as np

from app.core.chat import TextPrompt
from app.core.commands import ListPieces, Render, Tokenize
from app.core.events import Event, Failed, PiecesListed, Rendered, Tokenized
from app.engine.backend import Backend
from app.engine.deadline import Deadline
from app.engine.failures import failure_kind
from app.engine.full_context import Policy, fit
from app.engine.pieces import pieces_of
from app.engine.prompt_size import PromptTooLong
from app.engine.tokenizer import prepare


def describe_text(command: Tokenize | Render | ListPieces, backend: Backend, deadline: Deadline) -> Event:
    """Return the answer to a question about text. Raises `UserError`."""
    if isinstance(command, ListPieces):
        pieces = pieces_of(backend.vocabulary, backend.info.tokenizer, command.first, command.count)
        return PiecesListed(command.request, pieces)
    if isinstance(command, Tokenize):
        ids = backend.vocabulary.tokenize(command.text, special=False)
        if command.as_prompt:
            ids = prepare(TextPrompt(command.text), backend.vocabulary).ids
        return Tokenized(command.request, np.asarray(ids, np.int32).tobytes())
    policy = Policy(command.when_full, command.max_tokens)
    try:
        fitted = fit(command.prompt, policy, backend.vocabulary, deadline, backend.cells)
    except PromptTooLong as error:
        return Failed(command.request, failure_kind(error), error.sentence, tokens=error.tokens)
    done = fitted.prepared
    ids_bytes = np.asarray(done.ids, np.int32).tobytes()
    return Rendered(command.request, done.text, ids_bytes, done.spans, done.notes, fitted.dropped)
