"""How the answers ended that the end of the program stopped, taken in so that they are kept whole."""

from __future__ import annotations

from app.core.events import Compared, Failed, Finished, LaneFinished, LaneTokens, PromptReady, Tokens
from app.services.engine_session import EngineSession
from app.system.inbox import Inbox


def take_last_words(inbox: Inbox, session: EngineSession) -> None:
    """Hand on what answers still said, and nothing else: the rest of the program has ended."""
    for event in inbox.drain():
        if isinstance(event, (PromptReady, Tokens, Finished, LaneTokens, LaneFinished, Compared, Failed)):
            session.take(event)
