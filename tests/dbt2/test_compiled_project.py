"""All that the docs page of dbt 2 is answered about a graft onto what dbt 2 itself wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import for_each
from tests.dbt2.project import DBT, graft, write_project
from tests.injector.index.index_of_dbt import ask

pytestmark = [
    pytest.mark.dbt2,
    pytest.mark.skipif(not DBT.exists(), reason="dbt 2 is not installed: `make dbt-2`"),
]
RAW, SEGMENTS = "model.python_tasks.raw_orders", "model.python_tasks.ml_segments"
PAID, TOTALS = "model.shop.paid", "model.shop.totals"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project after `graft build --dbt`."""
    folder = tmp_path_factory.mktemp("shop")
    write_project(folder)
    done = graft(folder, "build", "--dbt")
    assert done.returncode == 0, done.stderr
    assert "compile --write-index" in done.stderr
    return folder


@pytest.fixture(scope="module")
def index(project: Path) -> Path:
    """The grafted index."""
    return project / ".graft/artifacts/index"


# Question -> answer.
ANSWERS = {
    # The counts of the start page.
    "SELECT resource_type, count(*) FROM dbt.nodes GROUP BY ALL ORDER BY ALL": [
        ("model", 4),
        ("source", 1),
        ("test", 1),
    ],
    # The page of a node.
    "SELECT resource_type, package_name, node_language, schema_name, description LIKE '%Ada%' "
    f"FROM dbt.nodes WHERE unique_id = '{RAW}'": [("model", "python_tasks", "python", "raw", True)],
    f"SELECT column_name, data_type FROM dbt.node_columns WHERE unique_id = '{RAW}' "
    "ORDER BY column_index": [
        ("amount", "BIGINT"),
        ("id", "BIGINT"),
        ("customer", None),
        ("state", None),
    ],
    # Its edges, in both directions.
    f"SELECT parent_unique_id FROM dbt.edges WHERE child_unique_id = '{PAID}'": [(RAW,)],
    f"SELECT child_unique_id FROM dbt.edges WHERE parent_unique_id = '{TOTALS}' ORDER BY 1": [
        ("exposure.shop.board",),
        (SEGMENTS,),
    ],
    # The lineage three steps down.
    "WITH RECURSIVE down AS (SELECT child_unique_id AS id, 1 AS depth FROM dbt.edges "
    f"WHERE parent_unique_id = '{RAW}' UNION SELECT child_unique_id, depth + 1 FROM down "
    "JOIN dbt.edges ON parent_unique_id = id WHERE depth < 3) "
    "SELECT name, depth FROM down JOIN dbt.nodes ON unique_id = id "
    "WHERE resource_type = 'model' ORDER BY depth": [
        ("paid", 1),
        ("totals", 2),
        ("ml_segments", 3),
    ],
    # Columns from the feed to the task's result.
    "SELECT from_column_name, to_node_unique_id, to_column_name, lineage_kind "
    "FROM dbt.column_lineage WHERE lineage_kind <> 'scan' ORDER BY ALL": [
        ("amount", PAID, "double", "mod"),
        ("amt", RAW, "amount", "mod"),
        ("customer", PAID, "customer", "copy"),
        ("customer", TOTALS, "customer", "copy"),
        ("double", TOTALS, "total", "mod"),
        ("id", PAID, "id", "copy"),
        ("no", RAW, "id", "copy"),
        ("total", SEGMENTS, "segment", "mod"),
    ],
    # Search by a tag, and by a column.
    "SELECT name FROM dbt.nodes WHERE list_contains(tags, 'python_task') ORDER BY 1": [
        ("ml_segments",),
        ("orders_csv",),
        ("raw_orders",),
    ],
    "SELECT DISTINCT n.name FROM dbt.nodes n JOIN dbt.node_columns USING (unique_id) "
    "WHERE column_name ILIKE '%segment%'": [("ml_segments",)],
    # The list of models: each once, with its last run.
    "SELECT n.name, r.status, epoch(r.created_at)::BIGINT % 86400 FROM dbt.nodes n "
    "LEFT JOIN dbt_rt.run_results r USING (unique_id) "
    "LEFT JOIN dbt.catalog_stats s ON s.unique_id = n.unique_id AND stat_id = 'row_count' "
    "WHERE resource_type = 'model' ORDER BY 1": [
        ("ml_segments", "success", 4 * 3600 + 60),
        ("paid", None, None),
        ("raw_orders", "success", 3 * 3600 + 300),
        ("totals", None, None),
    ],
    # The tests of a table.
    f"SELECT test_name, column_name FROM dbt.test_metadata WHERE attached_node = '{RAW}'": [
        ("not_null", "id")
    ],
}


@for_each("question", ANSWERS)
def test_a_question_of_the_page_is_answered(question: str, index: Path) -> None:
    assert ask(index, question) == ANSWERS[question]


def test_dbts_own_rows_are_as_dbt_wrote_them(project: Path, index: Path) -> None:
    rows = f"SELECT * FROM dbt.nodes WHERE unique_id IN ('{PAID}', '{TOTALS}') ORDER BY name"
    assert ask(index, rows) == ask(project / "target/index", rows)


@for_each(
    "arguments, words",
    [
        ("doctor", "dbt 2.0.0-preview.196 wrote manifest.json, catalog.json, index/"),
        ("inject --validate", "1 source promoted, 1 new model"),
        ("show totals", "ml.segments"),
        ("impact totals.total --change remove", "ml.segments"),
        ("check", "owners"),
        ("review --base target", "no change"),
    ],
)
def test_a_command_answers(arguments: str, words: str, project: Path) -> None:
    done = graft(project, *arguments.split())
    assert done.returncode == 0, done.stderr
    assert words in done.stdout + done.stderr


def test_an_error_of_dbt_ends_the_build(tmp_path: Path) -> None:
    write_project(tmp_path)
    (tmp_path / "models/broken.sql").write_text("select * from {{ ref('gone') }}")
    done = graft(tmp_path, "build", "--dbt")
    assert done.returncode == 1
    assert "Ref 'gone' not found" in done.stderr
    assert "`dbt compile --write-index --write-catalog` failed: see above" in done.stderr
