"""Why attention cannot be read now, said in one sentence."""

from __future__ import annotations

from app.core.words import Sentence, translate
from app.services.attention_text import AttentionText
from app.services.engine_session import EngineSession

NO_MODEL = translate("Attention", "No model is loaded. Open a model, then try the example or send a message.")
NO_ANSWER = translate("Attention", "There is no answer to look at yet. Send a message, or try the example.")
NO_PROMPT = translate(
    "Attention", "The prompt of this answer or its model is not known, so its attention cannot be read."
)
NO_TOKEN = translate("Attention", "Choose a token: click it, or go to it with the arrow keys and press Enter.")
LOADING = translate("Attention", "A model is being loaded. Ask again when it is ready.")
TOKENISING = translate("Attention", "The example is being turned into tokens.")
ANOTHER = translate("Attention", "The attention of another token is being read. Ask again when that has ended.")


def hindered_by_model(session: EngineSession, text: AttentionText, token: int) -> Sentence | None:
    """Return why the model that is loaded cannot read a text up to this token; None where it can."""
    loaded, ref = session.model, session.ref
    if session.phase in ("starting", "loading"):
        return LOADING
    if loaded is None or ref is None:
        return translate("Attention", "No model is loaded. Load “{name}”, which read this text.", name=text.author)
    if ref.identity != text.model.identity:
        return translate(
            "Attention",
            "Another model is loaded. Load “{name}”, which read this text: only it can tell.",
            name=text.author,
        )
    if token >= loaded.context:
        return translate(
            "Attention",
            "There are {tokens:,} tokens up to this one, and the context holds {cells:,}. Load the model with a "
            "larger one.",
            tokens=token + 1,
            cells=loaded.context,
        )
    return None
