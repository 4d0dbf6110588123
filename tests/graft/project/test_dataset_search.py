"""A search finds what a look at each name finds, on random names."""

from __future__ import annotations

from random import Random

import pytest

from dbt_graft.graft.project.dataset_search import DatasetSearch
from dbt_graft.graft.project.named_datasets import datasets_named
from dbt_graft.lineage.dataset import DatasetId
from tests.cases import for_each

NAMESPACES = ("spark", "file", "s3://Bucket", "mssql://crm:1433")
PARTS = ("orders", "Orders", "raw", "dm", "#t~2", "a.b", "ÜBER", "o", "x y")


def dataset(random: Random) -> DatasetId:
    separator = random.choice("./")
    name = separator.join(random.choices(PARTS, k=random.randint(1, 3)))
    return DatasetId(random.choice(NAMESPACES), name)


@pytest.mark.parametrize("count", [1, 5, 30, 1000])
@for_each("seed", range(20), quick=5)
def test_the_datasets_of_a_name(seed: int, count: int) -> None:
    random = Random(seed)  # noqa: S311
    datasets = list(dict.fromkeys(dataset(random) for _ in range(count)))
    former = {datasets[0]: [dataset(random) for _ in range(3)]}
    search = DatasetSearch.for_datasets(datasets, former)
    names = {one: one for one in datasets}
    names |= {old: new for new, some in former.items() for old in some}
    for _ in range(30):
        one = random.choice([*names, dataset(random)])
        for name in (str(one), one.name, one.short, one.parts[-1].upper(), one.name[1:], "", "."):
            assert search.named(name) == datasets_named(name, names)
