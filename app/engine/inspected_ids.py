"""What every pass in an inspection context asks of the tokens that it is given, and says where it was stopped."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from app.core.errors import UserError
from app.core.words import translate
from app.engine.backend import Backend
from app.engine.prompt_size import PromptTooLong

Ids = npt.NDArray[np.int32]
"""Token ids, shape (n,)."""

STOPPED = translate("Engine", "The pass over the prompt was stopped.")


def refuse_unfit(ids: Ids, backend: Backend) -> None:
    """Raise `PromptTooLong` for more tokens than the context holds, and `UserError` for ids that the vocabulary lacks."""
    if len(ids) > backend.cells:
        sentence = translate(
            "Engine",
            "The prompt has {tokens:,} tokens, and the context holds {cells:,}. "
            "Load the model with a larger context, then try again.",
            tokens=len(ids),
            cells=backend.cells,
        )
        raise PromptTooLong(sentence, len(ids))
    if len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < backend.vocabulary.size:
        raise UserError(
            translate(
                "Engine", "The prompt has tokens that this model does not know. Load the model that it was for."
            )
        )
