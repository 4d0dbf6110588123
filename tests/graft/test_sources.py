"""The sources of `graft.yml`: a fault of one is an error once it is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_graft.graft.config import load
from dbt_graft.graft.sources import sources
from dbt_graft.lineage.errors import GraftError

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
