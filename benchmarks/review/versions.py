"""Two versions of a dbt project of many models, as artifacts: one model has another filter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

_COLUMNS = [f"column_{number}" for number in range(12)]
_LAYERS = 10
_SCHEMAS = "https://schemas.getdbt.com/dbt"


def write_version(folder: Path, models: int, *, schema: str, changed: int | None = None) -> None:
    """Write manifest.json and catalog.json.

    Args:
        schema: Of the target that they are compiled for.
        changed: The number of the model that has another filter.
    """
    folder.mkdir(parents=True, exist_ok=True)
    nodes: dict[str, Any] = {}
    for number in range(models):
        key = f"model.shop.m{number}"
        nodes[key] = _model(number, schema, is_changed=number == changed)
        nodes[f"test.shop.not_null_{number}"] = _test(number)
    sources = {f"source.shop.raw.s{at}": _source(at) for at in range(models // _LAYERS + 1)}
    metadata = {"dbt_version": "1.11.0", "generated_at": "2026-10-01T00:00:00Z"}
    manifest = {
        "metadata": {
            **metadata,
            "adapter_type": "postgres",
            "project_name": "shop",
            "dbt_schema_version": f"{_SCHEMAS}/manifest/v12.json",
        },
        "nodes": nodes,
        "sources": sources,
        "macros": {f"macro.dbt.m{at}": _macro(at) for at in range(900)},
    }
    listed = {
        key: {
            "unique_id": key,
            "metadata": {"type": "table", "schema": schema, "name": node["name"]},
            "columns": {
                name: {"name": name, "type": "integer", "index": at}
                for at, name in enumerate(["id", *_COLUMNS])
            },
            "stats": {},
        }
        for key, node in nodes.items()
        if key.startswith("model.")
    }
    catalog = {
        "metadata": {**metadata, "dbt_schema_version": f"{_SCHEMAS}/catalog/v1.json"},
        "nodes": listed,
        "sources": {},
    }
    (folder / "manifest.json").write_bytes(orjson.dumps(manifest))
    (folder / "catalog.json").write_bytes(orjson.dumps(catalog))


def _model(number: int, schema: str, *, is_changed: bool) -> dict[str, Any]:
    layer, limit = number % _LAYERS, 11 if is_changed else 10
    parents = [f"model.shop.m{at}" for at in {number - 1, max(number - 2, number - layer)}]
    if not layer:
        parents = [f"source.shop.raw.s{number // _LAYERS}"]
    relations = [
        f"db.raw.{key.rpartition('.')[2]}" if "raw" in key else f"db.{schema}.{key[11:]}"
        for key in parents
    ]
    values = ",\n  ".join(
        f"case when a.{name} > {at} then coalesce(a.{name}, 0) else 0 end as {name}"
        for at, name in enumerate(_COLUMNS)
    )
    sql = (
        f"with a as (\n  select * from {relations[0]}\n),\n"
        f"b as (\n  select id, column_1 from {relations[-1]} where column_2 in (1, 2, 3)\n)\n"
        f"select a.id,\n  {values}\nfrom a left join b on a.id = b.id\n"
        f"where a.column_1 > {limit} and b.column_1 is not null\n"
    )
    name = f"m{number}"
    return {
        **_node(f"model.shop.{name}", "model", name, f"db.{schema}.{name}", schema),
        "compiled_code": sql,
        "raw_code": sql.replace(f"db.{schema}.", "ref_"),
        "config": {"materialized": "table"},
        "unrendered_config": {"materialized": "table"},
        "depends_on": {"nodes": parents, "macros": ["macro.dbt.m1"]},
        "columns": {name: {"name": name, "description": "a number"} for name in _COLUMNS},
        "original_file_path": f"models/{name}.sql",
    }


def _test(number: int) -> dict[str, Any]:
    name, model = f"not_null_{number}", f"model.shop.m{number}"
    return {
        **_node(f"test.shop.{name}", "test", name, f"db.tests.{name}", "tests"),
        "column_name": "id",
        "attached_node": model,
        "test_metadata": {"name": "not_null", "kwargs": {"column_name": "id"}},
        "depends_on": {"nodes": [model], "macros": ["macro.dbt.m2"]},
        "config": {"severity": "ERROR"},
    }


def _source(number: int) -> dict[str, Any]:
    name = f"s{number}"
    source = _node(f"source.shop.raw.{name}", "source", name, f"db.raw.{name}", "raw")
    return {**source, "identifier": name, "source_name": "raw", "config": {}}


def _node(key: str, kind: str, name: str, relation: str, schema: str) -> dict[str, Any]:
    return {
        "unique_id": key,
        "resource_type": kind,
        "name": name,
        "alias": name,
        "database": "db",
        "schema": schema,
        "relation_name": relation,
        "package_name": "shop",
        "fqn": ["shop", name],
    }


def _macro(number: int) -> dict[str, Any]:
    return {
        "unique_id": f"macro.dbt.m{number}",
        "name": f"m{number}",
        "package_name": "dbt",
        "macro_sql": f"{{% macro m{number}() %}} select {number} {{% endmacro %}}" * 10,
        "depends_on": {"macros": []},
    }
