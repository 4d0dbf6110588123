"""Lineage that the last build had, and this one has no more."""

from dbt_graft.exporters.task_metadata import Entity
from dbt_graft.graft.project.published import lost_lineage
from tests.cases import for_each


def entities(names: str) -> list[Entity]:
    return [
        dict(zip(("_database_name", "_schema_name", "_entity_name"), name.split("."), strict=True))
        for name in names.split()
    ]


@for_each(
    "before, now, lost",
    [
        ("Shop.dbo.a", "Shop.dbo.a", []),
        ("Shop.dbo.a", "shop.dbo.A Shop.dbo.b", []),
        ("Shop.dbo.a Shop.dbo.b", "Shop.dbo.a", ["reads Shop.dbo.b no more"]),
        # On two servers, then on one.
        ("Shop.dbo.a Shop.dbo.a", "Shop.dbo.a", ["reads Shop.dbo.a no more"]),
        ("Shop.dbo.a Shop.dbo.a", "Shop.dbo.a Shop.dbo.a", []),
        ("Shop.dbo.a", "Shop.dbo.a Shop.dbo.a", []),
    ],
)
def test_a_dataset_that_a_task_reads_no_more_is_lost(
    before: str, now: str, lost: list[str]
) -> None:
    found = lost_lineage({"load": {"input": entities(before)}}, {"load": {"input": entities(now)}})
    assert [finding.problem for finding in found] == lost
