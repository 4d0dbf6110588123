"""`graft explain`: why a table or a task has, or lacks, edges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from dbt_graft.graft.cli import main
from tests.graft.test_inject import folder  # noqa: F401 (a fixture)

# ruff: noqa: F811 (a fixture of another module)


@pytest.fixture
def explained(folder: Path, capfd: pytest.CaptureFixture[str]) -> Any:
    def run(name: str) -> Any:
        with pytest.raises(SystemExit) as ended:
            main(["explain", name, "--json", "-c", str(folder / "graft.yml")])
        found = orjson.loads(capfd.readouterr().out)
        assert ended.value.code == ("error" in found)
        return found

    return run


def test_a_table_has_its_names_node_writers_and_reasons(explained: Any) -> None:
    (found,) = explained("orders")
    assert found["dataset"] == "mssql/Shop.raw.orders"
    assert found["names"] == [
        {"name": "mssql/raw.orders", "rule": None, "relation": "mssql/Shop.raw.orders"}
    ]
    assert found["node"] == "source.shop.raw.orders"
    assert found["runs"] == {"seen": 1, "with_failures": 0}
    assert [use["task"] for use in found["written_by"]] == ["load_orders"]
    assert found["reasons"] == [
        "no edge into it: its tasks (load_orders) read no dataset that the logs show"
    ]


def test_a_task_has_its_reads_and_writes(explained: Any) -> None:
    (found,) = explained("report")
    assert [use["dataset"] for use in found["reads"]] == ["mssql/Shop.analytics.mart"]
    assert found["reasons"] == ["no statement of it writes data"]


def test_an_unknown_name_is_an_error_with_close_names(explained: Any) -> None:
    error = explained("load_ordres")["error"]
    assert error["place"] == "load_ordres"
    assert "load_orders" in error["remedy"]


def test_people_get_it_in_lines(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["explain", "raw.orders", "-c", str(folder / "graft.yml")])
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == "dataset mssql/Shop.raw.orders"
    assert "  in the logs: mssql/raw.orders (no rule renames it)" in lines
    assert "    load_orders: INSERT mssql/Shop.raw.orders, 1 times" in lines
