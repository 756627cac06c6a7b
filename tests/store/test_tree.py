from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule
from msgspec.structs import replace

from app.core.comparison import Comparison, LanePlan, Layout, SharedPrefill
from app.core.conversation import Message, StoredAnswer
from app.core.store_commands import KeepComparison, KeepConversation, KeepLanes, KeepPrompt, ReadConversation
from app.core.store_events import ConversationRead, Kept
from tests.store.tree_machine import TEXTS, TOKENS, Trees


class ComparedTrees(Trees):
    """The same with comparisons: lanes are answers like others, and what is known of them beside them goes along."""

    @precondition(lambda self: self.model.seen_heads())
    @rule(data=st.data(), text=st.none() | TEXTS, tokens=TOKENS, ends=st.lists(st.booleans(), min_size=1, max_size=3))
    def compare(self, data: st.DataObject, text: str | None, tokens: list[int], ends: list[bool]) -> None:
        """Begin some lanes behind a new question, a message that is there, or nothing."""
        model = self.model
        head = data.draw(st.sampled_from(model.seen_heads()))
        parent = data.draw(st.sampled_from([None, *(m.id for m in model.live(head.id))]))
        asked = []
        if text is not None:
            asked = [Message(model.new_id(), head.id, parent, "user", text, model.last_id)]
            model.messages[asked[0].id], parent = asked[0], asked[0].id
        head = model.heads[head.id] = replace(head, leaf=parent if asked else head.leaf, changed_ms=model.last_id)
        lanes = tuple(model.new_id() for _ in ends)
        grid = Layout(len(lanes), "top_k", "top_p") if lanes else Layout()
        made = Comparison(model.new_id(), head.id, parent, model.last_id, lanes, layout=grid)
        model.comparisons[made.id] = made
        answers = [StoredAnswer(lane, "open", comparison=made.id, lane=number) for number, lane in enumerate(lanes)]
        for answer in answers:
            key = answer.message
            model.answers[key] = answer
            model.messages[key] = Message(key, head.id, parent, "assistant", "", made.created_ms)
        assert self.do(KeepLanes(1, head, tuple(asked), made, tuple(answers))) == [Kept(1, on_disk=True)]
        for lane, is_ended in zip(lanes, ends, strict=True):
            self.do(KeepPrompt(self.prompted(lane, tokens)))
            self.write(lane, f"lane {lane}", tokens)
            if is_ended:
                self.end(lane)

    @precondition(lambda self: self.model.comparisons)
    @rule(data=st.data(), is_shown=st.booleans())
    def keep_lane(self, data: st.DataObject, *, is_shown: bool) -> None:
        """Let a lane be a version of the answer; that of a comparison that was erased meanwhile brings nothing back."""
        model = self.model
        made = data.draw(st.sampled_from(list(model.comparisons.values())))
        number = data.draw(st.integers(0, len(made.lanes) - 1))
        plan = LanePlan((tuple(range(len(made.lanes))),), (9,) * len(made.lanes))
        made = replace(
            made, baseline=number, kept=(*made.kept, number), plan=plan, prefill=SharedPrefill(9, 1, 8, 2.5)
        )
        model.comparisons[made.id] = made
        assert self.do(KeepComparison(made)) == []
        head = model.heads[made.conversation]
        if is_shown and made.lanes[number] in [m.id for m in model.live(head.id)] and head.deleted_ms is None:
            model.heads[head.id] = replace(head, leaf=made.lanes[number])
            self.do(KeepConversation(model.heads[head.id]))

    @invariant()
    def comparisons_are_there_as_long_as_one_of_their_lanes_is(self) -> None:
        model = self.model
        for head in model.seen_heads():
            live = {m.id for m in model.live(head.id)}
            (read,) = self.do(ReadConversation(1, head.id))
            assert isinstance(read, ConversationRead)
            assert list(read.comparisons) == [c for c in model.comparisons.values() if live & set(c.lanes)]

    @invariant()
    def no_comparison_outlives_its_lanes(self) -> None:
        rows = self.kept.sql(
            "SELECT id FROM comparison WHERE id NOT IN (SELECT comparison FROM answer WHERE comparison)"
        )
        assert rows == []


TestTrees = ComparedTrees.TestCase
TestTrees.settings = settings(max_examples=40, stateful_step_count=25)
