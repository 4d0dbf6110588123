"""`graft diff`: what is new and gone between two times, as text, Markdown and JSON."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dbt_graft.graft.commands.cli import main
from dbt_graft.lineage.records import Records
from tests.graft.commands.answers import read_answer
from tests.graft.project.test_past import FILES, MART, ORDERS, loaded, stored
from tests.graft.small_project import small_project


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`load` wrote orders on 1 March and the mart since; `build_mart` began on 3 March."""
    folder = tmp_path_factory.mktemp("project")
    small_project(folder)
    (folder / "graft.yml").write_text("")
    later = [loaded("load", day, FILES, MART) for day in range(1, 6)]
    stored(folder, loaded("load", 0, FILES, ORDERS), *later, loaded("build_mart", 2, ORDERS, MART))
    return folder


def diff(folder: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["diff", *options, "-c", str(folder / "graft.yml")])


def test_differences_are_listed_by_kind(project: Path) -> None:
    done = diff(project, "--from", "2024-03-01", "--to", "2024-03-31")
    assert done.exit_code == 0, done.output
    assert (
        done.output
        == """\
lineage from 1 Mar 2024 to 31 Mar 2024: 5 differences

New datasets (1)
  +  spark/raw.mart  2024-03-02, written by build_mart, load

New tasks (1)
  +  build_mart  2024-03-03

Edges gone (1)
  -  spark/raw.files -> spark/raw.orders  2024-03-04, load ran 5 times without it since 1 Mar 2024

New edges (2)
  +  spark/raw.files -> spark/raw.mart   2024-03-02, by load
  +  spark/raw.orders -> spark/raw.mart  2024-03-03, by build_mart
"""
    )


def test_markdown_has_a_table_for_each_kind(project: Path) -> None:
    done = diff(project, "--from", "2024-03-01", "--to", "2024-03-02", "--format", "markdown")
    assert (
        done.output
        == """\
<!-- dbt-graft diff -->
### lineage from 1 Mar 2024 to 2 Mar 2024: 2 differences

**New datasets** (1)

|  |  |  |
|---|---|---|
| + | spark/raw.mart | 2024-03-02, written by load |

**New edges** (1)

|  |  |  |
|---|---|---|
| + | spark/raw.files -&#62; spark/raw.mart | 2024-03-02, by load |
"""
    )


def test_json_is_valid_by_its_schema(project: Path) -> None:
    for first, last in (("2024-02-01", "2024-03-31"), ("2024-03-01", "2024-03-31")):
        data = read_answer(diff(project, "--from", first, "--to", last, "--json").stdout)["data"]
        assert sum(data["counts"].values()) == len(data["differences"]) > 0
    assert data["from"] == "2024-03-01T23:59:59.999999Z"
    assert data["differences"][0] == {
        "kind": "new dataset",
        "dataset": "spark/raw.mart",
        "at": "2024-03-02T06:00:00Z",
        "reason": "written by build_mart, load",
    }


@pytest.mark.parametrize(("options", "code"), [
    (["--from", "2024-03-01", "--to", "2024-03-31"], 3),
    (["--from", "2024-03-31", "--to", "2024-03-31"], 0),
    (["--from", "2024-03-20", "--to", "2024-03-31"], 0),
])  # fmt: skip
def test_the_exit_code_tells_whether_there_are_differences(
    project: Path, options: list[str], code: int
) -> None:
    assert diff(project, *options, "--fail-on", "change").exit_code == code
    assert diff(project, *options).exit_code == 0


def test_the_rule_for_what_is_gone_can_be_changed(project: Path) -> None:
    output = diff(project, "--from", "2024-03-01", "--to", "2024-03-31", "--runs", "6").output
    assert "Edges gone" not in output


def test_equal_times_have_no_differences(project: Path) -> None:
    done = diff(project, "--from", "2024-03-03", "--to", "2024-03-03")
    assert done.output == "lineage from 3 Mar 2024 to 3 Mar 2024: no differences\n"


@pytest.mark.parametrize(("options", "message"), [
    (["--from", "2024-03-31", "--to", "2024-03-01"], "is later than --to 1 Mar 2024"),
    (["--from", "some day"], "is not a time"),
    (["--runs", "0"], "not in the range"),
])  # fmt: skip
def test_a_wrong_time_is_an_invalid_command_line(
    project: Path, options: list[str], message: str
) -> None:
    done = diff(project, *options)
    assert done.exit_code == 2
    assert message in done.output


def test_without_a_store_there_is_nothing_to_compare(tmp_path: Path) -> None:
    (tmp_path / "graft.yml").write_text("")
    done = diff(tmp_path)
    assert done.exit_code == 1
    assert "missing or empty" in done.output


def test_without_dbts_artifacts_the_names_are_those_of_the_logs(tmp_path: Path) -> None:
    (tmp_path / "graft.yml").write_text("")
    stored(tmp_path, loaded("load", 0, FILES, ORDERS), Records())
    assert "+  load" in diff(tmp_path, "--from", "2024-02-01", "--to", "2024-03-31").output
