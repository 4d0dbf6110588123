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
