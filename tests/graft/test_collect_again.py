"""`graft collect --again` reads the logs anew, and loses nothing that they no longer hold."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from tests.graft.commands.test_command import graft
from tests.graft.test_faults import EXPECTED, collect, project, reads, wait_for


def test_a_source_that_there_is_not_is_an_error_that_names_those_there_are(tmp_path: Path) -> None:
    (tmp_path / "graft.yml").write_text(
        "collect: [{declared: {path: lineage}}, {spark: {path: logs}}]\nstore: store"
    )
    done = graft(tmp_path, "collect", "--again", "log")
    assert done.returncode == 1
    assert "there is no source 'log'" in done.stderr
    assert "name one of declared:lineage, logs" in done.stderr


@pytest.mark.spark
def test_logs_are_read_anew_once_each_and_what_is_gone_stays(tmp_path: Path) -> None:
    folder = project(tmp_path)
    first = graft(folder, "collect", "--quiet")
    assert first.returncode == 0, first.stderr
    assert reads(folder / "store") == EXPECTED
    (folder / "logs/b.xel").unlink()

    killed = collect(folder, "--again", held=True)
    wait_for("store/accesses/batch_id=*/*.parquet", folder, killed, count=2)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert reads(folder / "store") == EXPECTED, "a collect that dies leaves what was there"

    again = graft(folder, "collect", "--again", "--quiet")
    assert again.returncode == 0, again.stderr
    assert reads(folder / "store") == EXPECTED
    assert len([*(folder / "store/accesses").iterdir()]) == 2, "the killed one is swept"
    assert '"new_logs": 0' in graft(folder, "collect", "--json").stdout

    config = folder / "graft.yml"
    config.write_text(config.read_text().replace("path: logs/,", "path: logs/, noise: [a3],"))
    (folder / "events/app-b").unlink()
    assert '"new_logs": 1' in graft(folder, "collect", "--json").stdout, "other settings"
    less = {name: count for name, count in EXPECTED.items() if name != "dbo.a3"}
    assert reads(folder / "store") == less, "what the sources no longer show stays"

    shutil.rmtree(folder / "store/accesses")
    damaged = graft(folder, "collect", "--quiet")
    assert damaged.returncode == 1
    assert "graft collect --again" in damaged.stderr
    back = graft(folder, "collect", "--again")
    assert back.returncode == 0, back.stderr
    assert "is missing" in back.stderr
    assert reads(folder / "store") == {
        name: count for name, count in less.items() if name.startswith("dbo.a") or name == "raw.a"
    }
