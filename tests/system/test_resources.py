from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from app.core.errors import ExitCode, UserError
from app.system.resources import Resources, checkout_folder, find_resources


def test_a_checkout_finds_its_own_resources() -> None:
    root = checkout_folder()
    assert root is not None
    assert find_resources().folder == root / "resources"


def test_a_frozen_application_finds_those_of_its_bundle(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "app" / "_data").mkdir(parents=True)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    assert checkout_folder() is None
    assert find_resources().folder == tmp_path / "app" / "_data"


def test_templates_are_found_by_name(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "chatml.jinja").write_text("{{ messages }}", encoding="utf-8")
    resources = Resources(tmp_path)
    assert resources.template_names() == ["chatml"]
    assert resources.template("chatml") == "{{ messages }}"


def test_a_template_that_does_not_ship_names_those_that_do(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "chatml.jinja").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match="chatml") as raised:
        Resources(tmp_path).template("../secret")
    assert raised.value.exit_code is ExitCode.WRONG_USE


WIDTHS = {"line", "line_px", "ring"}
"""Names in the style sheet that are no colours: a theme knows how wide its lines are."""


def test_all_themes_have_the_same_tokens_and_the_style_sheet_uses_no_others() -> None:
    resources = find_resources()
    light, dark, contrast = (
        set(json.loads(resources.read_text(f"themes/{name}.json"))) for name in ("light", "dark", "contrast")
    )
    assert light == dark == contrast
    used = set(re.findall(r"\$(\w+)", resources.read_text("themes/tokenlight.qss")))
    inside = {each for each in used if re.fullmatch(r"in_([1-9]|1\d|2[0-4])", each)}  # what a border leaves of a room
    assert inside
    used -= inside
    assert used - WIDTHS <= light
    assert used >= WIDTHS


def test_a_folder_of_packages_is_no_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("app", "resources", "packaging"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr("app.system.resources._PACKAGE", tmp_path / "app")
    assert checkout_folder() is None
    (tmp_path / "packaging" / "dev.py").touch()
    assert checkout_folder() == tmp_path


def test_a_table_of_gpus_that_is_missing_or_no_text_is_empty(tmp_path: Path) -> None:
    assert "rtx-4090" in find_resources().gpu_table()
    assert Resources(tmp_path).gpu_table() == ""
    (tmp_path / "gpus.json").write_bytes(b"\xff\xfe\x00")
    assert Resources(tmp_path).gpu_table() == ""


def test_the_catalogue_lies_beside_the_models_of_a_checkout_and_among_the_data_elsewhere(tmp_path: Path) -> None:
    assert "[[model]]" in find_resources().catalogue()
    data = tmp_path / "resources"
    data.mkdir()
    assert Resources(data).catalogue() == ""
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "catalogue.toml").write_text("# beside")
    assert Resources(data).catalogue() == "# beside"
    (data / "catalogue.toml").write_text("# among")
    assert Resources(data).catalogue() == "# among"
    (data / "catalogue.toml").write_bytes(b"\xff")
    assert Resources(data).catalogue() == "# beside"
