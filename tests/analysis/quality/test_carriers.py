"""A table has the data of its parent if it was written later; a view has it always."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from dbt_graft.analysis.history.data_age import WriteHistory
from dbt_graft.analysis.quality.carriers import has_data_of
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Dataset
from tests.cases import for_each

# raw -> view -> view2 -> mart -> report, each with the hour of its last write.
PARENTS = {"view": "raw", "view2": "view", "mart": "view2", "report": "mart"}


def has_data(parent: str, child: str, **hours: int) -> bool:
    midnight = datetime(2026, 11, 1, tzinfo=UTC)
    times = {
        DatasetId("spark", name): [midnight + timedelta(hours=at)] for name, at in hours.items()
    }
    parents = {DatasetId("spark", one): [DatasetId("spark", of)] for one, of in PARENTS.items()}
    facts = {}
    for name in ("raw", *PARENTS):
        one = DatasetId("spark", name)
        facts[one] = Dataset(one, Kind.VIEW if name.startswith("view") else Kind.TABLE)
    history = WriteHistory(times, lambda dataset: parents.get(dataset, []))
    has = has_data_of(Lineage(datasets=facts), history)
    return has(DatasetId("spark", parent), DatasetId("spark", child))


@for_each(
    "parent, child, hours, expected",
    [
        ("mart", "report", {"mart": 4, "report": 5}, True),
        ("mart", "report", {"mart": 5, "report": 4}, False),
        ("mart", "report", {"mart": 5}, True),
        ("mart", "report", {}, True),
        # The view was made before; what it shows was written since.
        ("view2", "mart", {"raw": 5, "view": 1, "view2": 1, "mart": 4}, False),
        ("view2", "mart", {"raw": 3, "view": 1, "view2": 9, "mart": 4}, True),
        ("view2", "mart", {"view2": 9, "mart": 4}, False),
        ("view", "view2", {"raw": 9, "view": 9, "view2": 1}, True),
    ],
)
def test_it_has_what_its_parent_was_written_with(
    parent: str, child: str, hours: dict[str, int], *, expected: bool
) -> None:
    assert has_data(parent, child, **hours) is expected
