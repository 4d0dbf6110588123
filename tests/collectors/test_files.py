"""Log files: which there are, how they are named, which are new."""

from pathlib import Path

import pytest

from collectors.files import fresh, log_files
from lineage.errors import GraftError


def test_a_folder_gives_its_files_by_name_and_hides_the_hidden(tmp_path: Path) -> None:
    for name in ("b.xml", "a/1.xml", ".a.xml.crc", "_temporary/0/x.xml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    found = log_files(str(tmp_path), "logs/")
    assert [log.origin for log in found] == ["logs/a/1.xml", "logs/b.xml"]
    assert [log.url for log in found] == [str(tmp_path / "a/1.xml"), str(tmp_path / "b.xml")]


def test_a_file_is_named_by_its_label_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("abc")
    (log,) = log_files(str(path), "logs/a.xml")
    assert (log.origin, log.url, log.size) == ("logs/a.xml", str(path), 3)


def test_a_missing_path_says_what_to_correct(tmp_path: Path) -> None:
    with pytest.raises(GraftError, match=r"logs/xe: there is nothing at this path"):
        log_files(str(tmp_path / "none"), "logs/xe")


def test_a_file_is_new_until_it_is_known_as_it_is_now(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("abc")
    (log,) = log_files(str(tmp_path), "logs")
    known = {log.origin: (log.position, 1)}
    assert fresh([log], {}) == [log]
    assert fresh([log], known) == []
    path.write_text("abcdef")
    assert len(fresh(log_files(str(tmp_path), "logs"), known)) == 1
