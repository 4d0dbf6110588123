"""All that the docs page of dbt 2 is answered about grafts onto indexes that others wrote."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.cases import for_each
from tests.collectors.openlineage.events import event, written
from tests.dbt2.project import graft, output
from tests.injector.index.index_of_dbt import ask

SAMPLES = Path(__file__).parents[3] / "shared/samples/dbt-v2"
pytestmark = pytest.mark.skipif(
    not SAMPLES.exists(), reason="the samples of dbt 2 are not beside the repository"
)
CUSTOMERS, SEGMENTS = "model.shop.customers", "model.shop.customer_segments"
RAW, SCORES = "model.python_tasks.raw_orders", "model.python_tasks.ml_customer_scores"
FEED, LANDED = "sftp://shop orders.csv", "spark raw.orders"
MART, SCORED = "spark analytics.customers", "spark ml.customer_scores"
CONFIG = """\
collect: [{openlineage: {path: events.jsonl}}]
tasks: {score_customers: {owner: Data science, schedule: "0 6 * * *"}}
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's index, grafted: a task lands its orders, another scores its customers."""
    folder = tmp_path_factory.mktemp("demo")
    shutil.copytree(SAMPLES / "demo", folder / "target/index")
    packed = folder / "target/index/manifest.json.gz"
    (folder / "target/manifest.json").write_bytes(gzip.decompress(packed.read_bytes()))
    landed = output(LANDED, unit_price=(FEED, "price", "IDENTITY"))
    scored = output(
        SCORED,
        45,
        customer_id=(MART, "customer_id", "IDENTITY"),
        value_score=(MART, "lifetime_value_eur", "TRANSFORMATION"),
    )
    written(
        folder / "events.jsonl",
        event("START", "land_orders", 1, at="2026-11-26T03:00:00Z"),
        event(job="land_orders", run=1, at="2026-11-26T03:05:00Z", inputs=[FEED], outputs=[landed]),
        event("START", "score_customers", 2, at="2026-11-26T06:00:00Z"),
        event(
            job="score_customers",
            run=2,
            at="2026-11-26T06:01:00Z",
            inputs=[MART],
            outputs=[scored],
        ),
    )
    (folder / "graft.yml").write_text(CONFIG)
    for command in ("collect", "inject"):
        done = graft(folder, command)
        assert done.returncode == 0, done.stderr
    return folder / ".graft/artifacts/index"


# Question -> answer.
ANSWERS = {
    # The counts of the start page.
    "SELECT resource_type, count(*) FROM dbt.nodes GROUP BY ALL ORDER BY ALL": [
        ("model", 12),
        ("seed", 1),
        ("source", 6),
        ("test", 45),
    ],
    # The page of a node, and its group.
    "SELECT resource_type, n.package_name, node_language, schema_name, group_name = g.name, "
    f"n.description LIKE '%Data science%' FROM dbt.nodes n JOIN dbt.groups g "
    f"ON g.name = group_name AND g.package_name = n.package_name WHERE n.unique_id = '{SCORES}'": [
        ("model", "python_tasks", "python", "ml", True, True)
    ],
    # Its edges, in both directions.
    f"SELECT parent_unique_id FROM dbt.edges WHERE child_unique_id = '{SEGMENTS}' ORDER BY 1": [
        (SCORES,),
        (CUSTOMERS,),
    ],
    "SELECT unique_id FROM dbt.edges JOIN dbt.nodes ON unique_id = child_unique_id "
    f"WHERE parent_unique_id = '{CUSTOMERS}' AND resource_type = 'model' ORDER BY 1": [
        (SCORES,),
        (SEGMENTS,),
    ],
    # The lineage three steps up.
    "WITH RECURSIVE up AS (SELECT parent_unique_id AS id, 1 AS depth FROM dbt.edges "
    f"WHERE child_unique_id = '{SEGMENTS}' UNION SELECT parent_unique_id, depth + 1 FROM up "
    "JOIN dbt.edges ON child_unique_id = id WHERE depth < 3) "
    "SELECT name, min(depth) FROM up JOIN dbt.nodes ON unique_id = id "
    "WHERE resource_type = 'model' GROUP BY name ORDER BY 2, 1": [
        ("customers", 1),
        ("ml_customer_scores", 1),
        ("orders", 2),
        ("stg_customers", 2),
        ("stg_exchange_rates", 3),
        ("stg_orders", 3),
        ("stg_payments", 3),
    ],
    # A column, from the last mart to what was landed.
    "WITH RECURSIVE up AS (SELECT from_node_unique_id AS id, from_column_name AS col, "
    "lineage_kind AS kind, 1 AS depth FROM dbt.column_lineage "
    f"WHERE to_node_unique_id = '{SEGMENTS}' AND to_column_name = 'value_score' "
    "UNION SELECT from_node_unique_id, from_column_name, lineage_kind, depth + 1 FROM up "
    "JOIN dbt.column_lineage ON to_node_unique_id = id AND to_column_name = col "
    "WHERE kind <> 'scan' AND lineage_kind <> 'scan') "
    "SELECT depth, name, col, kind FROM up JOIN dbt.nodes ON unique_id = id "
    "WHERE kind <> 'scan' ORDER BY ALL": [
        (1, "ml_customer_scores", "value_score", "copy"),
        (2, "customers", "lifetime_value_eur", "mod"),
        (3, "orders", "order_amount_eur", "mod"),
        (4, "stg_exchange_rates", "rate_to_eur", "mod"),
        (4, "stg_orders", "order_amount", "mod"),
        (5, "exchange_rates", "rate_to_eur", "copy"),
        (5, "raw_orders", "quantity", "mod"),
        (5, "raw_orders", "unit_price", "mod"),
        (6, "orders_csv", "price", "copy"),
    ],
    # What decides on its rows.
    "SELECT from_node_unique_id, from_column_name FROM dbt.column_lineage "
    f"WHERE to_node_unique_id = '{SEGMENTS}' AND to_column_name = 'country' "
    "AND lineage_kind = 'scan' ORDER BY ALL": [(SCORES, "customer_id"), (CUSTOMERS, "customer_id")],
    # Its columns, with what YAML says of them.
    "SELECT column_name, description FROM dbt.node_columns "
    f"WHERE unique_id = '{SCORES}' AND column_name = 'model_version'": [
        ("model_version", "The scoring rules that made the row.")
    ],
    # Search by a tag, and by a column.
    "SELECT name FROM dbt.nodes WHERE list_contains(tags, 'python_task') ORDER BY 1": [
        ("ml_customer_scores",),
        ("orders_csv",),
        ("raw_orders",),
    ],
    "SELECT DISTINCT n.name FROM dbt.nodes n JOIN dbt.node_columns USING (unique_id) "
    "WHERE column_name ILIKE '%value_score%' ORDER BY 1": [
        ("customer_segments",),
        ("ml_customer_scores",),
    ],
    # The list of models: each once, with its last run and its rows.
    "SELECT n.name, r.status, epoch(r.created_at)::BIGINT % 86400, s.stat_value FROM dbt.nodes n "
    "JOIN dbt_rt.run_results r USING (unique_id) "
    "LEFT JOIN dbt.catalog_stats s ON s.unique_id = n.unique_id AND stat_id = 'row_count' "
    "WHERE resource_type = 'model' ORDER BY 1": [
        ("ml_customer_scores", "success", 6 * 3600 + 60, "45"),
        ("raw_orders", "success", 3 * 3600 + 300, None),
    ],
    # A run, as dbt's own views join it.
    "SELECT command, elapsed_time, epoch(child_built_at)::BIGINT % 86400 "
    "FROM dbt_rt.run_results r JOIN dbt_rt.invocations USING (invocation_id) "
    f"JOIN dbt_rt.dag_validity v USING (unique_id) WHERE unique_id = '{SCORES}' LIMIT 1": [
        ("score_customers", 60.0, 6 * 3600 + 60)
    ],
    # The tests of a table: not those of another that refer to it.
    f"SELECT test_name, column_name FROM dbt.test_metadata WHERE attached_node = '{RAW}' "
    "ORDER BY ALL": [
        ("accepted_values", "status"),
        ("not_null", "customer_id"),
        ("not_null", "order_id"),
        ("relationships", "customer_id"),
        ("unique", "order_id"),
    ],
    # The text of the start page.
    "SELECT block_contents LIKE '%2 sources became models%' FROM dbt.docs "
    "WHERE name = '__overview__' AND unique_id <> 'doc.dbt.__overview__'": [(True,)],
    # All is as of the newest run.
    "SELECT g.ingested_at = p.ingested_at, epoch(g.ingested_at)::BIGINT % 86400 "
    "FROM dbt.generation g, dbt.project p": [(True, 6 * 3600)],
}


