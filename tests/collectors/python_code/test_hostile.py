"""No file does harm: it is read to its end, or a gap names the line; none of it is run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dbt_graft.collectors.python_code.script import Script
from dbt_graft.collectors.python_code.task_code import follow_script
from tests.cases import for_each
from tests.collectors.python_code.hostile import BROKEN, ENDLESS, HEAD, MARK, RUN, TAIL

# Would leave the mark behind and fail, if it were imported.
_RAISING = f"open({MARK!r}, 'w').close()\nraise ValueError\ndef f():\n    pass\n"
_OTHER_FILES = {
    "raising_module.py": _RAISING.encode(),
    "ring_a.py": b"from ring_b import g\ndef f(d):\n    return g(d)\n",
    "ring_b.py": b"import ring_a\ndef g(d):\n    return ring_a.f(d)\n",
    "bomb.yml": b"a: &a [x, x]\n"
    + b"".join(b"%c: &%c [*%c, *%c, *%c]\n" % (n + 1, n + 1, n, n, n) for n in range(97, 121)),
    "broken.py": b"def f(:\n",
    "broken.sql": b"SELECT \xff\x00",
}


def _follow(content: bytes, asked: list[str] | None = None) -> Script:
    def read_file(name: str) -> bytes | None:
        if asked is not None:
            asked.append(name)
        return content if name == "task.py" else _OTHER_FILES.get(name)

    return follow_script("task.py", read_file)


def _between(lines: str) -> bytes:
    return f"{HEAD}{lines}{TAIL}".encode()


@for_each("content, line", BROKEN.values(), ids=BROKEN)
def test_a_file_that_cannot_be_read_is_a_gap_with_its_line(content: bytes, line: int) -> None:
    script = _follow(content)
    assert (script.edges, [gap.place.line for gap in script.gaps]) == ((), [line])


@for_each("lines", ENDLESS.values(), ids=ENDLESS, quick=len(ENDLESS) - 2)
def test_what_would_take_for_ever_or_all_memory_ends(lines: str) -> None:
    script = _follow(_between(lines))
    assert script.targets or script.gaps
    assert len(script.edges) < 5_000


@for_each("lines", RUN.values(), ids=RUN)
def test_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str) -> None:
    monkeypatch.chdir(tmp_path)
    script = _follow(_between(lines))
    assert (bool(script.targets or script.gaps), list(tmp_path.iterdir())) == (True, [])


@for_each(
    "lines",
    (
        "from ring_a import f\ndf = f(df)\n",
        "import task\nfrom task import df as again\n",
        "import broken\ndf = broken.f(df)\n",
        "import yaml\ny = yaml.safe_load(open('bomb.yml'))\nfor a in y['z']:\n    print(a)\n",
        "df = pd.read_sql(open('broken.sql').read(), engine)\n",
        "df = pd.read_sql('SELECT a FROM dbo.t WHERE b *c ?', engine)\n",
    ),
)
def test_files_beside_it_do_no_harm_either(lines: str) -> None:
    script = _follow(_between(lines))
    assert script.targets or script.gaps
    assert not [gap for gap in script.gaps if "Error at" in gap.reason]


@for_each(
    "path",
    (
        "/etc/passwd",
        "../secret.sql",
        "sql/../../secret.sql",
        "~/secret.sql",
        "C:\\\\secret.sql",
        "\\x00",
    ),
)
def test_no_file_outside_of_the_project_is_read(path: str) -> None:
    asked: list[str] = []
    _follow(_between(f"q = open('{path}').read()\ndf = pd.read_sql(q, engine)\n"), asked)
    assert not [name for name in asked if name.startswith(("/", "..")) or "/.." in name]


@for_each(
    "encode",
    (
        lambda text: b"\xef\xbb\xbf" + text.encode(),
        lambda text: b"# coding: latin-1\n" + text.encode("latin-1"),
        lambda text: b"#!/usr/bin/python\n# -*- coding: cp1252 -*-\n" + text.encode("cp1252"),
        lambda text: text.replace("\n", "\r\n").encode(),
    ),
    ids=("byte order mark", "latin-1", "cp1252", "carriage returns"),
)
def test_names_are_read_in_the_encoding_of_the_file(encode: Callable[[str], bytes]) -> None:
    script = _follow(encode(HEAD + "df['größe'] = df['a'] * 2\n" + TAIL))
    assert "größe" in {edge.column for edge in script.edges}
    assert script.gaps == ()
