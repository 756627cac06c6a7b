"""What a repository of a hub is for, where its listing says that it is not for chat. Plain functions on what it tells."""

from __future__ import annotations

from app.core.gguf_verdict import EMBEDDING_ARCHITECTURES
from app.core.hub_page import HubPage
from app.core.words import Sentence, translate

_WRITES = frozenset({"text-generation", "conversational", "image-text-to-text"})
"""Tags of what answers, whatever else it is called."""
_RANKS = frozenset({"text-ranking", "reranker"})
_EMBEDS = frozenset({"feature-extraction", "sentence-similarity", "sentence-transformers"})
_ADAPTER = "base_model:adapter:"


def not_for_chat(page: HubPage) -> Sentence | None:
    """Return what a repository is instead, as far as its names, tags and architecture tell; None where it may chat."""
    if page.quantisations and all(each.is_projector for each in page.quantisations):
        return _PROJECTORS
    told = page.repository
    tags = {tag.casefold() for tag in told.tags}
    if any(tag.startswith(_ADAPTER) for tag in tags):
        return _ADAPTERS
    is_encoder = told.architecture in EMBEDDING_ARCHITECTURES
    if tags & _WRITES and not is_encoder:
        return None
    if tags & _RANKS:
        return _RERANKER
    return _EMBEDDING if is_encoder or tags & _EMBEDS else None


_PROJECTORS = translate(
    "HubKind",
    "This repository holds only projectors, which let another model see or hear: look for that model.",
)
_ADAPTERS = translate(
    "HubKind",
    "This repository holds an adapter (LoRA), which only changes another model: look for that model, or for one with the"
    " adapter merged into it.",
)
_RERANKER = translate(
    "HubKind",
    "This repository holds a reranker, which says how well texts fit a question and cannot chat: look for a chat model.",
)
_EMBEDDING = translate(
    "HubKind",
    "This repository holds an embedding model, which turns text into numbers for search and cannot chat: look for a chat"
    " model.",
)
