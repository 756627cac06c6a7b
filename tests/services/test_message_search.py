"""The search over all conversations: what is typed last counts, and a hit leads to its message."""

from __future__ import annotations

import pytest

from app.core.events import Event
from app.core.search import PAGE
from app.core.store_events import MessagesFound, SearchReady
from app.services.chat import Chat
from app.services.message_search import MessageSearch
from tests.desk import Desk
from tests.services.asking import say, shown


@pytest.fixture
def search(desk: Desk, chat: Chat) -> MessageSearch:
    assert chat.turns == ()
    return desk.program.message_search


def snippets(search: MessageSearch) -> list[str]:
    return [hit.snippet.text for hit in search.hits]


def test_hits_of_all_chats_come_newest_first_and_go_when_nothing_is_typed(desk: Desk, search: MessageSearch) -> None:
    say(desk, "Tell me of llamas", "A LLAMA is", " an animal.")
    desk.program.conversations.new()
    say(desk, "And alpacas?", "Like a llama.")
    search.search("llama")
    assert snippets(search) == ["Like a llama.", "A LLAMA is an animal.", "Tell me of llamas"]
    assert [hit.title for hit in search.hits] == ["And alpacas?", "Tell me of llamas", "Tell me of llamas"]
    assert (search.is_busy, search.is_more, search.is_whole) == (False, False, True)
    search.search("  ")
    assert (search.text, search.hits) == ("", ())


def test_of_what_is_typed_meanwhile_only_the_newest_is_asked(desk: Desk, search: MessageSearch) -> None:
    say(desk, "alpha", "beta")
    held: list[Event] = []
    desk.take_from_store = held.append
    for typed in ("a", "al", "alp", "bet"):
        search.search(typed)
    assert len(held) == 1 and search.is_busy
    desk.program.dispatch(held.pop())
    assert search.hits == ()
    (event,) = held
    assert isinstance(event, MessagesFound)
    desk.program.dispatch(event)
    assert snippets(search) == ["beta"] and not search.is_busy


def test_a_search_that_ended_meanwhile_shows_nothing(desk: Desk, search: MessageSearch) -> None:
    say(desk, "alpha", "beta")
    held: list[Event] = []
    desk.take_from_store = held.append
    search.search("alpha")
    search.search("")
    desk.program.dispatch(held[0])
    assert (search.hits, len(held), search.is_busy) == ((), 1, False)


def test_more_hits_come_when_they_are_wanted(desk: Desk, search: MessageSearch) -> None:
    for number in range(PAGE // 2 + 2):
        say(desk, f"llama {number}", f"a llama {number}")
    search.search("llama")
    assert (len(search.hits), search.is_more) == (PAGE, True)
    search.more()
    assert (len(search.hits), search.is_more) == (PAGE + 4, False)
    assert len({hit.message for hit in search.hits}) == PAGE + 4


def test_what_went_to_the_trash_is_shown_no_longer(desk: Desk, chat: Chat, search: MessageSearch) -> None:
    say(desk, "llama one", "1")
    say(desk, "llama two", "2")
    first = chat.conversation_id
    desk.program.conversations.new()
    say(desk, "llama three", "3")
    search.search("llama")
    desk.program.conversations.open(first)
    desk.program.branches.delete(chat.turns[2])
    assert snippets(search) == ["llama three", "llama one"]
    desk.program.conversations.delete(first)
    assert snippets(search) == ["llama three"]


def test_a_hit_leads_to_its_message_also_in_another_chat_and_another_branch(
    desk: Desk, chat: Chat, search: MessageSearch
) -> None:
    reached: list[tuple[int, str]] = []
    search.reached.connect(lambda message, text: reached.append((message, text)))
    chat.opened.connect(search.arrive)
    say(desk, "Why?", "Because of a llama.")
    first, message = chat.conversation_id, chat.turns[1].message
    chat.answer_again()
    desk.answer("Because of an alpaca.")
    desk.program.conversations.new()
    say(desk, "Other", "chat")
    search.search("llama")
    search.open(search.hits[0])
    assert chat.conversation_id == first
    assert shown(chat) == ["Why?", "Because of a llama."]
    assert reached == [(message, "llama")]
    search.search("alpaca")
    search.open(search.hits[0])
    assert (shown(chat)[1], len(reached)) == ("Because of an alpaca.", 2)


def test_whoever_goes_elsewhere_meanwhile_is_not_led_to_the_hit(
    desk: Desk, chat: Chat, search: MessageSearch
) -> None:
    reached: list[int] = []
    search.reached.connect(lambda message, _text: reached.append(message))
    chat.opened.connect(search.arrive)
    say(desk, "llama", "1")
    first = chat.conversation_id
    desk.program.conversations.new()
    say(desk, "Other", "2")
    search.search("llama")
    held: list[Event] = []
    desk.take_from_store = held.append
    search.open(search.hits[0])
    desk.program.conversations.new()
    desk.take_from_store = desk.program.dispatch
    desk.program.conversations.open(first)
    assert (chat.conversation_id, reached) == (first, [])


def test_what_was_not_indexed_yet_is_looked_for_again_once_it_is(desk: Desk, search: MessageSearch) -> None:
    say(desk, "llama", "1")
    held: list[Event] = []
    desk.take_from_store = held.append
    search.search("llama")
    (event,) = held
    assert isinstance(event, MessagesFound)
    desk.take_from_store = desk.program.dispatch
    desk.program.dispatch(MessagesFound(event.request, (), None, is_whole=False))
    assert (search.hits, search.is_whole) == ((), False)
    desk.program.dispatch(SearchReady())
    assert (snippets(search), search.is_whole) == (["llama"], True)


def titles(search: MessageSearch) -> list[str]:
    return [found.snippet.text for found in search.titles]


def test_titles_are_found_unless_the_message_that_gave_them_is(desk: Desk, chat: Chat, search: MessageSearch) -> None:
    say(desk, "Tell me of llamas", "They spit.")
    desk.program.conversations.new()
    say(desk, "And alpacas?", "Softer.")
    second = chat.conversation_id
    desk.program.conversations.rename(second, "Like a LLAMA, 100% wool")
    search.search("llama")
    assert (titles(search), snippets(search)) == (["Like a LLAMA, 100% wool"], ["Tell me of llamas"])
    (found,) = search.titles
    assert [found.snippet.text[begin:end] for begin, end in found.snippet.marks] == ["LLAMA"]
    search.search("0% w")
    assert (titles(search), snippets(search)) == (["Like a LLAMA, 100% wool"], [])
    desk.program.conversations.delete(second)
    assert titles(search) == []
    search.search("tell me")
    search.search("")
    assert titles(search) == []


def test_a_chat_that_is_found_by_its_title_is_told_to_be_there(desk: Desk, chat: Chat, search: MessageSearch) -> None:
    say(desk, "One", "1")
    first = chat.conversation_id
    desk.program.conversations.rename(first, "Lakes")
    desk.program.conversations.new()
    arrived: list[int] = []
    search.arrived.connect(lambda: arrived.append(chat.conversation_id))
    chat.opened.connect(search.arrive)
    search.search("lake")
    search.open(search.titles[0])
    assert arrived == [first]
    search.open(search.titles[0])
    assert arrived == [first, first]
