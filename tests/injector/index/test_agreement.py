"""dbt's own column lineage compared with ours."""

from __future__ import annotations

from pathlib import Path

from dbt_graft.injector.index.agreement import index_agreement
from dbt_graft.injector.index.tables import read_index
from dbt_graft.lineage.records import ColumnEdge
from tests.injector.conftest import Project
from tests.injector.index.index_of_dbt import write_index
from tests.injector.index.test_graft import LANDED, ORDERS, edge

NODES = {LANDED: "source.shop.land.orders", ORDERS: "model.shop.orders"}


def row(source: str, target: str, kind: str = "copy") -> dict[str, str]:
    return {
        "from_node_unique_id": NODES[LANDED],
        "from_column_name": source,
        "to_node_unique_id": NODES[ORDERS],
        "to_column_name": target,
        "lineage_kind": kind,
    }


def test_columns_of_which_both_know_the_origin_are_compared(
    project: Project, tmp_path: Path
) -> None:
    rows = [
        *(row("ID", "id"), row("price", "AMOUNT", "mod"), row("tax", "amount", "mod")),
        *(row("state", "amount", "scan"), row("note", "only_dbt")),
    ]
    write_index(tmp_path, project.manifest, project.catalog, dbt__column_lineage=rows)
    index = read_index(tmp_path)
    assert index
    ours: list[ColumnEdge] = [edge("id", "id"), edge("price", "amount"), edge("x", "only_ours")]
    compared = index_agreement(index, {NODES[ORDERS]: ours}, NODES)
    assert compared.same == 1
    assert compared.differences == (
        "model.shop.orders.amount: source.shop.land.orders.price, source.shop.land.orders.tax "
        "by dbt, source.shop.land.orders.price by us",
    )
    unknown = {NODES[ORDERS]: [*ours, edge("*", "*")]}
    assert index_agreement(index, unknown, NODES).same == 0
