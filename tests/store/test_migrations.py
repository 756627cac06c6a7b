from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path

import pytest

from app.core.comparison import Comparison
from app.core.draft import Draft
from app.core.store_commands import KeepComparison, KeepDraft
from app.store.migrations import MIGRATIONS, Migration, migrate, version_of
from app.store.opening import FILE_NAME, SUSPECT_NAME, open_database
from app.store.patience import Patience
from tests.store.lanes import compared
from tests.store.shelf import break_pages, head, shelf

SCHEMA_1 = Path(__file__).with_name("schema_1.sql")
BACKUP = "tokenlight-before-update-1.sqlite3"
OLD_CHAT = """
    INSERT INTO conversation (id, title, created_ms, changed_ms) VALUES (1, 'Old', 1, 1);
    INSERT INTO message (id, conversation, role, created_ms, text) VALUES (1, 1, 'user', 1, 'Hello');
    INSERT INTO message (id, conversation, parent, role, created_ms, text) VALUES (2, 1, 1, 'assistant', 1, '');
    INSERT INTO answer (message, state) VALUES (2, 'open');
"""
LAST = len(MIGRATIONS)


def add_stars(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE conversation ADD COLUMN stars INTEGER NOT NULL DEFAULT 3")


def add_colour(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE conversation ADD COLUMN colour TEXT")
    connection.execute("UPDATE conversation SET colour = 'red'")


LATER: tuple[Migration, ...] = (*MIGRATIONS, add_stars, add_colour)


def schema(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
    return [" ".join(sql.split()) for (sql,) in rows]


def old_database(folder: Path) -> Path:
    """Make a database of the oldest version with a chat in it, as that version made it."""
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        connection.executescript(SCHEMA_1.read_text(encoding="utf-8"))
        connection.executescript(OLD_CHAT)
    return folder / FILE_NAME


def look(path: Path, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchall()


def test_the_first_version_is_still_what_it_was_when_it_was_released(tmp_path: Path) -> None:
    with closing(sqlite3.connect(":memory:")) as released, closing(sqlite3.connect(":memory:")) as made:
        released.executescript(SCHEMA_1.read_text(encoding="utf-8"))
        made.isolation_level = None
        migrate(made, MIGRATIONS[:1])
        assert schema(made) == schema(released)
        assert version_of(made) == version_of(released) == 1


def test_an_old_database_is_brought_up_to_date_and_a_copy_of_it_stays(tmp_path: Path) -> None:
    path = old_database(tmp_path)
    opened = open_database(tmp_path, Patience(), LATER)
    assert opened.connection is not None and opened.problems == ()
    assert [head.title for head in opened.conversations] == ["Old"]
    assert opened.connection.execute("PRAGMA foreign_keys").fetchone() == (1,)
    opened.connection.close()
    assert look(path, "SELECT stars, colour FROM conversation") == [(3, "red")]
    assert look(path, "PRAGMA user_version") == [(LAST + 2,)]
    assert look(tmp_path / BACKUP, "PRAGMA user_version") == [(1,)]
    assert look(tmp_path / BACKUP, "SELECT text FROM message ORDER BY id") == [("Hello",), ("",)]
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh, closing(sqlite3.connect(path)) as old:
        migrate(fresh, LATER)
        assert schema(fresh) == schema(old)


def test_a_new_database_needs_no_copy(tmp_path: Path) -> None:
    opened = open_database(tmp_path, Patience(), LATER)
    assert opened.connection is not None
    opened.connection.close()
    assert not list(tmp_path.glob("*before-update*"))


def test_a_step_that_fails_leaves_the_version_before_it_and_the_next_start_goes_on(tmp_path: Path) -> None:
    path = old_database(tmp_path)

    def full(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE half (x)")
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        connection.execute("CREATE TABLE other AS SELECT zeroblob(1000000) AS x")

    opened = open_database(tmp_path, Patience(), (*MIGRATIONS, add_stars, full))
    assert opened.connection is None
    assert "is full" in opened.problems[0].template
    assert look(path, "PRAGMA user_version") == [(LAST + 1,)]
    assert look(path, "SELECT name FROM sqlite_master WHERE name = 'half'") == []
    again = open_database(tmp_path, Patience(), LATER)
    assert again.connection is not None
    again.connection.close()
    assert look(path, "SELECT stars, colour FROM conversation") == [(3, "red")]


def test_a_program_that_is_killed_in_the_middle_leaves_the_old_database_usable(tmp_path: Path) -> None:
    path = old_database(tmp_path)
    code = """
        import os, signal, sys
        from pathlib import Path
        from app.store.migrations import MIGRATIONS
        from app.store.opening import open_database
        from app.store.patience import Patience

        def die(connection):
            connection.execute("DROP TABLE message")
            connection.execute("CREATE TABLE half AS SELECT zeroblob(3000000) AS x")
            os.kill(os.getpid(), signal.SIGKILL)

        open_database(Path(sys.argv[1]), Patience(), (*MIGRATIONS, die))
    """
    if not hasattr(signal, "SIGKILL"):
        pytest.skip("this system has no SIGKILL")
    child = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)], check=False, cwd=Path(__file__).parents[2]
    )
    assert child.returncode == -signal.SIGKILL
    assert look(path, "PRAGMA user_version") == [(LAST,)]
    with shelf(tmp_path) as kept:
        assert kept.read().messages[0].text == "Hello"


def test_a_copy_that_was_made_before_is_not_replaced(tmp_path: Path) -> None:
    old_database(tmp_path)
    (tmp_path / BACKUP).write_text("the first copy", encoding="utf-8")
    opened = open_database(tmp_path, Patience(), LATER)
    assert opened.connection is not None
    opened.connection.close()
    assert (tmp_path / BACKUP).read_text(encoding="utf-8") == "the first copy"
    assert look(tmp_path / "tokenlight-before-update-1-2.sqlite3", "PRAGMA user_version") == [(1,)]
    assert list(tmp_path.glob("*.new")) == []


def test_a_database_of_before_there_were_drafts_keeps_its_chats_and_takes_drafts(tmp_path: Path) -> None:
    path = old_database(tmp_path)
    with shelf(tmp_path) as kept:
        assert [message.text for message in kept.read().messages] == ["Hello", ""]
        assert kept.read().draft is None
        kept.send(KeepDraft(Draft(1, "half a thought", ("pasted",)), 5))
        assert kept.read().draft == Draft(1, "half a thought", ("pasted",))
    assert look(path, "PRAGMA user_version") == [(LAST,)]
    assert look(path, "SELECT conversation, changed_ms, text FROM draft") == [(1, 5, "half a thought")]


def test_a_database_of_before_there_were_trees_knows_what_its_answers_were_written_without(tmp_path: Path) -> None:
    path = old_database(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO answer_prompt VALUES (2, NULL, 0, '[0,1,2]', 2, NULL, x'')")
        connection.execute("INSERT INTO answer_prompt VALUES (9, NULL, 0, '{nonsense', 2, NULL, x'')")
        connection.execute("INSERT INTO chunk VALUES (1, 2, 0, 'Hi', 4, x'05000000', x'')")
        connection.commit()
    with shelf(tmp_path) as kept:
        read = kept.read()
        assert read.dropped == {2: 3}
        assert [(message.text, message.edited) for message in read.messages] == [("Hello", False), ("Hi", False)]
        assert [(answer.ids, answer.thinking) for answer in read.answers] == [(b"\5\0\0\0", None)]


def test_what_can_be_read_of_a_damaged_old_database_is_taken_over(tmp_path: Path) -> None:
    path = old_database(tmp_path)
    break_pages(path, "chunk")
    (tmp_path / SUSPECT_NAME).touch()
    with shelf(tmp_path) as kept:
        assert [(message.text, message.edited) for message in kept.read().messages] == [("Hello", False), ("", False)]
        assert kept.sql("SELECT message FROM answer") == [(2,)]


def database_of_version_5(folder: Path) -> Path:
    """Make a database of the version before comparisons were written, in which their columns are not empty."""
    path = old_database(folder)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrate(connection, MIGRATIONS[:5])
        connection.execute("PRAGMA foreign_keys = OFF")
        for key, parent in ((3, 1), (4, 1), (5, None), (6, 5)):
            values = (key, parent, "user" if parent is None else "assistant", f"Text {key}")
            connection.execute(
                "INSERT INTO message (id, conversation, parent, role, created_ms, text) VALUES (?1, 1, ?2, ?3, ?1, ?4)",
                values,
            )
        connection.execute("UPDATE answer SET comparison = 77, lane = 1")
        # One that is known of, with a lane; one without any; one whose message is not there.
        connection.execute("INSERT INTO answer (message, state, comparison, lane) VALUES (3, 'done', 20, 0)")
        connection.execute("INSERT INTO answer (message, state, comparison, lane) VALUES (4, 'done', 20, 1)")
        connection.execute("INSERT INTO answer (message, state, comparison, lane) VALUES (6, 'done', 22, 0)")
        connection.execute("INSERT INTO comparison VALUES (20, 1, 1, 'anything'), (21, 1, NULL, NULL)")
        connection.execute("INSERT INTO comparison VALUES (22, 99, 0, NULL)")
        assert version_of(connection) == 5
    return path


def test_a_database_of_before_comparisons_were_kept_loses_no_answer_and_takes_them(tmp_path: Path) -> None:
    path = database_of_version_5(tmp_path)
    with shelf(tmp_path) as kept:
        read = kept.read()
        assert [m.text for m in read.messages] == ["Hello", "", "Text 3", "Text 4", "Text 5", "Text 6"]
        assert [(a.message, a.comparison, a.lane) for a in read.answers] == [
            (2, None, None),
            (3, 20, 0),
            (4, 20, 1),
            (6, None, None),
        ]
        # Which of its lanes were kept is not known: so none is hidden.
        assert read.comparisons == (Comparison(20, 1, 1, 1, (3, 4), baseline=1, kept=(0, 1)),)
        assert kept.sql("SELECT id FROM comparison") == [(20,)]
        begun = compared(1, head(), 31)
        kept.send(begun, KeepComparison(begun.comparison))
        assert kept.read().comparisons[1:] == (begun.comparison,)
        assert kept.sql("PRAGMA integrity_check") == [("ok",)] and kept.sql("PRAGMA foreign_key_check") == []
    assert look(tmp_path / "tokenlight-before-update-5.sqlite3", "SELECT count(*) FROM comparison") == [(3,)]
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh, closing(sqlite3.connect(path)) as old:
        migrate(fresh)
        assert schema(fresh) == schema(old)


def test_a_program_that_is_killed_while_comparisons_get_their_table_leaves_the_version_before(tmp_path: Path) -> None:
    path = database_of_version_5(tmp_path)
    code = """
        import os, sys
        from pathlib import Path
        from app.store.migrations import MIGRATIONS
        from app.store.opening import open_database
        from app.store.patience import Patience

        def die(connection):
            MIGRATIONS[5](connection)
            os._exit(9)

        open_database(Path(sys.argv[1]), Patience(), (*MIGRATIONS[:5], die))
    """
    child = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)], check=False, cwd=Path(__file__).parents[2]
    )
    assert child.returncode == 9
    assert look(path, "PRAGMA user_version") == [(5,)]
    assert look(path, "SELECT id, message FROM comparison ORDER BY id") == [(20, 1), (21, 1), (22, 99)]
    with shelf(tmp_path) as kept:
        assert len(kept.read().messages) == 6


def test_a_damaged_database_of_before_comparisons_were_kept_is_taken_over_without_them(tmp_path: Path) -> None:
    path = database_of_version_5(tmp_path)
    break_pages(path, "chunk")
    (tmp_path / SUSPECT_NAME).touch()
    with shelf(tmp_path) as kept:
        assert [m.text for m in kept.read().messages] == ["Hello", "", "Text 3", "Text 4", "Text 5", "Text 6"]
        assert kept.read().comparisons == ()
        assert kept.sql("PRAGMA foreign_key_check") == []
