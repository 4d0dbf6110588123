"""The plan behind a taint as a DAG of Airflow that runs once: dag-factory's YAML and its loader."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from dbt_graft.analysis.dates.taint_plan import RerunStep, TaintPlan
from dbt_graft.analysis.render.markdown import code, one_line
from dbt_graft.exporters.dag_factory.document import documents, files
from dbt_graft.exporters.dag_factory.identifiers import identifier, unique_identifiers
from dbt_graft.exporters.dag_factory.operators import BASH, EMPTY
from dbt_graft.exporters.dag_factory.plan import PlannedDag, PlannedTask
from dbt_graft.exporters.dag_factory.settings import DagSettings
from dbt_graft.exporters.dag_factory.templates import names_in, without_jinja
from dbt_graft.exporters.reprocessing.commands import DATE_NAMES, is_open
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.dates.calendar import moment_of
from dbt_graft.lineage.dates.date_text import dates_text
from dbt_graft.lineage.dates.period import Period, PeriodEvidence

# Airflow's name for the date of a run.
_DATE = "ds"
_FILES = (".sh", ".bash")  # Airflow takes a command that ends so for the name of a template

_ASKED = "Run this in a shell of Airflow, wait for its end, then mark this task as success:"


def reprocessing_dag(
    plan: TaintPlan, steps: Sequence[RerunStep], settings: DagSettings
) -> dict[str, str]:
    """File name -> content of the DAG, one task after the other in the order of the plan.

    A task of the plan without a command is a mark in the order. Airflow 3 lets no task reach its
    database: one that would clear others fails there, and says what to run before it is marked as
    success. So does one whose command needs dates that are not known.
    """
    begin = plan.bad[0].dataset.short if plan.bad else "data"
    names = [step.rerun.name or "unknown writer" for step in steps]
    ids = unique_identifiers(names)
    tasks: list[PlannedTask] = []
    for step, name in zip(steps, names, strict=True):
        dependencies = (tasks[-1].task_id,) if tasks else ()
        tasks.append(_task(step, ids[name], dependencies, settings))
    dag = PlannedDag(
        identifier(f"{settings.name}_reprocess_{begin}", 80),
        tuple(tasks),
        schedule="@once",
        tags=("lineage", "reprocessing"),
        description=one_line(f"Runs again what bad data of {begin} went into"),
    )
    return files(documents([dag], settings), settings.name)


def _task(
    step: RerunStep, task_id: str, dependencies: tuple[str, ...], settings: DagSettings
) -> PlannedTask:
    rerun = step.rerun
    lines = [f"Dates: {dates_text(rerun.dates, rerun.grain)}."]
    lines += [" -> ".join(map(code, output.path)) for output in rerun.outputs]
    lines += [one_line(note) for note in (step.url, step.note) if note]
    arguments: Mapping[str, str | int] = {}
    is_asked = (step.is_clearing and settings.version >= 3) or _is_open_command(step)
    if step.commands and is_asked:
        question = "\n".join((_ASKED, *step.commands))
        text = f"printf '%s\\n' {shlex.quote(without_jinja(question))}; exit 1"
        arguments = {"bash_command": text, "retries": 0}
    elif step.commands:
        command = _one_after_the_other(step.commands)
        text = without_jinja(command)
        ends = command.endswith(_FILES)
        arguments = {"bash_command": f"{text}{{{{ '' }}}}" if ends else text}
    periods = _periods(step) if task_id == rerun.name else {}
    return PlannedTask(
        task_id,
        (rerun.name,),
        (BASH if step.commands else EMPTY)[settings.version],
        arguments,
        dependencies=dependencies,
        writes=tuple(periods),
        periods=periods,
        owner=one_line(rerun.info.owner),
        doc=without_jinja("\n\n".join(lines)),
    )


def _one_after_the_other(commands: Sequence[str]) -> str:
    """Commands as one, which ends with the first that fails."""
    if len(commands) > 1 and any("\n" in command or "#" in command for command in commands):
        # What is written behind a comment or a here-document would be a part of it.
        return " && ".join(f"(\n{command}\n)" for command in commands)
    return " && ".join(commands)


def _is_open_command(step: RerunStep) -> bool:
    """Whether people must fill in the dates of its own command."""
    is_dated = names_in(step.rerun.info.rerun) & DATE_NAMES
    return bool(is_dated) and is_open(step.rerun.dates)


def _periods(step: RerunStep) -> dict[DatasetId, tuple[Period, ...]]:
    """The dates that a task's own command writes of each output: it runs on another day.

    A command that takes no dates tells none.
    """
    takes_dates = names_in(step.rerun.info.rerun) & DATE_NAMES
    if not takes_dates or not step.commands or _is_open_command(step):
        return {}
    return {
        output.dataset: tuple(
            Period(moment_of(start), moment_of(end), output.grain, PeriodEvidence.PREDICATE, _DATE)
            for start, end in output.dates.ranges
        )
        for output in step.rerun.outputs
    }
