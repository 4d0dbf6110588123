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
    matches = match_contracts([contract(ContractTable(names))], DATASETS)
    assert [str(one) for *_, one in matches.tables] == ([dataset] if dataset else [])
    assert len(matches.unmatched) == (dataset is None)


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
    matches = match_contracts([contract(ContractTable((name,)))], [*DATASETS, LINKED], OTHERS)
    assert [str(one) for *_, one in matches.tables] == ([str(dataset)] if dataset else [])


def test_several_that_it_may_mean_are_told() -> None:
    [table] = match_contracts([contract(ContractTable(("orders",)))], DATASETS).unmatched
    assert [str(candidate) for candidate in table.candidates] == [
        "spark/raw.orders",
        "spark/stage.orders",
    ]


def test_a_contract_is_a_consumer_of_its_tables() -> None:
    tables = (
        ContractTable(("raw.orders",), deadline="08:00"),
        ContractTable(("raw.payments",), deadline="08:00"),
    )
    [consumer] = match_contracts([contract(*tables)], DATASETS).consumers()
    assert (consumer.name, consumer.kind, consumer.owner) == ("orders", "data contract", "Shop")
    assert consumer.reads == (DatasetId("spark", "raw.orders"), DatasetId("spark", "raw.payments"))
    assert consumer.is_critical


def test_a_contract_with_the_name_of_a_task_has_another_one() -> None:
    matches = match_contracts([contract(ContractTable(("raw.orders",)))], DATASETS)
    assert [consumer.name for consumer in matches.consumers({"orders"})] == ["orders (contract)"]


def test_promises_that_differ_are_consumers_of_their_own() -> None:
    tables = (
        ContractTable(("raw.orders",), deadline="08:00"),
        ContractTable(("raw.payments",), freshness_slo="2h"),
    )
    consumers = match_contracts([contract(*tables, version="")], DATASETS).consumers()
    assert [consumer.name for consumer in consumers] == ["orders", "orders (2)"]


def test_versions_of_a_contract_have_names_of_their_own() -> None:
    table = ContractTable(("raw.orders",))
    both = [contract(table, version="1.0"), contract(table, version="2.0")]
    assert [consumer.name for consumer in match_contracts(both, DATASETS).consumers()] == [
        "orders 1.0",
        "orders 2.0",
    ]


def test_a_contract_names_the_columns_that_it_promises_and_no_fields_of_them() -> None:
    columns = (ContractColumn("id"), ContractColumn("items"), ContractColumn("items.price"))
    (consumer,) = match_contracts(
        [contract(ContractTable(("raw.orders",), columns))], DATASETS
    ).consumers()
    assert [name for _, name in consumer.columns] == ["id", "items"]
    assert consumer.names(consumer.reads[0], "ID")
    assert not consumer.names(consumer.reads[0], "price")


@for_each(
    "columns, column, expected",
    [
        (["id"], "ID", True),
        (["id"], "price", False),
        (["id"], "id.part", True),
        (["items", "items.price"], "items.price", True),
        (["items"], "items_", False),
        ([], "price", True),
    ],
)
def test_a_contract_reads_the_columns_that_it_promises_or_any(
    columns: list[str], column: str, expected: bool
) -> None:
    of_table = ContractTable(("raw.orders",), tuple(map(ContractColumn, columns)))
    (consumer,) = match_contracts([contract(of_table)], DATASETS).consumers()
    assert consumer.may_read(consumer.reads[0], column) is expected
