"""Files of models in our own folder: their parts and names, downloads and links, and what goes wrong with them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.core.commands import Load
from app.core.download import DownloadChanged, DownloadFile, DownloadWanted
from app.services.library_files import LibraryFiles
from app.system.model_moves import NoTrash
from tests.desk import Desk
from tests.ggufs import write_split_llama, write_tiny_llama, write_vocab_only
from tests.services.own_files import begin, done, found, hindered, said


def test_parts_go_together_and_keep_their_numbers(files: LibraryFiles, desk: Desk, own: Path, trash: Path) -> None:
    paths = write_split_llama(own)
    model = begin(desk, paths[0].name)
    assert (
        files.naming.ending == f"-00001-of-{len(paths):05d}.gguf"
        and files.naming.stem + files.naming.ending == paths[0].name
    )
    assert f"Its {len(paths)} files go together" in said(files, "trash")
    files.rename("モデル 7B")
    assert done(desk) == ""
    names = [f"モデル 7B-{number + 1:05d}-of-{len(paths):05d}.gguf" for number in range(len(paths))]
    assert {path.name for path in own.iterdir()} == {"apple.gguf", *names}
    again = found(desk, names[0])
    assert again.is_usable and again.size == model.size
    begin(desk, names[0])
    files.move_to_trash()
    assert done(desk) == "" and {path.name for path in trash.iterdir()} == set(names)


def test_parts_of_which_one_cannot_be_moved_all_stay(
    files: LibraryFiles, desk: Desk, own: Path, trash: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths, real = write_split_llama(own), files._tools.trash

    def move(path: str) -> str:
        if path == str(paths[-1]):
            raise NoTrash
        return real(path)

    monkeypatch.setattr(files, "_tools", files._tools._replace(trash=move))
    begin(desk, paths[0].name)
    files.move_to_trash()
    assert "There is no trash for the disk" in done(desk) and files.done_path is None
    assert all(path.is_file() for path in paths) and not list(trash.iterdir())
    assert found(desk, paths[0].name).is_usable


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("", "Type a name"),
        (".gguf", "Type a name"),
        ("Pear", "There is a file “Pear.gguf” already"),
        ("PEAR", "There is a file “PEAR.gguf” already"),
        ("a/b", "Leave / out"),
        ("aux", "device"),
        ("x" * 240, "too long"),
    ],
)
def test_a_name_that_cannot_be_is_refused(files: LibraryFiles, desk: Desk, own: Path, typed: str, words: str) -> None:
    write_vocab_only(own / "Pear.gguf")
    begin(desk)
    problem = files.naming.problem(typed)
    assert problem is not None and words in problem.english()
    files.rename(typed)
    assert not files.is_busy and {path.name for path in own.iterdir()} == {"Pear.gguf", "apple.gguf"}


def test_its_own_name_in_other_letters_is_a_name(files: LibraryFiles, desk: Desk, own: Path) -> None:
    begin(desk)
    assert (
        files.naming.problem("Apple") is None
        and files.naming.is_new("Apple")
        and not files.naming.is_new("apple.gguf")
    )
    files.rename("Apple")
    assert done(desk) == "" and [path.name for path in own.iterdir()] == ["Apple.gguf"]


def test_a_name_that_somebody_took_meanwhile_is_not_replaced(files: LibraryFiles, desk: Desk, own: Path) -> None:
    desk.load(own / "apple.gguf")
    begin(desk)
    (own / "pear.gguf").write_text("somebody's")
    loads = len(desk.engine.all(Load))
    files.rename("pear")
    assert "nothing was changed" in done(desk)
    assert (own / "apple.gguf").exists() and (own / "pear.gguf").read_text() == "somebody's"
    desk.until(lambda: len(desk.engine.all(Load)) > loads)  # what was unloaded for it is loaded again
    assert desk.engine.load.path == str(own / "apple.gguf")
    desk.until(lambda: files.is_ready)
    assert files.naming.problem("pear") is not None


def test_a_download_that_goes_on_is_waited_for(files: LibraryFiles, desk: Desk, own: Path) -> None:
    repository = own / "org" / "repo"
    repository.mkdir(parents=True)
    paths = write_split_llama(repository)
    paths[-1].unlink()
    begin(desk, paths[0].name)
    assert hindered(files) == ""
    wanted = DownloadWanted("org/repo", "main", tuple(DownloadFile(path.name, 9) for path in paths))
    desk.program.dispatch(DownloadChanged(wanted, "paused", path=str(paths[0])))
    assert "download of it has not ended" in hindered(files)
    files.move_to_trash()
    assert not files.is_busy and paths[0].exists()
    desk.program.dispatch(DownloadChanged(wanted, "done", path=str(paths[0])))
    assert hindered(files) == ""


def test_what_is_left_of_a_download_goes_with_it_and_hinders_a_new_name(
    files: LibraryFiles, desk: Desk, own: Path, trash: Path
) -> None:
    (own / "apple.gguf.part").write_text("half")
    (own / "apple.gguf.part.json").write_text("{}")
    begin(desk)
    problem = files.naming.problem("pear")
    assert problem is not None and "would not find it again" in problem.english()
    assert "that did not end goes with it" in said(files, "trash")
    files.move_to_trash()
    assert done(desk) == "" and not list(own.iterdir()) and len(list(trash.iterdir())) == 3


def test_a_download_that_is_whole_follows_and_leaves_the_list_with_its_file(
    files: LibraryFiles, desk: Desk, own: Path, trash: Path
) -> None:
    wanted = DownloadWanted("org/repo", "main", (DownloadFile("apple.gguf", 9),))
    desk.program.dispatch(DownloadChanged(wanted, "done", 9, path=str(own / "apple.gguf")))
    begin(desk)
    files.rename("pear")
    assert done(desk) == ""
    (row,) = desk.program.downloads.rows
    assert row.path == str(own / "pear.gguf")
    begin(desk, "pear.gguf")
    files.move_to_trash()
    assert done(desk) == "" and desk.program.downloads.rows == ()


def test_links_are_told_and_a_link_goes_alone(
    files: LibraryFiles, desk: Desk, own: Path, trash: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    write_tiny_llama(elsewhere / "plum.gguf", layers=3)
    (own / "link.gguf").symlink_to(elsewhere / "plum.gguf")
    (own / "second.gguf").symlink_to("apple.gguf")
    begin(desk)
    assert "A link leads to it and will lead nowhere: " in said(files, "trash")
    os.link(own / "apple.gguf", tmp_path / "hard.gguf")
    begin(desk)
    assert "has another name on this disk" in said(files, "trash")
    begin(desk, "link.gguf")
    assert f"It is a link to {elsewhere / 'plum.gguf'}: only the link changes" in said(files, "trash")
    files.move_to_trash()
    assert done(desk) == "" and (elsewhere / "plum.gguf").exists() and (trash / "link.gguf").is_symlink()


def test_a_file_that_cannot_be_used_can_go_as_well(files: LibraryFiles, desk: Desk, own: Path, trash: Path) -> None:
    (own / "page.gguf").write_text("<html>")
    begin(desk, "page.gguf")
    files.move_to_trash()
    assert done(desk) == "" and (trash / "page.gguf").read_text() == "<html>"


def test_a_file_that_went_meanwhile_is_told(files: LibraryFiles, desk: Desk, own: Path) -> None:
    model = found(desk, "apple.gguf")
    (own / "apple.gguf").unlink()
    files.begin(model)
    desk.until(lambda: files.is_ready)
    assert "not there any more" in hindered(files)


def test_what_cannot_be_undone_is_told_truly(
    files: LibraryFiles, desk: Desk, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = write_split_llama(own)

    def move(path: str) -> str:
        if path == str(paths[1]):
            raise NoTrash
        Path(path).unlink()
        return ""

    monkeypatch.setattr(files, "_tools", files._tools._replace(trash=move))
    begin(desk, paths[0].name)
    files.move_to_trash()
    told = done(desk)
    assert "in the trash already" in told and paths[0].name in told and "Take them back" in told
