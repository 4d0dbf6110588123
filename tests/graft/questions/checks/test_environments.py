"""A task that writes the same names in several places is said to mix environments."""

from __future__ import annotations

from dbt_graft.graft.questions.checks.environments import find_mixed_environments
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.names import NameRule, NameRules
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Evidence, Records
from tests.cases import for_each

DEV, PROD = DatasetId("mssql://dev:1433", "Shop.dbo.T"), DatasetId("mssql://prod", "shop.dbo.t")
OTHER = DatasetId("mssql://dev:1433", "Shop.dbo.u")
ONE_NAME = NameRules([NameRule("mssql://dev:1433/Shop.dbo.T", "mssql://prod/shop.dbo.t")])


def write(
    dataset: DatasetId,
    task: str = "load",
    direction: Direction = Direction.WRITE,
    evidence: Evidence = Evidence.OBSERVED,
    kind: Kind = Kind.TABLE,
) -> Access:
    operation = Operation.INSERT
    return Access(task, "r", dataset, kind, direction, operation, "s", evidence=evidence)


@for_each(
    "case, accesses, rules, accept, subjects",
    [
        ("two places", [write(DEV), write(PROD)], NameRules([]), (), ["load"]),
        ("two names", [write(OTHER), write(PROD)], NameRules([]), (), []),
        ("two tasks", [write(DEV), write(PROD, "other")], NameRules([]), (), []),
        ("a copy", [write(DEV, direction=Direction.READ), write(PROD)], NameRules([]), (), []),
        (
            "declared",
            [write(DEV, evidence=Evidence.DECLARED), write(PROD)],
            *(NameRules([]), (), []),
        ),
        (
            "temporary",
            [write(DEV, kind=Kind.TEMPORARY), write(PROD, kind=Kind.TEMPORARY)],
            *(NameRules([]), (), []),
        ),
        ("one by a rule", [write(DEV), write(PROD)], ONE_NAME, (), []),
        ("accepted", [write(DEV), write(PROD)], NameRules([]), ("lo*",), []),
    ],
)
def test_a_task_mixes_environments(
    case: str,
    accesses: list[Access],
    rules: NameRules,
    accept: tuple[str, ...],
    subjects: list[str],
) -> None:
    findings = [*find_mixed_environments(Records(accesses=tuple(accesses)), rules, accept)]
    assert [finding.subject for finding in findings] == subjects, case


def test_the_names_and_places_are_said() -> None:
    records = Records(accesses=(write(DEV), write(PROD)))
    (finding,) = find_mixed_environments(records, NameRules([]), ())
    assert finding.problem.startswith("writes shop.dbo.t in each of mssql://dev:1433, mssql://prod")
