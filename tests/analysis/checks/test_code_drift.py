"""Code that is not what runs: what counts at once, and what after three runs."""

from __future__ import annotations

import pytest

from dbt_graft.analysis.checks.drift import code_drift
from dbt_graft.lineage.code import CodeDifference, CodeMatch, CodePlace, TaskCode
from dbt_graft.lineage.model import Lineage, Task
from dbt_graft.lineage.records import Run
from tests.notation import table

_PLACE = CodePlace("tasks/load.py", 9)
_SEEN = CodeDifference(_PLACE, "runs write total, and this code does not", table("t"), is_seen=True)
_WRITTEN = CodeDifference(_PLACE, "this code writes day, and no run was seen to", table("t"))


@pytest.mark.parametrize(
    ("difference", "runs", "problems"),
    [
        (_SEEN, 1, ["db/t: runs write total, and this code does not"]),
        (_WRITTEN, 1, []),
        (_WRITTEN, 3, ["db/t: this code writes day, and no run was seen to"]),
    ],
)
def test_three_runs_must_not_do_what_the_code_has(
    difference: CodeDifference, runs: int, problems: list[str]
) -> None:
    task = Task("load", runs=tuple(Run(f"load-{n}", "load", "sqlserver") for n in range(runs)))
    match = CodeMatch(TaskCode("tasks/load.py"), differences=(difference,))
    lineage = Lineage(tasks={"load": task}, codes={"load": match})

    findings = list(code_drift(lineage, {"load": "Sales"}))

    assert [finding.problem for finding in findings] == problems
    assert {(f.subject, f.owner, f.place) for f in findings} <= {
        ("load", "Sales", "tasks/load.py:9")
    }
