"""The sources of `graft.yml`: a fault of one is an error once it is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_graft.graft.project.config import load
from dbt_graft.graft.project.sources import sources
from dbt_graft.lineage.errors import GraftError
from tests.cases import for_each

SERVER = "http://127.0.0.1:9"


def test_a_history_server_is_asked_with_what_the_variable_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "graft.yml"
    entry = f"spark: {{history_server: '{SERVER}', authorization: env:HISTORY_TOKEN}}"
    path.write_text(f"collect:\n- {entry}\n")
    monkeypatch.delenv("HISTORY_TOKEN", raising=False)
    [source] = sources(load(path))
    for place in ("env:HISTORY_TOKEN", SERVER):
        with pytest.raises(GraftError) as caught:
            source.new_logs({})
        assert caught.value.place == place
        monkeypatch.setenv("HISTORY_TOKEN", "Bearer hunter2")
    assert "hunter2" not in str(caught.value)


@for_each(
    "entry, change, differs",
    [
        ("spark: {path: logs}", "spark: {path: logs, task: '(?P<task>a.+)'}", True),
        ("spark: {path: logs}", "spark: {path: logs, task_from: app_name}", True),
        ("spark: {path: logs}", "spark: {path: logs, namespace: 'hive://m'}", True),
        ("spark: {path: logs}", "spark: {path: logs2}", False),
        ("openlineage: {path: e}", "openlineage: {path: e, task: '(?P<task>a.+)'}", True),
        ("sqlserver: {SQL}", "sqlserver: {SQL, noise: [x]}", True),
        ("sqlserver: {SQL}", "sqlserver: {SQL, idle_minutes: 5}", True),
        ("sqlserver: {SQL}", "sqlserver: {SQL, task: 'x(?P<task>.+)'}", True),
        ("sqlserver: {SQL}", "sqlserver: {path: l, server: 'mssql://b'}", True),
    ],
)
def test_settings_that_decide_on_records_are_part_of_the_position(
    tmp_path: Path, entry: str, change: str, differs: bool
) -> None:
    digests = []
    for text in (entry, change):
        path = tmp_path / "graft.yml"
        path.write_text(f"collect: [{{{text}}}]".replace("SQL", "path: l, server: 'mssql://a'"))
        [source] = sources(load(path))
        digests.append(source.settings)
    assert (digests[0] != digests[1]) is differs
