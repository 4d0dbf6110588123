"""The sensor waits, in real Airflow, until dates are completed and not tainted on record."""

from __future__ import annotations

import re
import subprocess
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from dbt_graft.collectors.store.arrow_tables import tables
from dbt_graft.collectors.store.commit import commit
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Records
from tests.airflow.environment import (
    RUN_IN,
    AirflowEnvironment,
    airflow_environment,
    graft,
    process_of,
)
from tests.graft.dated_project import FIRST, dated_project, days, step

pytestmark = [pytest.mark.airflow, pytest.mark.exhaustive]

BAD = FIRST + timedelta(15)  # 5 October
REWRITTEN = datetime(2026, 10, 12, 9, tzinfo=FIRST.tzinfo)
WAITS = "clean.orders of {day} is not completed, or tainted, from {day}T00:00:00+00:00 on"
LONG = 300  # seconds that a slow machine may take

# The sensor of docs/dates-and-incidents.md, which asks each second.
DAG = """
from datetime import datetime

from airflow import DAG
from airflow.providers.standard.operators.bash import BashOperator

from graft_airflow import LineageSensor

with DAG("report", schedule=None, start_date=datetime(2026, 1, 1), catchup=False):
    wait = {sensor}
    wait >> BashOperator(task_id="report", bash_command="echo {{{{ ds }}}} >> $REPORTED")
"""


@pytest.fixture(scope="module", params=RUN_IN)
def airflow(
    request: pytest.FixtureRequest, root: Path, tmp_path_factory: pytest.TempPathFactory
) -> AirflowEnvironment:
    """Airflow beside a project with 5 October of raw.orders tainted on record."""
    home = tmp_path_factory.mktemp(f"airflow-{request.param}")
    environment = airflow_environment(
        request.param,
        home,
        AIRFLOW__GRAFT__LINEAGE=str(home / "lineage.json"),
        REPORTED=str(home / "reported"),
        PYTHONUNBUFFERED="1",
    )
    text = (root / "docs/dates-and-incidents.md").read_text()
    (sensor,) = re.findall(r"```python\n(LineageSensor\(.*?\))\n```", text, re.S)
    sensor = sensor.replace("raw.orders", "clean.orders")
    quick = sensor.replace('mode="reschedule"', f"poke_interval=1, timeout={LONG}")
    assert quick != sensor
    (environment.dags / "report.py").write_text(DAG.format(sensor=quick))
    environment.migrate()
    dated_project(home)
    graft(home, "incident", "open", "raw.orders", "--dates", f"{BAD:%Y-%m-%d}")
    export(home)
    return environment


def export(home: Path) -> None:
    graft(home, "export", "airflow-lineage", "--out", str(home / "lineage.json"))


def rewrite(home: Path, task: str, at: datetime, source: str | None, target: str) -> None:
    """A clean run of a task for the bad day, as if its log had been collected."""
    reads = ((source, days(BAD)),) if source else ()
    accesses = tuple(
        step(
            *(task, BAD, at, reads, (target, days(BAD)), Operation.INSERT_OVERWRITE),
            run_id=f"{task}-again",
        )
    )
    found = tables(Records(accesses=accesses), {f"log of {task}": "1"})
    commit(str(home / "store"), [found])


class Waiting:
    """Runs of the DAG for some days in one process, and what they printed."""

    def __init__(self, airflow: AirflowEnvironment, *dates: datetime) -> None:
        self.log = airflow.home / "waiting.log"
        program, *arguments = process_of(*(f"dags test report {day:%Y-%m-%d}" for day in dates))
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [str(airflow.bin / program), *arguments],
                env=airflow.environment(),
                cwd=airflow.home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def until(self, text: str, times: int) -> None:
        """Wait until it has printed a text so many times."""
        end = time.monotonic() + LONG
        while self.log.read_text().count(text) < times:
            assert self.process.poll() is None, self.log.read_text()[-3000:]
            assert time.monotonic() < end, self.log.read_text()[-3000:]
            time.sleep(0.2)


def test_it_waits_for_a_tainted_day_until_a_clean_run_has_written_it_again(
    airflow: AirflowEnvironment,
) -> None:
    home, reported = airflow.home, airflow.home / "reported"
    run = Waiting(airflow, BAD - timedelta(1), BAD)
    waits = WAITS.format(day="2026-10-05")
    try:
        run.until(waits, 2)
        assert "clean.orders of 2026-10-04 is completed and not tainted" in run.log.read_text()
        assert reported.read_text() == "2026-10-04\n"
        # Its input is clean again; it is not.
        rewrite(home, "load", REWRITTEN, None, "raw.orders")
        export(home)
        run.until(waits, run.log.read_text().count(waits) + 2)
        assert reported.read_text() == "2026-10-04\n"

        rewrite(home, "clean", REWRITTEN + timedelta(hours=1), "raw.orders", "clean.orders")
        export(home)
        assert run.process.wait(LONG) == 0, run.log.read_text()[-3000:]
    finally:
        run.process.kill()
    assert "clean.orders of 2026-10-05 is completed and not tainted" in run.log.read_text()
    assert reported.read_text() == "2026-10-04\n2026-10-05\n"
