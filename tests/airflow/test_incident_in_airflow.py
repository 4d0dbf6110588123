"""From a failed task to complete dates, in real Airflow 3: a cut of the demo's visits.

The tasks have the demo's names and lineage; a script stands in for Spark, which leaves no log here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.airflow.environment import AirflowEnvironment, airflow_environment, graft

pytestmark = [pytest.mark.airflow, pytest.mark.exhaustive]

LINEAGE = """
version: 1
tasks:
  load_visits:
    flows: [{from: [landing/visits], to: [spark/web.visits]}]
  count_weekly_visitors:
    flows: [{from: [spark/web.visits], to: [spark/web.weekly_visitors]}]
  mail_visitor_report:
    flows: [{from: [spark/web.weekly_visitors], to: [mail/visitor_report]}]
datasets:
  spark/web.visits: {period: day, reads: {landing/visits: [0, 0]}}
  spark/web.weekly_visitors: {period: day, reads: {spark/web.visits: [-6, 0]}}
  mail/visitor_report: {period: day, reads: {spark/web.weekly_visitors: [0, 0]}}
"""
CONFIG = """
collect:
  - declared: {path: lineage.yml}
  - openlineage: {path: events.ndjson}
store: store
airflow:
  name: visits
  schedule: "@daily"
  commands: [{command: 'sh "$SHOP/run_day.sh" {task} {{ ds }}'}]
tasks:
  load_visits: {rerun: 'sh "$SHOP/run_day.sh" {task} {last}'}
  count_weekly_visitors: {rerun: 'sh "$SHOP/run_day.sh" {task} {last}'}
  mail_visitor_report: {rerun: 'sh "$SHOP/run_day.sh" {task} {last}'}
"""
# A day whose visits are not delivered cannot be loaded.
RUN_DAY = """
test $1 != load_visits || test -e "$SHOP/landing/$2" || { echo "no visits of $2" >&2; exit 1; }
echo "$1 $2" >> "$SHOP/done"
"""
GOOD, BAD = "2026-10-01", "2026-10-02"
TASKS = ("load_visits", "count_weekly_visitors", "mail_visitor_report")
LATE = ("web.visits", "web.weekly_visitors", "visitor_report")


@pytest.fixture(scope="module")
def airflow(tmp_path_factory: pytest.TempPathFactory) -> AirflowEnvironment:
    """Airflow with the exported DAG; the visits of the second day are not delivered."""
    home = tmp_path_factory.mktemp("airflow")
    environment = airflow_environment(3, home, SHOP=str(home))
    (home / "lineage.yml").write_text(LINEAGE)
    (home / "graft.yml").write_text(CONFIG)
    (home / "run_day.sh").write_text(RUN_DAY)
    (home / "events.ndjson").touch()
    deliver(home, GOOD)
    graft(home, "collect", "--quiet")
    graft(home, "export", "dag-factory")
    environment.migrate()
    return environment


def deliver(home: Path, day: str) -> None:
    (home / "landing").mkdir(exist_ok=True)
    (home / "landing" / day).touch()


def run(airflow: AirflowEnvironment, dag: str, *days: str) -> None:
    airflow.run_lines(*(f"dags test {dag} {day}" for day in days))
    graft(airflow.home, "collect", "--quiet")


def asked(airflow: AirflowEnvironment, *arguments: str) -> Any:
    return json.loads(graft(airflow.home, *arguments, "--json"))["data"]


def done(airflow: AirflowEnvironment) -> list[str]:
    return (airflow.home / "done").read_text().splitlines()


def states(airflow: AirflowEnvironment, dataset: str) -> dict[str, list[str]]:
    """The states of both days of a dataset."""
    shown = asked(airflow, "show", dataset, "--dates", "--from", GOOD, "--to", BAD)
    return {entity["start"]: entity["states"] for entity in shown["dates"]["entities"]}


def test_a_failed_task_its_incident_its_reprocessing_and_the_dates_are_complete(
    airflow: AirflowEnvironment,
) -> None:
    run(airflow, "visits", GOOD, BAD)
    assert done(airflow) == [f"{task} {GOOD}" for task in TASKS]

    report = graft(airflow.home, "incident", "show", f"visits/{BAD}").splitlines()[0]
    assert f"of DAG visits: 1 of 1 task failed; {', '.join(LATE)} late since" in report
    assert report.endswith(": 3 tasks must run again")
    incident = asked(airflow, "incident", "show", f"visits/{BAD}", "--dag")
    assert [late["dataset"] for late in incident["late"]] == [
        "spark/web.visits",
        "spark/web.weekly_visitors",
        "mail/visitor_report",
    ]
    assert [step["commands"] for step in incident["plan"]["rerun"]] == [
        [f'sh "$SHOP/run_day.sh" {task} {BAD}'] for task in TASKS
    ]

    deliver(airflow.home, BAD)
    run(airflow, "visits_reprocess_web_visits", "2026-11-20")
    assert done(airflow)[len(TASKS) :] == [f"{task} {BAD}" for task in TASKS]

    mended = asked(airflow, "incident", "show", f"visits/{BAD}")
    assert mended["late"] == []
    for dataset in LATE:
        assert states(airflow, dataset) == {GOOD: ["completed"], BAD: ["completed"]}
