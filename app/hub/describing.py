"""Describes a repository: what the hub tells of it, its files by quantisation, and its card."""

from __future__ import annotations

import msgspec

from app.core.card_text import card_of
from app.core.download import is_commit
from app.core.errors import ExitCode, UserError
from app.core.hub_files import quantisations
from app.core.hub_model import MAIN
from app.core.hub_page import HubCard, HubPage
from app.hub import web_sentences
from app.hub.hub_api import hub_api
from app.hub.limits import Limits
from app.hub.model_facts import TOLD, kept_entry, repository_of
from app.hub.repository import address_of
from app.hub.tree import files_of
from app.hub.web import Refused, Web

CARD = "README.md"
MOST_CARD_BYTES = 1024 * 1024


def describe(web: Web, endpoint: str, repository: str, limits: Limits) -> HubPage:
    """Return a repository's page; a card that cannot be read is told beside what can."""
    with hub_api(web, endpoint, limits, kept_entry) as (api, _):
        told = repository_of(api.model_info(repository, expand=TOLD))
    asked = told.revision if is_commit(told.revision) else MAIN
    files, revision, unread = files_of(web, endpoint, told.id, limits, asked)
    told = msgspec.structs.replace(told, revision=revision)
    card = _card(web, address_of(endpoint, told.id, revision, CARD), limits)
    return HubPage(
        told,
        quantisations(files, told.parameters),
        msgspec.structs.replace(card, license=told.license),
        unread=unread,
        web=f"{endpoint}/{told.id}",
    )


def _card(web: Web, address: str, limits: Limits) -> HubCard:
    try:
        reply = web.get(address, limits)
        try:
            reply.refuse_web_page()
            written = reply.read(MOST_CARD_BYTES)
        finally:
            reply.close()
    except Refused as refused:
        return HubCard() if refused.status == web_sentences.NOT_FOUND else HubCard(problem=refused.sentence)
    except UserError as error:
        if error.exit_code == ExitCode.INTERRUPTED:
            raise
        return HubCard(problem=error.sentence)
    text, links = card_of(written.decode("utf-8", "replace"))
    return HubCard(text, links=links)
