"""The order that lineage demands of tasks and of dbt's nodes."""

from __future__ import annotations

from dataclasses import replace

from dbt_graft.exporters.dag_factory.order import DemandedOrder, demanded_order
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.describe import Description, Role
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Records, Run, Status

READ, WRITE = Direction.READ, Direction.WRITE


def dataset(name: str) -> DatasetId:
    return DatasetId("spark", name)


def lineage(*used: tuple[str, Direction, str], failed: str = "") -> Lineage:
    accesses = tuple(
        Access(
            *(task, f"{task}-1", dataset(name), Kind.TABLE, direction, Operation.INSERT, "shape"),
            status=Status.FAILED if name == failed else Status.OK,
        )
        for task, direction, name in used
    )
    runs = tuple(Run(f"{task}-1", task, "spark") for task in {one[0] for one in used})
    return build(Records(accesses=accesses, runs=runs))


def edges(order: DemandedOrder) -> dict[tuple[str, str], list[str]]:
    return {edge: [one.name for one in found] for edge, found in order.edges.items()}


def test_who_writes_a_dataset_comes_before_those_who_read_it() -> None:
    order = demanded_order(
        lineage(
            ("load", WRITE, "raw.orders"),
            ("clean", READ, "raw.orders"),
            ("clean", WRITE, "raw.clean"),
            ("report", READ, "raw.clean"),
            ("report", READ, "raw.orders"),
        )
    )
    assert edges(order) == {
        ("load", "clean"): ["raw.orders"],
        ("load", "report"): ["raw.orders"],
        ("clean", "report"): ["raw.clean"],
    }


def test_a_task_does_not_wait_for_itself_nor_for_a_write_that_failed() -> None:
    used = (("load", WRITE, "a"), ("load", READ, "a"), ("load", WRITE, "b"), ("use", READ, "b"))
    assert edges(demanded_order(lineage(*used, failed="b"))) == {}


def test_a_view_is_seen_through_to_those_who_write_its_tables() -> None:
    seen = lineage(("load", WRITE, "t"), ("report", READ, "v2"))
    views = [
        Definition("v1", DefinitionKind.VIEW, dataset("v1"), (dataset("t"),)),
        Definition("v2", DefinitionKind.VIEW, dataset("v2"), (dataset("v1"), dataset("v2"))),
    ]
    seen = replace(seen, definitions={one.name: one for one in views})
    order = demanded_order(seen)
    assert edges(order) == {("load", "report"): ["t"]}
    assert set(order.nodes) == {"load", "report"}


def test_dbt_nodes_have_the_name_that_selects_them_and_dbt_s_tags_and_owner() -> None:
    model = Definition(
        "model.shop.orders.v2", DefinitionKind.DBT, dataset("orders"), (dataset("raw"),)
    )
    seen = replace(lineage(("load", WRITE, "raw")), definitions={model.name: model})
    described = Description(
        dataset("orders"), model.name, "orders", Role.MODEL, owner="sales", tags=("daily",)
    )
    order = demanded_order(seen, {dataset("orders"): described})
    node = order.nodes[model.name]
    assert (node.label, node.resource, node.engines) == ("orders.v2", "model", ("dbt",))
    assert (node.info.owner, node.info.tags) == ("sales", ("daily",))
    assert edges(order) == {("load", model.name): ["raw"]}
