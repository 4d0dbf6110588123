"""Values of our own types come back from their bytes as they were."""

from __future__ import annotations

from dataclasses import replace

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.own_values import dump_values, load_values
from dbt_graft.lineage.records import Records
from tests.notation import access

MANY = [access("INSERT", DatasetId("db", f"t{number}"), rows=number) for number in range(2000)]
CHANGED = [replace(each, rows=None) if (each.rows or 0) % 100 == 0 else each for each in MANY]


def test_records_of_two_tuples_are_written_once_and_read_in_both() -> None:
    pair = Records(accesses=tuple(MANY)), Records(accesses=tuple(CHANGED))
    content = dump_values(pair)
    assert load_values(content) == pair
    assert len(content) < 1.1 * len(dump_values(pair[0]))


def test_tuples_of_one_length_with_other_records_stay_apart() -> None:
    pair = Records(accesses=tuple(MANY)), Records(accesses=tuple(map(replace, MANY[::-1])))
    assert load_values(dump_values(pair)) == pair
