"""NodeNames of added nodes: short, plain and never taken."""

from __future__ import annotations

from dbt_graft.injector.naming import NodeNames
from dbt_graft.lineage.dataset import parse_dataset_id
from tests.cases import for_each


@for_each(
    "taken, dataset, name",
    [
        ((), "spark/raw.orders", "raw_orders"),
        ((), "mssql://sql01:1433/Crm.dbo.Orders", "dbo_Orders"),
        (("DBO_orders",), "mssql://sql01:1433/Crm.dbo.Orders", "Crm_dbo_Orders"),
        (
            ("dbo_orders", "crm_dbo_orders"),
            "mssql://sql01:1433/Crm.dbo.Orders",
            "mssql_sql01_1433_Crm_dbo_Orders",
        ),
        ((), "file//data/landing/2026 orders.csv", "landing_2026_orders_csv"),
        ((), "spark/сырые.заказы", "сырые_заказы"),
    ],
)
def test_a_name_grows_until_it_is_free(taken: tuple[str, ...], dataset: str, name: str) -> None:
    assert NodeNames(taken).claim(parse_dataset_id(dataset)) == name


def test_names_of_look_alikes_differ_by_a_digest() -> None:
    names = NodeNames(())

    found = [names.claim(parse_dataset_id(f"spark/raw.a{mark}b")) for mark in "-+ !"]

    assert found[:2] == ["raw_a_b", "spark_raw_a_b"]
    assert len(set(found)) == 4
    assert all(name.isidentifier() for name in found)


def test_no_name_is_a_key_of_every_javascript_object() -> None:
    assert NodeNames(()).claim_task("constructor") == "constructor_"


def test_a_name_of_marks_only_is_its_digest() -> None:
    name = NodeNames(()).claim_task("!!!")

    assert len(name) == 8
