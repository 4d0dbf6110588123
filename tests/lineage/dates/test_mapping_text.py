"""Partition mappings in words."""

from __future__ import annotations

import pytest

from dbt_graft.lineage.dates.mapping_text import mapping_text
from dbt_graft.lineage.dates.partition_mapping import PartitionMapping
from dbt_graft.lineage.dates.period import Grain

HOUR, DAY, MONTH = Grain.HOUR, Grain.DAY, Grain.MONTH


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        (PartitionMapping(), "all dates"),
        (PartitionMapping(DAY, 0, 0), "the same day"),
        (PartitionMapping(DAY, 0, 0, DAY), "the same day"),
        (PartitionMapping(MONTH, 0, 0, DAY), "all of the same month"),
        (PartitionMapping(DAY, -1, -1), "the day before"),
        (PartitionMapping(DAY, -6, 0), "from 6 days before up to the same day"),
        (PartitionMapping(DAY, -1, 1), "from the day before up to the day after"),
        (PartitionMapping(DAY, None, 0), "up to the same day"),
        (PartitionMapping(DAY, 0, None), "from the same day on"),
        (
            PartitionMapping(DAY, 0, 0, DAY, units=(MONTH, DAY)),
            "from the beginning of its month up to the same day",
        ),
        (
            PartitionMapping(DAY, -2, -2, HOUR, units=(HOUR, HOUR)),
            "from 2 hours before the day begins up to 2 hours before the day ends",
        ),
        (
            PartitionMapping(DAY, 0, 1, HOUR, units=(HOUR, HOUR)),
            "from when the day begins up to 1 hour after the day ends",
        ),
    ],
)
def test_a_mapping_reads_as_people_say_it(mapping: PartitionMapping, words: str) -> None:
    assert mapping_text(mapping) == words
