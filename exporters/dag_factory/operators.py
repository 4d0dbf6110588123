"""The operator of a task and its arguments, from the command that `graft.yml` has for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from dbt_graft.exporters.dag_factory.order import DemandedOrder, OrderedNode
from dbt_graft.exporters.dag_factory.settings import DagSettings, DbtTasks, TaskCommand
from dbt_graft.exporters.dag_factory.templates import Values, fill_argument, fill_command, fill_text
from dbt_graft.exporters.dag_factory.units import WorkUnit
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.frozen import frozen

SENSOR = "graft_airflow.LineageSensor"
_COSMOS = "cosmos.operators.local.DbtBuildLocalOperator"
# Airflow's major version -> import path.
BASH = {
    2: "airflow.operators.bash.BashOperator",
    3: "airflow.providers.standard.operators.bash.BashOperator",
}
EMPTY = {
    2: "airflow.operators.empty.EmptyOperator",
    3: "airflow.providers.standard.operators.empty.EmptyOperator",
}


@frozen
class AirflowOperator:
    """An operator's class and its arguments."""

    path: str
    arguments: Mapping[str, Any]


def command_of(unit: WorkUnit, settings: DagSettings) -> TaskCommand | None:
    """The entry of `commands` for a unit; None where none fits.

    One command builds a level of dbt's nodes: the first that is for no task in particular.
    """
    if unit.is_dbt and settings.dbt is DbtTasks.LEVELS:
        return next(
            (
                command
                for command in settings.commands
                if not command.task and command.matches(unit.nodes[0])
            ),
            None,
        )
    return settings.command(unit.nodes[0])


def selections(order: DemandedOrder) -> dict[str, str]:
    """The selection of each node of dbt, by its unique_id."""
    return {node.name: node.selection or node.label for node in order.nodes.values() if node.is_dbt}


def operator_of(
    unit: WorkUnit,
    command: TaskCommand,
    settings: DagSettings,
    selection: Mapping[str, str],
    task_id: str,
) -> AirflowOperator:
    """The operator that runs a unit.

    Raises:
        GraftError: The command has no value for a name in it, or runs nothing.
    """
    common: dict[str, Any] = {}
    if command.pool:
        common["pool"] = command.pool
    if command.retries is not None:
        common["retries"] = command.retries
    if command.external is True:
        return AirflowOperator(EMPTY[settings.version], {})
    values = _values(unit, selection, task_id)
    arguments = fill_argument(dict(command.arguments), values)
    if unit.is_dbt and settings.dbt is DbtTasks.COSMOS and not command.command:
        select = {"select": [selection[node.name] for node in unit.nodes]}
        return AirflowOperator(command.operator or _COSMOS, {**select, **arguments, **common})
    if not command.command:
        if not command.operator:
            raise GraftError(
                "its entry below `airflow.commands` has neither a command nor an operator",
                remedy="write `command:`, `operator:`, or `external: true`",
            )
        return AirflowOperator(command.operator, {**arguments, **common})
    bash: dict[str, Any] = {"bash_command": fill_command(command.command, values)}
    if command.env:
        env = {key: fill_text(value, values) for key, value in command.env.items()}
        # Without it the task has these variables and no others, not even PATH.
        bash |= {"env": env, "append_env": command.append_env}
    return AirflowOperator(
        command.operator or BASH[settings.version], {**bash, **arguments, **common}
    )


def _values(unit: WorkUnit, selection: Mapping[str, str], task_id: str) -> Values:
    first = unit.nodes[0]
    info = first.info
    values: dict[str, str | list[str]] = {"task": first.label, "task_id": task_id}
    if len(unit.nodes) == 1:
        values |= {"owner": info.owner, "schedule": info.schedule}
    if unit.is_dbt:
        models = [selection[node.name] for node in unit.nodes]
        names = [node.name for node in unit.nodes]
        return {
            **values,
            "model": models,
            "models": models,
            "unique_id": names,
            "package": _package(first),
        }
    repo_name = urlsplit(info.repo).path.rstrip("/").rpartition("/")[2].removesuffix(".git")
    return {**values, "path": info.path, "repo": info.repo, "repo_name": repo_name}


def _package(node: OrderedNode) -> str:
    return node.name.split(".")[1] if node.name.count(".") > 1 else ""
