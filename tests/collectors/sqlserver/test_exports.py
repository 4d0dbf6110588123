"""Which files are exports of Extended Events, and in which form."""

from pathlib import Path

import pytest

from collectors.files import log_files
from collectors.sqlserver.exports import inspect, is_export

EVENT = b'<event name="rpc_completed"></event>'


@pytest.mark.parametrize(
    ("content", "escaped", "problem"),
    [
        (EVENT, False, ""),
        (b"\xef\xbb\xbf" + EVENT, False, ""),
        (b'<?xml version="1.0"?>\n<events>\n' + EVENT, False, ""),
        (b"<row><event_data>&lt;event name=&quot;x&quot;&gt;", True, ""),
        (b"<row><object_name>x</object_name><event_data>" + EVENT, False, ""),
        (b"", False, ""),
        (b"<events/>", False, ""),
        (EVENT.decode().encode("utf-16"), False, "is UTF-16: save it as UTF-8"),
        (b"\x1f\x8b\x08", False, "is no XML"),
        (b"a;b;c", False, "is no XML"),
    ],
)
def test_a_files_beginning_tells_its_form(
    tmp_path: Path, content: bytes, escaped: bool, problem: str
) -> None:
    (tmp_path / "a.xml").write_bytes(content)
    (log,) = log_files(str(tmp_path), "logs")
    found = inspect(log)
    assert (found.escaped, found.problem) == (escaped, problem)


def test_an_xel_file_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "a.xel").write_bytes(b"\x00\x01")
    (log,) = log_files(str(tmp_path), "logs")
    assert "sys.fn_xe_file_target_read_file" in inspect(log).problem


def test_a_file_that_is_gone_is_a_problem_and_no_crash(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(EVENT)
    (log,) = log_files(str(tmp_path), "logs")
    (tmp_path / "a.xml").unlink()
    assert inspect(log).problem == "cannot be read: FileNotFoundError"


def test_other_files_beside_the_logs_are_none(tmp_path: Path) -> None:
    for name in ("a.xml", "b.XEL", "README.md", "dbt.log"):
        (tmp_path / name).write_text("x")
    logs = log_files(str(tmp_path), "logs")
    assert [x.origin for x in logs if is_export(x, str(tmp_path))] == ["logs/a.xml", "logs/b.XEL"]
    (named,) = log_files(str(tmp_path / "dbt.log"), "dbt.log")
    assert is_export(named, str(tmp_path / "dbt.log"))
