from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from app.core.message_tree import MessageTree


def test_versions_are_those_behind_the_same_message_the_oldest_first() -> None:
    tree = MessageTree([(5, 1), (1, None), (3, 1), (4, 3)])
    assert tree.versions(5) == (3, 5)
    assert tree.path(4) == (1, 3, 4)
    assert tree.below(1) == (1, 3, 5, 4)


def test_a_branch_ends_where_somebody_looked_last_and_else_at_the_newest() -> None:
    tree = MessageTree([(1, None), (2, 1), (3, 2), (4, 2), (5, 1), (6, 5)])
    assert tree.leaf() == 6
    assert tree.leaf(2) == 4
    tree.show(3)
    assert (tree.leaf(), tree.leaf(2)) == (3, 3)
    tree.show(6)
    assert (tree.leaf(), tree.leaf(2)) == (6, 3)
    tree.remove(5)
    assert tree.leaf() == 3


def test_a_message_whose_parent_is_missing_begins_the_conversation() -> None:
    tree = MessageTree([(7, 3), (8, 7), (9, 9)])
    assert tree.versions(7) == (7, 9)
    assert tree.path(8) == (7, 8)


def test_a_circle_is_cut_at_its_oldest_message() -> None:
    tree = MessageTree([(1, 3), (2, 1), (3, 2), (4, None)])
    assert tree.path(3) == (1, 2, 3)
    assert sorted(tree.below_all()) == [1, 2, 3, 4]


def test_what_is_there_is_not_added_again_and_nothing_hangs_in_the_air() -> None:
    tree = MessageTree([(1, None)])
    with pytest.raises(ValueError, match="already"):
        tree.add(1, None)
    with pytest.raises(ValueError, match="not in the tree"):
        tree.add(2, 9)


@given(st.dictionaries(st.integers(1, 30), st.none() | st.integers(1, 40)))
def test_every_message_of_any_table_is_reached_once(parents: dict[int, int | None]) -> None:
    tree = MessageTree(parents.items())
    assert sorted(tree.below_all()) == sorted(parents)
    assert all(tree.path(message)[-1] == message for message in parents)
    assert all(tree.leaf(message) in tree.below(message) for message in parents)


class Trees(RuleBasedStateMachine):
    """Random additions, removals and looks, against a plain table of parents."""

    def __init__(self) -> None:
        super().__init__()
        self.tree = MessageTree()
        self.parents: dict[int, int | None] = {}
        self.count = 0

    @rule(data=st.data())
    def add(self, data: st.DataObject) -> None:
        self.count += 1
        parent = data.draw(st.sampled_from([None, *self.parents]))
        self.tree.add(self.count, parent)
        self.parents[self.count] = parent

    @precondition(lambda self: self.parents)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        message = data.draw(st.sampled_from(sorted(self.parents)))
        wanted = {each for each in self.parents if message in self.way(each)}
        assert set(self.tree.remove(message)) == wanted
        for each in wanted:
            del self.parents[each]

    @precondition(lambda self: self.parents)
    @rule(data=st.data())
    def look(self, data: st.DataObject) -> None:
        leaf = data.draw(st.sampled_from(sorted(self.parents)))
        self.tree.show(leaf)
        assert leaf in self.tree.path(self.tree.leaf())
        assert self.tree.leaf(leaf) == self.tree.leaf()

    def way(self, message: int | None) -> list[int]:
        found: list[int] = []
        while message is not None:
            found.insert(0, message)
            message = self.parents[message]
        return found

    @invariant()
    def agrees(self) -> None:
        assert len(self.tree) == len(self.parents)
        for message, parent in self.parents.items():
            assert message in self.tree
            assert self.tree.parent(message) == parent
            assert self.tree.path(message) == tuple(self.way(message))
            assert self.tree.versions(message) == tuple(
                sorted(each for each, other in self.parents.items() if other == parent)
            )


TestTrees = Trees.TestCase
