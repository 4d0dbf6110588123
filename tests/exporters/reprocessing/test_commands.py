"""The commands that run tasks again: their own, Airflow's, dbt's; names of logs are quoted."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from dbt_graft.analysis.dates.taint_plan import Rerun, RerunStep, TaintedOutput, TaintPlan
from dbt_graft.exporters.reprocessing.commands import (
    RerunSettings,
    backfills,
    rerun_steps,
)
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import ALL_DATES, NO_DATES, Dates
from dbt_graft.lineage.dates.date_text import parse_dates
from dbt_graft.lineage.dates.period import Grain
from dbt_graft.lineage.records import Run, TaskInfo
from tests.cases import for_each

DAY = datetime(2026, 10, 3, tzinfo=UTC)
DATES = parse_dates("2026-10-03..2026-10-05")
NAME = "load'; rm -rf /; echo '"


def step(
    settings: RerunSettings | None = None,
    *,
    name: str = "load",
    dates: Dates = DATES,
    rerun: str = "",
    runs: tuple[Run, ...] = (),
    is_definition: bool = False,
    is_incremental: bool = False,
) -> RerunStep:
    (found,) = rerun_steps(
        plan(
            Rerun(
                name,
                (TaintedOutput(DatasetId("db", "a"), dates, dates, Grain.DAY, {}, ()),),
                dates,
                Grain.DAY,
                TaskInfo(rerun=rerun),
                runs,
                is_definition,
                is_incremental,
            )
        ),
        settings or RerunSettings(),
    )
    return found


def plan(*reruns: Rerun) -> TaintPlan:
    return TaintPlan((), None, reruns, (), (), (), ())


def airflow(task: str = "load_orders", dag: str = "shop", days: int = 2) -> RerunSettings:
    runs = {
        f"try-{n}": Run(
            f"try-{n}",
            f"{dag}.{task}",
            "airflow",
            application_id=f"{dag}/{task}/1",
            job=f"airflow/{dag}.{task}",
            nominal_start=DAY + timedelta(days=n, hours=5),
        )
        for n in range(days)
    }
    return RerunSettings(runs)


RUNS = tuple(Run(f"app-{n}", "load", "spark", parent_run_id=f"try-{n}") for n in range(2))


@pytest.mark.parametrize(
    ("template", "commands"),
    [
        ("make load", ("make load",)),
        ("load {start} {end}", ("load 2026-10-03 2026-10-06",)),
        ("load {start}..{last} {task}", ("load 2026-10-03..2026-10-05 load",)),
        ("load --ds {{ ds }} ${HOME} { x }", ("load --ds {{ ds }} ${HOME} { x }",)),
    ],
)
def test_a_command_of_its_own_has_the_dates(template: str, commands: tuple[str, ...]) -> None:
    assert step(rerun=template).commands == commands


def test_each_range_has_a_command() -> None:
    dates = parse_dates("2026-10-03,2026-10-05T04..2026-10-05T06")

    assert step(rerun="load {start} {end}", dates=dates).commands == (
        "load 2026-10-03 2026-10-04",
        "load 2026-10-05T04:00:00 2026-10-05T07:00:00",
    )


def test_names_are_quoted_and_never_inside_of_quotes() -> None:
    assert step(name=NAME, rerun="load {task}").commands == (
        """load 'load'"'"'; rm -rf /; echo '"'"''""",
    )
    quoted = step(name=NAME, rerun='load "{task}"')
    assert (quoted.commands, "stands in quotes" in quoted.note) == ((), True)


def test_open_dates_are_left_to_people() -> None:
    found = step(rerun="load {start} {end}", dates=ALL_DATES)

    assert found.commands == ("load {start} {end}",)
    assert "fill them in" in found.note


def test_a_command_without_dates_needs_none() -> None:
    assert step(rerun="load {task}", dates=NO_DATES).commands == ("load load",)


def test_a_url_is_no_command() -> None:
    found = step(rerun="https://airflow.example.com/dags/shop")

    assert (found.commands, found.url) == ((), "https://airflow.example.com/dags/shop")


def test_tasks_of_airflow_are_cleared_by_the_logical_dates_of_their_bad_runs() -> None:
    found = step(airflow(), runs=RUNS)

    assert found.commands == (
        "airflow tasks clear shop -s 2026-10-03T00:00Z -e 2026-10-04T23:59:59Z -t load_orders -y",
    )
    assert "-t takes each task" in found.note


def test_airflow_2_has_a_pattern_of_the_task_s_id() -> None:
    settings = RerunSettings(airflow("raw.load").orchestrator_runs, airflow=2)
    found = step(settings, runs=RUNS[:1])

    assert found.commands == (
        "airflow tasks clear shop -s 2026-10-03T00:00Z -e 2026-10-03T23:59:59Z "
        r"-t '^raw\.load$' -y",
    )
    assert "-t takes" not in found.note


@for_each(
    "version, run_id, day",
    [
        (2, "manual__2026-10-04T02:00:00+00:00", "2026-10-04"),
        (2, "manual__2026-10-04T01:00:00+02:00", "2026-10-03"),
        (2, "scheduled__2026-10-03T05:00:00+00:00", "2026-10-03"),
        (2, "load again", "2026-10-03"),
        (2, "again__and__again", "2026-10-03"),
        # Airflow 3 has the time there from which the run may start.
        (3, "scheduled__2026-10-04T05:00:00+00:00", "2026-10-03"),
    ],
)
def test_the_logical_date_is_that_of_airflow_2_s_run_id(
    version: int, run_id: str, day: str
) -> None:
    (above,) = airflow(days=1).orchestrator_runs.values()
    runs = {"try-0": replace(above, application_id=f"shop/load_orders/{run_id}")}
    (command,) = step(RerunSettings(runs, airflow=version), runs=RUNS[:1]).commands

    assert f" -s {day}T00:00Z -e {day}T23:59:59Z " in command


def test_names_of_airflow_are_quoted() -> None:
    (command,) = step(airflow(task="x;reboot", dag="$(reboot)"), runs=RUNS).commands

    assert "clear '$(reboot)' " in command
    assert " -t 'x;reboot' " in command


@pytest.mark.parametrize(
    ("version", "command"),
    [
        (
            3,
            "airflow backfill create --dag-id shop --from-date 2026-10-03T00:00Z "
            "--to-date 2026-10-04T23:59:59Z --reprocess-behavior completed",
        ),
        (
            2,
            "airflow dags backfill shop -s 2026-10-03T00:00Z -e 2026-10-04T23:59:59Z "
            "--reset-dagruns -y",
        ),
    ],
)
def test_complete_dags_can_be_run_again(version: int, command: str) -> None:
    settings = RerunSettings(airflow().orchestrator_runs, airflow=version)
    rerun = step(settings, runs=RUNS).rerun

    assert backfills(plan(rerun), settings) == [command]


@pytest.mark.parametrize(
    ("options", "commands"),
    [
        ({}, ("dbt build --select orders",)),
        ({"is_incremental": True}, ("dbt build --select orders --full-refresh",)),
        (
            {"microbatch": True, "is_incremental": True},
            (
                "dbt build --select orders --event-time-start 2026-10-03 "
                "--event-time-end 2026-10-06",
            ),
        ),
        (
            {"microbatch": True, "dates": ALL_DATES},
            ("dbt build --select orders --full-refresh",),
        ),
    ],
    ids=["table", "incremental", "microbatch", "microbatch, all dates"],
)
def test_models_are_built_by_dbt(options: dict[str, object], commands: tuple[str, ...]) -> None:
    name = "model.shop.orders"
    microbatch = frozenset({name}) if options.pop("microbatch", False) else frozenset[str]()
    settings = RerunSettings(microbatch=microbatch)

    found = step(settings, name=name, is_definition=True, **options)  # type: ignore[arg-type]

    assert found.commands == commands


@for_each(
    "options, microbatch, command",
    [
        ({}, False, "dbt build --select orders"),
        ({"is_incremental": True, "dates": ALL_DATES}, False, "dbt build --select orders"),
        ({"is_incremental": True}, False, "dbt build --select orders"),
        ({"dates": ALL_DATES}, True, "dbt build --select orders"),
        (
            {},
            True,
            "dbt build --select orders --event-time-start 2026-10-03 --event-time-end 2026-10-06",
        ),
    ],
)
def test_a_model_that_lacks_rows_and_has_no_wrong_ones_is_built_without_a_full_refresh(
    options: dict[str, object], microbatch: bool, command: str
) -> None:
    name = "model.shop.orders"
    settings = RerunSettings(microbatch=frozenset({name} if microbatch else ()), is_late=True)
    found = step(settings, name=name, is_definition=True, **options)  # type: ignore[arg-type]

    assert found.commands == (command,)


def test_a_model_of_two_packages_is_selected_with_its_package() -> None:
    settings = RerunSettings(selections={"model.shop.orders": "orders,package:shop"})

    found = step(settings, name="model.shop.orders", is_definition=True)

    assert found.commands == ("dbt build --select orders,package:shop",)


def test_what_nobody_knows_to_run_says_so() -> None:
    assert "add `rerun:`" in step().note
    assert "correct it where it comes from" in step(name="").note
