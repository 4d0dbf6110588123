"""Datasets of records get other names, and go, wherever the types of fields have them."""

from __future__ import annotations

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.names import DatasetNames
from dbt_graft.lineage.renaming import dataset_ids, drop_datasets, map_datasets, spelling
from tests.lineage.samples import Samples

ORDERS, LOUD = DatasetId("spark", "orders"), DatasetId("spark", "ORDERS")


def test_each_dataset_of_each_field_is_renamed_but_for_names_as_logs_spell_them() -> None:
    samples = Samples()
    lineage: Lineage = samples.make(Lineage)
    renamed = map_datasets(lineage, lambda one: DatasetId("new", one.name))
    assert {*dataset_ids(lineage)} == {*samples.datasets, *samples.logged}
    assert {*dataset_ids(renamed)} == {
        *(DatasetId("new", dataset.name) for dataset in samples.datasets),
        *samples.logged,
    }


def test_what_keeps_its_names_is_the_same_object() -> None:
    lineage: Lineage = Samples().make(Lineage)
    assert map_datasets(lineage, lambda one: DatasetId(one.namespace, one.name)) is lineage


def test_no_dataset_is_left_in_any_field_when_all_are_dropped() -> None:
    samples = Samples()
    lineage: Lineage = samples.make(Lineage)
    rest = drop_datasets(lineage, {*samples.datasets, *samples.logged})
    assert not dataset_ids(rest)
    assert rest.shapes == lineage.shapes


def test_an_item_without_its_dataset_goes_and_the_others_stay() -> None:
    former = {ORDERS: (DatasetId("spark", "a"), DatasetId("spark", "b"))}
    rest = drop_datasets(DatasetNames(former=former), {DatasetId("spark", "a")})
    assert rest == DatasetNames(former={ORDERS: (DatasetId("spark", "b"),)})


def test_the_first_spelling_counts() -> None:
    spelled = spelling([LOUD])
    assert (spelled(ORDERS).name, spelled(DatasetId("spark", "B")).name) == ("ORDERS", "B")
    assert spelled(DatasetId("spark", "b")).name == "B"
