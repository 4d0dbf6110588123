"""Contracts mean the dataset with the most exact of their names, in any case."""

from __future__ import annotations

from dbt_graft.analysis.checks.contracts import (
    ContractColumn,
    ContractTable,
    DataContract,
    match_contracts,
)
from dbt_graft.lineage.dataset import DatasetId, parse_dataset_id
from tests.cases import for_each

DATASETS = [
    parse_dataset_id(one)
    for one in (
        "spark/raw.orders",
        "spark/stage.orders",
        "mssql://sql01:1433/ShopDW.dbo.Customers",
        "spark/raw.payments",
    )
]


def contract(*tables: ContractTable, name: str = "orders", version: str = "1") -> DataContract:
    return DataContract(f"id-{version}", name, "orders.yaml", version, "Shop", tables=tables)


@for_each(
    "names, dataset",
    [
        (("raw.orders",), "spark/raw.orders"),
        (("main.raw.orders", "raw.orders", "orders"), "spark/raw.orders"),
        (("SHOPDW.DBO.CUSTOMERS",), "mssql://sql01:1433/ShopDW.dbo.Customers"),
        (("customers",), "mssql://sql01:1433/ShopDW.dbo.Customers"),
        (("orders",), None),  # two have this name
        (("ders",), None),
        (("unknown",), None),
    ],
)
def test_the_dataset_of_a_table(names: tuple[str, ...], dataset: str | None) -> None:
    found = match_contracts([contract(ContractTable(names))], DATASETS)
    assert [str(one) for *_, one in found.tables] == ([dataset] if dataset else [])
    assert len(found.unmatched) == (dataset is None)


LINKED = parse_dataset_id("spark/raw.linked")
OTHERS = {
    parse_dataset_id("s3://lake/raw/linked"): LINKED,
    parse_dataset_id("spark/old.linked_v1"): LINKED,
    parse_dataset_id("spark/old.orders"): LINKED,  # others have this name as their own
}


@for_each(
    "name, dataset",
    [
        ("s3a://lake/raw/linked/", "spark/raw.linked"),
        ("LINKED_V1", "spark/raw.linked"),
        ("old.orders", "spark/raw.linked"),
        ("mssql://SQL01:1433/ShopDW.dbo.customers", DATASETS[2]),
        ("orders", None),
    ],
)
def test_other_names_of_a_dataset_mean_it(name: str, dataset: object) -> None:
    found = match_contracts([contract(ContractTable((name,)))], [*DATASETS, LINKED], OTHERS)
    assert [str(one) for *_, one in found.tables] == ([str(dataset)] if dataset else [])


def test_several_that_it_may_mean_are_told() -> None:
    [table] = match_contracts([contract(ContractTable(("orders",)))], DATASETS).unmatched
    assert [str(one) for one in table.candidates] == ["spark/raw.orders", "spark/stage.orders"]


def test_a_contract_is_a_consumer_of_its_tables() -> None:
    tables = (
        ContractTable(("raw.orders",), deadline="08:00"),
        ContractTable(("raw.payments",), deadline="08:00"),
    )
    [found] = match_contracts([contract(*tables)], DATASETS).consumers()
    assert (found.name, found.kind, found.owner) == ("orders", "data contract", "Shop")
    assert found.reads == (DatasetId("spark", "raw.orders"), DatasetId("spark", "raw.payments"))
    assert found.is_critical


def test_a_contract_with_the_name_of_a_task_has_another_one() -> None:
    found = match_contracts([contract(ContractTable(("raw.orders",)))], DATASETS)
    assert [one.name for one in found.consumers({"orders"})] == ["orders (contract)"]


def test_promises_that_differ_are_consumers_of_their_own() -> None:
    tables = (
        ContractTable(("raw.orders",), deadline="08:00"),
        ContractTable(("raw.payments",), freshness_slo="2h"),
    )
    found = match_contracts([contract(*tables, version="")], DATASETS).consumers()
    assert [one.name for one in found] == ["orders", "orders (2)"]


def test_versions_of_a_contract_have_names_of_their_own() -> None:
    table = ContractTable(("raw.orders",))
    both = [contract(table, version="1.0"), contract(table, version="2.0")]
    assert [one.name for one in match_contracts(both, DATASETS).consumers()] == [
        "orders 1.0",
        "orders 2.0",
    ]


def test_a_contract_names_the_columns_that_it_promises_and_no_fields_of_them() -> None:
    columns = (ContractColumn("id"), ContractColumn("items"), ContractColumn("items.price"))
    (found,) = match_contracts(
        [contract(ContractTable(("raw.orders",), columns))], DATASETS
    ).consumers()
    assert [name for _, name in found.columns] == ["id", "items"]
    assert found.names(found.reads[0], "ID")
    assert not found.names(found.reads[0], "price")
