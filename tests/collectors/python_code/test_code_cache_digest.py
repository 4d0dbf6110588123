"""Changes of Python files that change what they do, and changes that do not."""

from __future__ import annotations

import pytest

from dbt_graft.collectors.python_code.code_cache import syntax_digest

_CODE = 'def load(day):\n    """Load."""\n    return day + 1\n'


@pytest.mark.parametrize(
    ("changed", "is_same"),
    [
        (
            'def load(day):\n    """Loads a day."""\n    # why\n    return (day + 1)\n',
            True,
        ),
        ("def load(day):\n    return day + 1\n", True),
        ("def load(day):\n    return day + 2\n", False),
        ("def load(date):\n    return date + 1\n", False),
        ("def load(day:\n", False),
    ],
)
def test_only_what_is_done_counts(changed: str, is_same: bool) -> None:
    digests = [syntax_digest({"a.py": text.encode()}) for text in (_CODE, changed)]
    assert (digests[0] == digests[1]) == is_same


def test_files_beside_count_byte_by_byte() -> None:
    digests = [syntax_digest({"a.py": b"", "q.sql": sql}) for sql in (b"select 1", b"select  1")]
    assert digests[0] != digests[1]


def test_what_is_no_python_is_compared_as_text() -> None:
    assert syntax_digest({"a.py": b"print 'x'"}) == syntax_digest({"a.py": b"print 'x'"})
