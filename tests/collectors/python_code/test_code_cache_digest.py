"""Changes of Python files that change what they do, and changes that do not."""

from __future__ import annotations

import pytest

from dbt_graft.collectors.python_code.code_cache import syntax_digest
from tests.cases import for_each

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


_DAG = """\
default_args = {"owner": "etl", "retries": 1}
with DAG("d", default_args=default_args, doc_md="Orders"):
    LoadOperator(task_id="a", retry_delay=2, table="t", pool="p")
"""


@for_each(
    "old, new, is_same",
    [
        ('"retries": 1', '"retries": 2', True),
        (', "retries": 1', "", True),
        ("retry_delay=2, ", "", True),
        ('doc_md="Orders"', 'doc_md="All orders"', True),
        ('table="t"', 'table="u"', False),
        ('"owner": "etl"', '"owner": "bi"', False),  # templates have it, for columns of audits
        ("LoadOperator", "load", False),
        ("default_args = ", "defaults = ", False),
    ],
)
def test_settings_of_operators_that_say_nothing_of_data_do_not_count(
    old: str, new: str, is_same: bool
) -> None:
    digests = [syntax_digest({"d.py": t.encode()}) for t in (_DAG, _DAG.replace(old, new))]
    assert (digests[0] == digests[1]) == is_same


@for_each(
    "line",
    [
        "load(default_args['retries'])",
        "default_args.update(a)",
        "load(**default_args)",
        "load(ti.retries)",
    ],
)
def test_settings_that_code_takes_for_values_count(line: str) -> None:
    old, new = _DAG + line, _DAG.replace('"retries": 1', '"retries": 2') + line
    assert syntax_digest({"d.py": old.encode()}) != syntax_digest({"d.py": new.encode()})
