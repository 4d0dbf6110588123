"""`graft collect --again` reads the logs anew, and loses nothing that they no longer hold."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from tests.graft.conftest import Graft
from tests.graft.test_faults import EXPECTED, collect, project, reads, wait_for


def test_a_source_that_there_is_not_is_an_error_that_names_those_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, graft: Graft
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graft.yml").write_text(
        "collect: [{declared: {path: lineage}}, {spark: {path: logs}}]\nstore: store"
    )
    done = graft("collect", "--again", "log")
    assert done.code == 1
    assert "there is no source 'log'" in done.err
    assert "name one of declared:lineage, logs" in done.err


def test_logs_are_read_anew_once_each_and_what_is_gone_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, graft: Graft
) -> None:
    folder = project(tmp_path)
    monkeypatch.chdir(folder)
    first = graft("collect", "--quiet")
    assert first.code == 0, first.err
    assert reads(folder / "store") == EXPECTED
    (folder / "logs/b.xel").unlink()

    killed = collect(folder, "--again", held=True)
    wait_for("store/accesses/batch_id=*/*.parquet", folder, killed, count=2)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert reads(folder / "store") == EXPECTED, "a collect that dies leaves what was there"

    again = graft("collect", "--again", "--quiet")
    assert again.code == 0, again.err
    assert reads(folder / "store") == EXPECTED
    assert len([*(folder / "store/accesses").iterdir()]) == 2, "the killed one is swept"
    assert '"new_logs": 0' in graft("collect", "--json").out

    config = folder / "graft.yml"
    config.write_text(config.read_text().replace("path: logs/,", "path: logs/, noise: [a3],"))
    (folder / "events/app-b").unlink()
    assert '"new_logs": 1' in graft("collect", "--json").out, "other settings"
    less = {name: count for name, count in EXPECTED.items() if name != "dbo.a3"}
    assert reads(folder / "store") == less, "what the sources no longer show stays"

    shutil.rmtree(folder / "store/accesses")
    damaged = graft("collect", "--quiet")
    assert damaged.code == 1
    assert "graft collect --again" in damaged.err
    back = graft("collect", "--again")
    assert back.code == 0, back.err
    assert "is missing" in back.err
    assert reads(folder / "store") == {
        name: count for name, count in less.items() if name.startswith("dbo.a") or name == "raw.a"
    }
