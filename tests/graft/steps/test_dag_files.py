"""Files of DAGs in a folder that others write into, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_graft.graft.steps.dag_files import WrittenFiles, write_files
from dbt_graft.lineage.errors import GraftError

MARKER = "# ours (shop)"


def content(text: str) -> str:
    return f"{MARKER}\n{text}\n"


def test_only_what_changed_is_written_and_what_is_gone_removed(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "dags"
    first = {"a.yml": content("1"), "a.py": content("2"), "b.yml": content("3")}
    assert write_files(folder, first, MARKER) == WrittenFiles(("a.py", "a.yml", "b.yml"), (), ())
    before = (folder / "a.py").stat().st_mtime_ns
    second = {"a.yml": content("4"), "a.py": content("2")}
    assert write_files(folder, second, MARKER) == WrittenFiles(("a.yml",), ("a.py",), ("b.yml",))
    assert (folder / "a.py").stat().st_mtime_ns == before
    assert sorted(path.name for path in folder.iterdir()) == ["a.py", "a.yml"]


def edited(folder: Path) -> str:
    """Somebody adds a line to a.yml of two written files; what is there then."""
    write_files(folder, {"a.yml": content("1"), "b.yml": content("2")}, MARKER)
    text = (folder / "a.yml").read_text() + "pool: erp\n"
    (folder / "a.yml").write_text(text)
    return text


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"a.yml": content("3"), "b.yml": content("4")}, id="written again"),
        pytest.param({"a.yml": content("1"), "b.yml": content("4")}, id="the same lineage"),
        pytest.param({"b.yml": content("4")}, id="removed"),
    ],
)
def test_an_edited_file_is_refused_with_the_difference_and_nothing_is_written(
    tmp_path: Path, files: dict[str, str]
) -> None:
    text = edited(tmp_path)
    with pytest.raises(GraftError, match="1 file edited by hand since the last export") as error:
        write_files(tmp_path, files, MARKER)
    assert "\n  -pool: erp" in error.value.problem
    assert "airflow.overrides" in error.value.remedy
    assert (tmp_path / "a.yml").read_text() == text
    assert (tmp_path / "b.yml").read_text().endswith("\n2\n")
    write_files(tmp_path, files, MARKER, force=True)
    names = {path.name: path.read_text().splitlines()[2:] for path in tmp_path.iterdir()}
    assert names == {name: text.splitlines()[1:] for name, text in files.items()}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("\n", "\r\n", id="line ends of Windows"),
        pytest.param("x: 1\n", "x: 1   \n\n", id="blanks at ends of lines"),
    ],
)
def test_what_version_control_and_editors_do_is_no_edit(tmp_path: Path, old: str, new: str) -> None:
    write_files(tmp_path, {"a.yml": content("x: 1")}, MARKER)
    text = (tmp_path / "a.yml").read_text().replace(old, new)
    (tmp_path / "a.yml").write_bytes(text.encode())
    assert write_files(tmp_path, {"a.yml": content("2")}, MARKER).written == ("a.yml",)


def test_an_edit_that_the_export_makes_as_well_is_none(tmp_path: Path) -> None:
    text = edited(tmp_path)
    body = "\n".join(text.splitlines()[2:])
    assert write_files(tmp_path, {"a.yml": content(body)}, MARKER).removed == ("b.yml",)


def test_what_is_not_to_be_removed_stays(tmp_path: Path) -> None:
    text = edited(tmp_path)
    assert write_files(tmp_path, {"b.yml": content("3")}, MARKER, remove=False).removed == ()
    assert (tmp_path / "a.yml").read_text() == text


def test_files_of_others_stay(tmp_path: Path) -> None:
    others = {
        "own.py": "import airflow\n",
        "other.yml": "# ours (crm)\nx: 1\n",
        "late.yml": f"\n{MARKER}\n",
        "close.py": f"{MARKER} and more\n",
        "notes.txt": content("x"),
    }
    for name, text in others.items():
        (tmp_path / name).write_text(text)
    write_files(tmp_path, {"a.py": content("1")}, MARKER)
    write_files(tmp_path, {}, MARKER)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == others


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_somebody_else_s_file_is_never_overwritten(tmp_path: Path, kind: str) -> None:
    (tmp_path / "a.yml").write_text(content("old"))
    target = tmp_path / "b.py"
    if kind == "file":
        target.write_text("mine\n")
    elif kind == "link":
        (tmp_path / "elsewhere").write_text(content("x"))
        target.symlink_to(tmp_path / "elsewhere")
    else:
        target.mkdir()
    with pytest.raises(GraftError, match="is in the way: this export did not write it"):
        write_files(tmp_path, {"a.yml": content("new"), "b.py": content("new")}, MARKER)
    assert (tmp_path / "a.yml").read_text() == content("old")


def test_a_folder_that_cannot_be_made_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(GraftError, match="cannot be written") as error:
        write_files(tmp_path / "file" / "dags", {"a.py": content("1")}, MARKER)
    assert "airflow.out" in error.value.remedy
