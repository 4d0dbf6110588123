"""The artifacts of a dbt project of any size, multiplied from those of a small one.

dbt parses a small project whose names are placeholders; each model of the large project is that
text with its own names, so every key, default and built-in macro is the installed dbt's.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

Document = dict[str, Any]

LAYERS, FOLDER, COLUMNS = 6, 50, 15
TYPES = ("bigint", "string", "decimal(12,2)", "timestamp", "boolean")
FIRST, SELF = "m__first__", "m__self__"


def artifacts(models: int) -> tuple[Document, Document]:
    """manifest.json and catalog.json of a project with 3 tests and 15 columns a model.

    Models lie in six layers; each reads two of the layer before, those of the first a source each;
    ten models share a source.
    """
    parsed = _parsed()
    nodes, sources = parsed["nodes"], parsed["sources"]
    manifest: Document = {**parsed, "nodes": {}, "sources": {}}
    catalog: Document = {
        "metadata": {
            **{key: parsed["metadata"][key] for key in ("generated_at", "invocation_id", "env")},
            "dbt_schema_version": "https://schemas.getdbt.com/dbt/catalog/v1.json",
            "dbt_version": parsed["metadata"]["dbt_version"],
        },
        "nodes": {},
        "sources": {},
        "errors": None,
    }
    texts = {
        name: json.dumps(
            {
                "model": _compiled(nodes[f"model.big.{name}"]),
                "tests": [
                    _compiled(node)
                    for node in nodes.values()
                    if node.get("attached_node") == f"model.big.{name}"
                ],
                "entry": _entry(nodes[f"model.big.{name}"], "MANAGED"),
            }
        )
        for name in (FIRST, SELF)
    }
    [source] = sources.values()
    table = json.dumps({"source": source, "entry": _entry(source, "EXTERNAL")})
    for n in range(-(-models // 10)):
        documents = json.loads(table.replace("s__table__", _table(n)))
        _put(manifest["sources"], documents["source"])
        _put(catalog["sources"], documents["entry"])

    draw = random.Random(7)
    size = -(-models // LAYERS)
    for n in range(models):
        layer = n // size
        before = range((layer - 1) * size, layer * size)
        left, right = draw.sample(before, 2) if layer and size > 1 else (0, 0)
        text = (
            texts[SELF if layer else FIRST]
            .replace("m__left__", _model(left))
            .replace("m__right__", _model(right))
            .replace("s__table__", _table(n // 10))
            .replace("area__k__", f"area_{n // FOLDER:03}")
            .replace(SELF if layer else FIRST, _model(n))
        )
        documents = json.loads(text)
        for node in (documents["model"], *documents["tests"]):
            _put(manifest["nodes"], node)
        _put(catalog["nodes"], documents["entry"])
    return {**manifest, **_maps(manifest)}, catalog


def _model(n: int) -> str:
    return f"orders_by_customer_{n:05}"


def _table(n: int) -> str:
    return f"exported_table_{n:05}"


def _put(into: Document, node: Document) -> None:
    into[node["unique_id"]] = node


def _maps(manifest: Document) -> Document:
    nodes = {**manifest["nodes"], **manifest["sources"]}
    parents = {key: node.get("depends_on", {}).get("nodes", []) for key, node in nodes.items()}
    children: dict[str, list[str]] = {key: [] for key in parents}
    for node, ids in parents.items():
        for parent in ids:
            children[parent].append(node)
    return {"parent_map": parents, "child_map": children}


def _compiled(node: Document) -> Document:
    """A node as `dbt docs generate` writes it; parsing alone writes no compiled code."""
    if node["resource_type"] == "test":
        kwargs = node["test_metadata"]["kwargs"]
        code = (
            f"\n    \n    \n\nwith all_values as (\n\n    select\n"
            f"        {kwargs['column_name']} as value_field,\n        count(*) as n_records\n\n"
            f"    from analytics.{node['attached_node'].rpartition('.')[2]}\n"
            f"    group by {kwargs['column_name']}\n\n)\n\nselect *\nfrom all_values\n"
            f"where value_field is null\n\n\n"
        )
    else:
        code = node["raw_code"].replace("{{ ref('", "analytics.").replace("') }}", "")
        code = code.replace("{{ source('raw', '", "raw.")
    return {
        **node,
        "compiled_path": f"target/compiled/big/{node['original_file_path']}",
        "compiled": True,
        "compiled_code": code,
        "extra_ctes_injected": True,
        "extra_ctes": [],
    }


def _entry(node: Document, kind: str) -> Document:
    """The catalog's entry of a node, as dbt-spark writes it."""
    return {
        "metadata": {
            "type": kind,
            "schema": node["schema"],
            "name": node["name"],
            "database": None,
            "comment": None,
            "owner": "data-platform",
        },
        "columns": {
            name: {"type": TYPES[n % len(TYPES)], "index": n, "name": name, "comment": None}
            for n, name in enumerate(node["columns"])
        },
        "stats": {
            "has_stats": {
                "id": "has_stats",
                "label": "Has Stats?",
                "value": True,
                "include": False,
                "description": "Indicates whether there are statistics for this table",
            },
            "bytes": {
                "id": "bytes",
                "label": "bytes",
                "value": 123456,
                "include": True,
                "description": "",
            },
        },
        "unique_id": node["unique_id"],
    }


