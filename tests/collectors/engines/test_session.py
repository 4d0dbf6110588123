"""The Spark session: failures are problem in a sentence."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from dbt_graft.collectors.engines.session import (
    _archive,
    _failure,
    _is_interrupt,
    _running_session,
    session,
)
from dbt_graft.lineage.errors import GraftError


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("An error occurred while calling o1.x.\n: a.B: why\n\tat c.D", "Spark failed: a.B: why"),
        (
            "An error…\n: a.B: outer\n\tat c.D\nCaused by: e.F: inner\n\tat g.H",
            "Spark failed: e.F: inner",
        ),
        ("[PATH_NOT_FOUND] no such path", "Spark failed: [PATH_NOT_FOUND] no such path"),
        ("", "Spark failed: ValueError"),
    ],
)
def test_a_failure_is_one_sentence_and_the_log_holds_the_rest(
    tmp_path: Path, message: str, problem: str
) -> None:
    log = tmp_path / "spark.log"
    error = _failure(ValueError(message), log)
    assert error.problem == problem
    assert message in log.read_text("utf-8")
    assert str(log) in str(error)


def test_pyspark_3_on_a_later_python_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.__version__", "3.5.9")
    monkeypatch.setattr(sys, "version_info", (3, 12, 1))
    with pytest.raises(GraftError, match=r"PySpark 3\.5 needs Python 3\.11"), session({}):
        pass


def test_an_error_of_py4j_on_the_way_out_of_ctrl_c_is_ctrl_c() -> None:
    broken = ValueError("Gateway must be connected to send cancel cmd.")
    assert not _is_interrupt(broken)
    broken.__context__ = KeyboardInterrupt()
    assert _is_interrupt(broken)


def test_ctrl_c_ends_without_a_warning_of_spark_s_end(
    recwarn: pytest.WarningsRecorder,
) -> None:
    class Spark:
        def stop(self) -> None:
            warnings.warn("Unable to cleanly shutdown Spark JVM process.", stacklevel=2)
            raise ConnectionError("no answer")

    class Builder:
        def getOrCreate(self) -> Spark:  # noqa: N802 (PySpark's name)
            return Spark()

    with pytest.raises(KeyboardInterrupt), _running_session(Builder(), None):  # type: ignore[arg-type]
        raise KeyboardInterrupt
    assert not recwarn.list


IMPORTED = """
import sys
import dbt_graft.collectors.openlineage.collect
import dbt_graft.collectors.spark.collect
import dbt_graft.collectors.sqlserver.collect
for name, module in list(sys.modules.items()):
    if name.split(".")[0] == "dbt_graft":
        print(module.__file__)
"""


def test_executors_import_what_is_shipped_to_them(tmp_path: Path) -> None:
    archive = _archive(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED],
        cwd=tmp_path,
        env={"PYTHONPATH": str(archive)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    files = done.stdout.splitlines()
    assert [file for file in files if not file.startswith(str(archive))] == []
    assert len(files) > 40
