"""What a model file is for, where it is not for chat: it is listed with the reason and never offered."""

from __future__ import annotations

from typing import Literal

from app.core.errors import UserError
from app.core.words import Sentence

ModelKind = Literal["chat", "projector", "embedding", "reranker", "adapter", "vocabulary", "other"]
"""`other` are models and files of kinds of which people rarely meet one: speech, pictures, importance matrices."""


class NotForChat(UserError):
    """A file that is whole, as far as anybody looked, and is for something else."""

    def __init__(self, kind: ModelKind, sentence: Sentence) -> None:
        super().__init__(sentence)
        self.kind: ModelKind = kind
