from __future__ import annotations

from pathlib import Path

import pytest

from app.core.store_commands import KeepChat, ReadChats
from app.core.store_events import ChatsRead, Kept, StoreOpened
from app.services.importers.foreign_chats import foreign_chats
from tests.services.importers.reading import EXPORTS, whole
from tests.store.shelf import shelf


@pytest.mark.parametrize("name", ["chatgpt", "open_webui"])
def test_an_export_is_read_out_of_the_store_as_it_was_imported(name: str, tmp_path: Path) -> None:
    for number, chat in enumerate(whole(foreign_chats(EXPORTS / f"{name}.json")).chats):
        folder = tmp_path / str(number)
        with shelf(folder) as kept:
            assert kept.ask(KeepChat(1, chat), Kept) == Kept(1, on_disk=True)
        with shelf(folder) as again:
            (opened,) = [event for event in again.events if isinstance(event, StoreOpened)]
            assert opened.conversations == (chat.head,)
            assert again.ask(ReadChats(2, opened.conversations), ChatsRead) == ChatsRead(2, (chat,))
