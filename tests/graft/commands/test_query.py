"""`graft query`: its formats, and how it ends."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from dbt_graft.exporters.data.views import VIEWS
from dbt_graft.graft.commands.cli import main
from tests.graft.small_project import small_project

EDGES = "select from_dataset, to_dataset, evidence = 'declared' as declared from edges"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    small_project(tmp_path)
    assert CliRunner().invoke(main, ["collect", "-c", str(tmp_path / "graft.yml")]).exit_code == 0
    return tmp_path


def run(folder: Path, *arguments: str, stdin: str | None = None) -> Result:
    command = ["query", "-c", str(folder / "graft.yml"), *arguments]
    return CliRunner().invoke(main, command, input=stdin)


def test_a_table_is_for_people(project: Path) -> None:
    result = run(project, EDGES)
    assert [line.split() for line in result.stdout.splitlines() if line.strip()] == [
        ["from_dataset", "to_dataset", "declared"],
        ["─" * len(result.stdout.splitlines()[2].strip())],
        ["sftp/files", "spark/raw.orders", "true"],
        ["1", "row"],
    ]


@pytest.mark.parametrize("form", ["csv", "json", "ndjson"])
def test_machines_get_each_row(project: Path, form: str) -> None:
    text = run(project, EDGES, "--format", form).stdout
    rows = {
        "csv": lambda: list(csv.DictReader(text.splitlines())),
        "json": lambda: json.loads(text),
        "ndjson": lambda: [json.loads(line) for line in text.splitlines()],
    }[form]()
    expected = {"from_dataset": "sftp/files", "to_dataset": "spark/raw.orders", "declared": True}
    assert rows == [expected if form != "csv" else {**expected, "declared": "true"}]


def test_no_rows_are_an_answer(project: Path) -> None:
    assert json.loads(run(project, "from runs where false", "--json").stdout) == []
    assert run(project, "from runs where false", "--format", "csv").stdout.startswith("task,run_id")


def test_a_sum_is_a_number(project: Path) -> None:
    assert json.loads(run(project, "select sum(1) as n from edges", "--json").stdout) == [{"n": 1}]


def test_parquet_goes_into_a_file(project: Path) -> None:
    out = project / "new" / "edges.parquet"
    assert run(project, EDGES, "--format", "parquet", "--output", str(out)).exit_code == 0
    assert pq.read_table(out)["to_dataset"].to_pylist() == ["spark/raw.orders"]
    assert [file.name for file in out.parent.iterdir()] == ["edges.parquet"]


def test_a_table_shows_the_first_rows_and_says_so(project: Path) -> None:
    lines = run(project, "select range as n from range(250)").stdout.splitlines()
    assert lines[-1] == "250 rows, the first 100 shown; --format csv writes all"


def test_control_characters_do_not_reach_the_terminal(project: Path) -> None:
    assert "\x1b" not in run(project, "select 'a' || chr(27) || '[31m' as x").stdout


@pytest.mark.parametrize("place", ["-", "file"])
def test_a_query_comes_from_a_file(project: Path, place: str) -> None:
    (project / "q.sql").write_text("select 7 as n;\n")
    file = str(project / "q.sql") if place == "file" else "-"
    result = run(project, "--file", file, "--json", stdin="select 7 as n -- seven\n")
    assert json.loads(result.stdout) == [{"n": 7}]


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        ((), 2, "write a query"),
        ((EDGES, "--file", "-"), 2, "write a query"),
        ((EDGES, "--format", "parquet"), 2, "--format parquet needs --output"),
        (("--file", "gone.sql"), 1, "gone.sql: cannot be read"),
        (("from edge",), 1, "Did you mean"),
        (("select dataset::integer from datasets",), 1, "Could not convert"),
        ((EDGES, "--output", "/proc/none/x"), 1, "cannot be written"),
    ],
)
def test_an_error_says_what_to_do(
    project: Path, arguments: tuple[str, ...], code: int, problem: str
) -> None:
    result = run(project, *arguments)
    assert result.exit_code == code
    assert problem in result.output
    assert "Traceback" not in result.output


def test_without_a_collect_and_dbt_there_is_nothing_to_query(tmp_path: Path) -> None:
    small_project(tmp_path)
    (tmp_path / "target/manifest.json").unlink()
    result = run(tmp_path, EDGES)
    assert result.exit_code == 1
    assert "run `graft collect`" in result.output


def test_nothing_is_said_beside_the_answer(project: Path) -> None:
    """DuckDB calls what lives at the end of the process a leak."""
    command = [sys.executable, "-m", "dbt_graft", "query"]
    arguments = ["-c", str(project / "graft.yml"), "select count(*) from runs"]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_views_are_listed_with_their_columns(tmp_path: Path) -> None:
    data = json.loads(run(tmp_path, "--views", "--json").stdout)["data"]
    assert [view["name"] for view in data["views"]] == [view.name for view in VIEWS]
    lines = run(tmp_path, "--views").stdout.splitlines()
    assert "datasets: A table, view, path or topic." in lines


def test_the_docs_list_every_view(root: Path) -> None:
    text = (root / "docs/query.md").read_text("utf-8")
    for view in VIEWS:
        line = f"{view.text[0].lower()}{view.text[1:].rstrip('.')}"
        assert f"| `{view.name}` | {line} |" in text


def test_the_views_are_published_beside_the_site(project: Path) -> None:
    config = project / "graft.yml"
    config.write_text(f"{config.read_text()}site: {{data: true, out: public}}\n")
    assert CliRunner().invoke(main, ["build", "-c", str(config)]).exit_code == 0
    data = project / "public" / "data"
    listed = json.loads((data / "views.json").read_text())["views"]
    assert {view["name"]: pq.read_table(data / view["file"]).num_rows for view in listed} == {
        view["name"]: view["rows"] for view in listed
    }
    assert pq.read_table(data / "edges.parquet")["to_dataset"].to_pylist() == ["spark/raw.orders"]
