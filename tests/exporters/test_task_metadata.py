"""Task metadata in the shape the method is known by."""

from dataclasses import replace

from dbt_graft.exporters.task_metadata import task_metadata
from dbt_graft.lineage.building.build import build
from dbt_graft.lineage.dataset import Kind, parse_dataset_id
from dbt_graft.lineage.definition import Definition, DefinitionKind
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import Direction, Records, Run
from tests.notation import access

READ, WRITE = Direction.READ, Direction.WRITE


def lineage(*used: tuple[str, Direction, str, Kind]) -> Lineage:
    accesses = tuple(
        access("INSERT", parse_dataset_id(name), task=task, direction=direction, kind=kind)
        for task, direction, name, kind in used
    )
    runs = tuple(Run(f"{task}-1", task, "sqlserver") for task in {use[0] for use in used})
    return build(Records(accesses=accesses, runs=runs))


def test_each_task_lists_its_inputs_and_outputs() -> None:
    entities = task_metadata(
        lineage(
            ("task1", READ, "mssql://s:1433/db.dbo.table_a", Kind.TABLE),
            ("task1", READ, "mssql://s:1433/db.dbo.view_b", Kind.VIEW),
            ("task1", WRITE, "mssql://s:1433/db.dbo.table_c", Kind.TABLE),
        )
    )
    common = {"_database_name": "db", "_schema_name": "dbo"}
    table_a = {"_entity_name": "table_a", "_entity_type": "BASE TABLE", "_generated_by": None}
    view_b = {"_entity_name": "view_b", "_entity_type": "VIEW", "_generated_by": None}
    table_c = {"_entity_name": "table_c", "_entity_type": "BASE TABLE"}
    assert entities == {
        "task1": {
            "input": [table_a | common, view_b | common],
            "output": [table_c | common | {"_generated_by": "python_task"}],
        }
    }


def test_an_input_names_its_generating_task_and_dbt_models_are_no_tasks() -> None:
    seen = lineage(
        ("score", READ, "spark/analytics.orders", Kind.TABLE),
        ("score", READ, "file//landing/x", Kind.PATH),
        ("score", WRITE, "spark/ml.scores", Kind.TABLE),
    )
    orders_id = parse_dataset_id("spark/analytics.orders")
    model = Definition("model.shop.orders", DefinitionKind.DBT, orders_id)
    entities = task_metadata(replace(seen, definitions={model.name: model}))
    assert list(entities) == ["score"]
    path, orders = entities["score"]["input"]
    assert orders["_generated_by"] == "dbt"
    assert (orders["_database_name"], orders["_schema_name"]) == (None, "analytics")
    assert (path["_entity_name"], path["_entity_type"]) == ("/landing/x", "PATH")


def test_a_view_is_no_task_and_generates_what_nobody_else_does() -> None:
    seen = lineage(
        ("make", WRITE, "mssql://s:1433/db.dbo.w", Kind.VIEW),
        ("score", READ, "mssql://s:1433/db.dbo.v", Kind.VIEW),
        ("score", READ, "mssql://s:1433/db.dbo.w", Kind.VIEW),
    )
    views = {
        name: Definition(name, DefinitionKind.VIEW, parse_dataset_id(f"mssql://s:1433/{name}"))
        for name in ("db.dbo.v", "db.dbo.w")
    }
    entities = task_metadata(replace(seen, definitions=views))
    assert list(entities) == ["make", "score"]
    assert [entity["_generated_by"] for entity in entities["score"]["input"]] == [
        "view",
        "python_task",
    ]
