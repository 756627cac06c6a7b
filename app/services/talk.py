"""What conversations are made of, joined: they are kept, asked, branched, compared; and what is said of their models."""

from __future__ import annotations

from typing import NamedTuple

from app.core.ports import StorePort
from app.services.answers import Answers
from app.services.attaching import Attaching
from app.services.branches import Branches
from app.services.chat import Chat
from app.services.chat_folders import ChatFolders
from app.services.chat_presets import ChatPresets
from app.services.comparing import Comparing
from app.services.conversations import Conversations
from app.services.engine_session import EngineSession
from app.services.exporting import ChatExport
from app.services.grammar_editing import GrammarEditing
from app.services.importing import ChatImport
from app.services.keeper import Keeper
from app.services.message_search import MessageSearch
from app.services.model_notes import ModelNotes
from app.services.model_sampling import ModelSampling
from app.services.models import Models
from app.services.notices import Notices
from app.services.queue import Queue
from app.services.sampling import Sampling
from app.services.step_mode import StepMode
from app.services.system_prompt import SystemPrompt
from app.services.trash import Trash
from app.system.jobs import Jobs
from app.system.settings_file import SettingsFile


class Talk(NamedTuple):
    """What conversations are made of."""

    answers: Answers
    chat: Chat
    queue: Queue
    branches: Branches
    conversations: Conversations
    chat_folders: ChatFolders
    comparing: Comparing
    trash: Trash
    system_prompt: SystemPrompt
    chat_presets: ChatPresets
    step_mode: StepMode
    grammar_editing: GrammarEditing
    model_notes: ModelNotes
    model_sampling: ModelSampling
    message_search: MessageSearch
    attaching: Attaching
    chat_export: ChatExport
    chat_import: ChatImport


def talk_services(
    store: StorePort,
    session: EngineSession,
    sampling: Sampling,
    settings: SettingsFile,
    notices: Notices,
    jobs: Jobs,
    models: Models,
) -> Talk:
    """Make all of it and join it."""
    keeper = Keeper(store, session)
    answers = Answers(session, keeper, settings, notices)
    chat = Chat(session, answers, keeper, sampling, settings)
    branches = Branches(chat, answers, keeper, notices)
    conversations = Conversations(store, chat, answers, keeper, settings, notices, jobs)
    folders = ChatFolders(conversations, settings, notices)
    chat.deleted.connect(folders.take_deleted)
    branches.in_memory = conversations.in_memory
    branches.titles = lambda: (head.title for head in conversations.heads)
    trash = Trash(store, notices)
    trash.restored.connect(conversations.bring_back)
    trash.erased.connect(conversations.forget)
    trash.erased.connect(branches.forget)
    trash.returned.connect(conversations.forget)
    trash.returned.connect(branches.take_returned)
    branches.emptied.connect(conversations.delete)
    branches.brought_back.connect(conversations.bring_back)
    prompt = SystemPrompt(chat, conversations, settings, notices)
    presets = ChatPresets(settings, notices)
    comparing = Comparing(session, chat, answers, keeper, settings, notices)
    conversations.leaves.connect(comparing.stop_in)
    conversations.compared = lambda: (comparing.running.conversation,) if comparing.running is not None else ()
    comparing.busy_changed.connect(conversations.changed.emit)
    queue = Queue(chat, answers, branches, notices)
    steps = StepMode(session, answers, chat, comparing)
    fits = GrammarEditing(sampling, jobs, lambda: chat.shown.head.id)
    notes = ModelNotes(keeper, store, session, models)
    own = ModelSampling(session, chat, sampling, settings)
    made = (answers, chat, queue, branches, conversations, folders, comparing, trash, prompt, presets, steps, fits)
    search = MessageSearch(store, conversations, chat, branches)
    exporting = ChatExport(store, jobs, session.new_request)
    importing = ChatImport(store, jobs, conversations, keeper.stamps, session.new_request)
    return Talk(*made, notes, own, search, Attaching(chat, jobs, notices), exporting, importing)