def _parsed() -> Document:
    """The manifest of the small project."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        _write(project / "dbt_project.yml", {"name": "big", "version": "1.0", "profile": "big"})
        spark = {"type": "spark", "method": "session", "host": "none", "schema": "analytics"}
        _write(project / "profiles.yml", {"big": {"target": "local", "outputs": {"local": spark}}})
        _write(
            project / "models" / "area__k__" / "models.yml",
            {
                "version": 2,
                "sources": [{"name": "raw", "tables": [_documented("s__table__", tests=False)]}],
                "models": [_documented(name) for name in (FIRST, SELF, "m__left__", "m__right__")],
            },
        )
        for name in (FIRST, "m__left__", "m__right__"):
            _sql(project, name, ["{{ source('raw', 's__table__') }}"])
        _sql(project, SELF, ["{{ ref('m__left__') }}", "{{ ref('m__right__') }}"])
        dbt = [sys.executable, "-W", "ignore", "-m", "dbt.cli.main", "--quiet", "parse"]
        subprocess.run(
            [*dbt, "--project-dir", folder, "--profiles-dir", folder], check=True, cwd=folder
        )
        manifest: Document = json.loads((project / "target" / "manifest.json").read_text())
    return manifest


def _documented(name: str, tests: bool = True) -> Document:
    columns: list[Document] = [
        {
            "name": f"column_{n:02}",
            "description": f"Column {n} of this table, as finance counts it at the month's end.",
        }
        for n in range(COLUMNS)
    ]
    if tests:
        columns[0]["data_tests"] = ["not_null", "unique"]
        arguments = {"to": "ref('m__left__')", "field": "column_00"}
        columns[1]["data_tests"] = [
            {"relationships": {"arguments": arguments}}
            if name == SELF
            else {"accepted_values": {"arguments": {"values": ["placed", "paid", "returned"]}}}
        ]
    return {
        "name": name,
        "description": f"All orders of `{name}`, one row for each customer and day. "
        "Cancelled orders are left out; amounts are in euros at the month's rate.",
        "columns": columns,
    }


def _sql(project: Path, name: str, upstream: list[str]) -> None:
    """A model of ordinary length: 15 columns from each of its inputs, joined and grouped."""
    ctes = ",\n\n".join(
        f"input_{n} as (\n    select * from {text}\n)" for n, text in enumerate(upstream)
    )
    columns = ",\n".join(
        f"    coalesce(input_{n % len(upstream)}.column_{n:02}, 0) as column_{n:02}"
        for n in range(COLUMNS)
    )
    joins = "".join(
        f"\nleft join input_{n}\n    on input_0.column_00 = input_{n}.column_00"
        for n in range(1, len(upstream))
    )
    path = project / "models" / "area__k__" / f"{name}.sql"
    path.write_text(f"with {ctes}\n\nselect\n{columns}\nfrom input_0{joins}\n")


def _write(path: Path, document: Document) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(document, sort_keys=False))
