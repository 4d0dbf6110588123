"""A file of declared lineage that is not valid ends a collect before any log is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.graft.commands.test_command import graft


@pytest.mark.parametrize("command", ["collect", "build"])
@pytest.mark.parametrize("logs", ["logs", "missing"])
def test_an_invalid_file_is_reported_before_logs_are_looked_for(
    tmp_path: Path, command: str, logs: str
) -> None:
    (tmp_path / "graft.yml").write_text(
        f"collect:\n- spark: {{path: {logs}}}\n- declared: {{path: lineage}}\n"
    )
    (tmp_path / "lineage").mkdir()
    (tmp_path / "lineage/a.yml").write_text("version: 1\ntsaks: {}")
    (tmp_path / "target").mkdir()
    (tmp_path / "target/manifest.json").write_text("{}")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/app-1").write_text("{}")

    done = graft(tmp_path, command)

    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert "a.yml:2: `tsaks` is not a key here; did you mean `tasks`?" in done.stderr
    assert "looking for new logs" not in done.stderr
    assert not (tmp_path / ".graft/store").exists()