@for_each("question", ANSWERS)
def test_a_question_of_the_page_is_answered(question: str, index: Path) -> None:
    assert ask(index, question) == ANSWERS[question]


def test_an_index_of_another_version_has_the_columns_that_it_had(tmp_path: Path) -> None:
    """It has neither stamps nor edges, columns, docs and results."""
    before = shutil.copytree(SAMPLES / "fixture", tmp_path / "target/index")
    rows = pq.read_table(before / "dbt.nodes.parquet").to_pylist()
    manifest = {
        "metadata": {
            "dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json",
            "adapter_type": "duckdb",
        },
        "nodes": {row["unique_id"]: _node(row) for row in rows[:2]},
        "sources": {row["unique_id"]: _node(row) for row in rows[2:]},
        "parent_map": {row["unique_id"]: [] for row in rows},
        "child_map": {row["unique_id"]: [] for row in rows},
    }
    (tmp_path / "target/manifest.json").write_text(json.dumps(manifest))
    loaded = output("duckdb analytics.public.raw_orders", id=(FEED, "no", "IDENTITY"))
    run = event(job="load", at="2026-11-26T03:05:00Z", inputs=[FEED], outputs=[loaded])
    written(tmp_path / "events.jsonl", run)
    (tmp_path / "graft.yml").write_text(f"{CONFIG}dbt: {{namespace: duckdb}}\n")
    for command in ("collect", "inject"):
        done = graft(tmp_path, command)
        assert done.returncode == 0, done.stderr

    after = tmp_path / ".graft/artifacts/index"
    for path in before.glob("*.parquet"):
        assert pq.read_schema(after / path.name).equals(pq.read_schema(path)), path.name
    assert ask(after, "SELECT unique_id, schema_name FROM dbt.nodes ORDER BY 1 LIMIT 3") == [
        ("model.jaffle.customers", "main"),
        ("model.jaffle.orders", "main"),
        ("model.python_tasks.public_raw_orders", "public"),
    ]
    assert ask(after, "SELECT to_column_name, lineage_kind FROM dbt.column_lineage") == [
        ("id", "copy")
    ]


def _node(row: Mapping[str, Any]) -> dict[str, Any]:
    """A node of a manifest."""
    texts = ("unique_id", "name", "resource_type", "package_name", "original_file_path")
    return {
        **{key: row[key] for key in (*texts, "description", "raw_code")},
        "alias": row["name"],
        "identifier": row["name"],
        "source_name": "public",
        "database": row["database_name"],
        "schema": row["schema_name"],
        "fqn": ["jaffle", row["name"]],
        "config": {"materialized": row["materialized"]},
        "depends_on": {"nodes": []},
        "columns": {},
        "tags": [],
    }
