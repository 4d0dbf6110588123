"""Log files: which there are, how they are named, which are new."""

from pathlib import Path

import pytest

from dbt_graft.collectors.files import changed_logs, filesystem, log_files
from dbt_graft.lineage.errors import GraftError
from tests.cases import for_each


def test_a_folder_gives_its_files_by_name_and_hides_the_hidden(tmp_path: Path) -> None:
    for name in ("b.xml", "a/1.xml", ".a.xml.crc", "_temporary/0/x.xml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    files = log_files(str(tmp_path), "logs/")
    assert [log.origin for log in files] == ["logs/a/1.xml", "logs/b.xml"]
    assert [log.url for log in files] == [str(tmp_path / "a/1.xml"), str(tmp_path / "b.xml")]


def test_a_file_is_named_by_its_label_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("abc")
    (log,) = log_files(str(path), "logs/a.xml")
    assert (log.origin, log.url, log.size) == ("logs/a.xml", str(path), 3)


def test_the_remedy_for_a_missing_path_names_the_key(tmp_path: Path) -> None:
    with pytest.raises(GraftError, match=r"logs/xe: there is nothing at this path"):
        log_files(str(tmp_path / "none"), "logs/xe")


def test_a_file_is_new_until_it_is_known_as_it_is_now(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("abc")
    (log,) = log_files(str(tmp_path), "logs")
    known = {log.origin: (log.position, 1)}
    assert changed_logs([log], {}) == [log]
    assert changed_logs([log], known) == []
    path.write_text("abcdef")
    assert len(changed_logs(log_files(str(tmp_path), "logs"), known)) == 1


def test_files_below_a_url_are_opened_whatever_they_are_called(tmp_path: Path) -> None:
    names = ["a b", "a%20b", "app[1]{2}?", "ä#1", "sub/plain"]
    (tmp_path / "sub").mkdir()
    for name in names:
        (tmp_path / name).write_text(name)
    logs = log_files(f"file://{tmp_path}/", "file:///logs/")
    found = {}
    for log in logs:
        files, path = filesystem(log.url)
        with files.open_input_file(path) as file:
            found[log.origin] = file.read().decode()
    assert found == {f"file:///logs/{name}": name for name in names}


@for_each(
    "url, expected",
    [
        ("wasbs://c@a.blob.core.windows.net/logs", "supported schemes: file, s3a"),
        ("webhdfs://name:9870/logs", "supported schemes: file, s3a"),
        ("https://history:18080", "supported schemes: file, s3a"),
        ("file:///a b", "Cannot parse URI"),
        ("hdfs://name:8020/logs", "Hadoop's library libhdfs"),
        ("viewfs://cluster/logs", "Hadoop's library libhdfs"),
    ],
)
def test_a_url_that_cannot_be_read_has_a_remedy(
    url: str, expected: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HADOOP_HOME", str(tmp_path))
    monkeypatch.setenv("ARROW_LIBHDFS_DIR", str(tmp_path))
    monkeypatch.delenv("CLASSPATH", raising=False)
    with pytest.raises(GraftError) as caught:
        log_files(url, url)
    assert expected in str(caught.value)


@for_each(
    "glob, origins",
    [
        ("logs/*.xel", ["logs/a.xel", "logs/b.xel"]),
        ("logs/?.xel", ["logs/a.xel", "logs/b.xel"]),
        ("logs/*/events", ["logs/crm/events/one", "logs/erp/events/two"]),
        ("logs/*/events/", ["logs/crm/events/one", "logs/erp/events/two"]),
        ("logs/**/one", ["logs/crm/events/one", "logs/one"]),
        ("logs/c*", ["logs/crm/events/one"]),
    ],
)
def test_a_glob_names_files_and_folders(tmp_path: Path, glob: str, origins: list[str]) -> None:
    for name in ("a.xel", "b.xel", "one", "crm/events/one", "erp/events/two", "erp/other/x"):
        path = tmp_path / "logs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    for top in (str(tmp_path), f"file://{tmp_path}"):
        assert [log.origin for log in log_files(f"{top}/{glob}", glob)] == origins
    (tmp_path / "logs/*").write_text("a file of this name")
    assert [log.origin for log in log_files(f"{tmp_path}/logs/*", "logs/*")] == ["logs/*"]


def test_a_glob_without_a_match_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GraftError, match=r"logs/\*.xel: nothing matches"):
        log_files(f"{tmp_path}/*.xel", "logs/*.xel")
