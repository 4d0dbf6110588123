"""A planned DAG as dag-factory's YAML, and the file by which Airflow loads it.

dag-factory replaces `$NAME` in the text of its YAML by the variable of the process that reads it,
which is Airflow's, not the worker's: a dollar sign is written as an escape, so that the shell of
the task sees it. The loader has the words `airflow` and `dag`: Airflow passes over files without.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

import yaml

from dbt_graft.exporters.dag_factory.plan import DataAsset, PlannedDag, PlannedTask
from dbt_graft.exporters.dag_factory.settings import DagSettings
from dbt_graft.exporters.openlineage.run_facets import subset
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Direction

ASSET_SCHEME = "x-graft"
_ASSET = {2: "airflow.datasets.Dataset", 3: "airflow.sdk.Asset"}
_OPENLINEAGE_DATASET = "airflow.providers.common.compat.openlineage.facet.Dataset"
_OPENLINEAGE_OUTPUT = "openlineage.client.event_v2.OutputDataset"
# Airflow's limit of an asset's name and URI.
_LONGEST = 1500

_LOADER = '''\
{marker}
"""The Airflow DAG {dag_id}, from {yaml_file} beside this file."""

import os
from pathlib import Path

# dag-factory reports its use to its maker unless it is asked not to.
os.environ.setdefault("DO_NOT_TRACK", "1")

from dagfactory import load_yaml_dags  # noqa: E402

load_yaml_dags(
    globals_dict=globals(),
    config_filepath=str(Path(__file__).resolve().with_name("{yaml_file}")),
)
'''


def marker(name: str) -> str:
    """The first line of each file that an export writes: later ones replace the file.

    Args:
        name: `airflow.name` of graft.yml: exports of several projects may share a folder.
    """
    return f"# Written by `graft export dag-factory` ({name}) from lineage: do not edit."


def files(documents: Mapping[str, Mapping[str, Any]], name: str) -> dict[str, str]:
    """File name -> content: for each DAG its YAML, and the Python file that loads it.

    Args:
        documents: Id of a DAG -> its keys in dag-factory's YAML.
    """
    contents = {}
    for dag_id, document in documents.items():
        yaml_file = f"{dag_id}_dag.yml"
        contents[yaml_file] = f"{marker(name)}\n{_dump_yaml({dag_id: document})}"
        contents[f"{dag_id}_dag.py"] = _LOADER.format(
            marker=marker(name), dag_id=dag_id, yaml_file=yaml_file
        )
    return contents


def asset_uri(asset: DataAsset) -> str:
    """`x-graft://spark/raw.orders`: Airflow has no rules for this scheme, and so no objections."""
    name = f"{asset.dataset.namespace}/{asset.dataset.name}"
    writer = f"?writer={quote(asset.writer, safe='')}" if asset.writer else ""
    return f"{ASSET_SCHEME}://{quote(name, safe='/.-_~')}{writer}"


def documents(dags: Iterable[PlannedDag], settings: DagSettings) -> dict[str, dict[str, Any]]:
    """Id of a DAG -> its keys in dag-factory's YAML."""
    return {dag.dag_id: _document(dag, settings) for dag in dags}


def _document(dag: PlannedDag, settings: DagSettings) -> dict[str, Any]:
    arguments: dict[str, Any] = {"start_date": settings.start_date.isoformat()}
    if settings.retries is not None:
        arguments["retries"] = settings.retries
    if settings.retry_delay is not None:
        arguments["retry_delay"] = {
            "__type__": "datetime.timedelta",
            "seconds": settings.retry_delay,
        }
    if settings.pool:
        arguments["pool"] = settings.pool
    waits_for = [_asset(asset, settings.version) for asset in dag.waits_for]
    head: dict[str, Any] = {
        "default_args": {**arguments, **settings.default_args},
        "description": dag.description,
        # Without one, Airflow 2 would run it daily.
        "schedule": {"__and__": waits_for} if waits_for else dag.schedule or "none",
        "catchup": False,
        "max_active_runs": 1,
        **settings.dag_args,
    }
    if dag.tags:
        head["tags"] = list(dag.tags)
    if dag.groups:
        head["task_groups"] = [
            {"group_name": group, "tooltip": tooltip} for group, tooltip in dag.groups.items()
        ]
    return {**head, "tasks": [_task(task, settings) for task in dag.tasks]}


def _task(task: PlannedTask, settings: DagSettings) -> dict[str, Any]:
    entry: dict[str, Any] = {"task_id": task.task_id, "operator": task.operator}
    if task.group:
        entry["task_group_name"] = task.group
    entry |= task.arguments
    if task.owner:
        entry["owner"] = task.owner
    if task.doc:
        entry["doc_md"] = task.doc
    assets = [_asset(asset, settings.version) for asset in task.announces]
    inlets = [_openlineage(dataset) for dataset in task.reads] if settings.lineage else []
    outlets = [_written(dataset, task) for dataset in task.writes] if settings.lineage else []
    if inlets:
        entry["inlets"] = inlets
    if outlets or assets:
        entry["outlets"] = [*outlets, *assets]
    if task.dependencies:
        entry["dependencies"] = list(task.dependencies)
    return entry


def _asset(asset: DataAsset, version: int) -> dict[str, str]:
    uri = asset_uri(asset)[:_LONGEST]
    entry = {"__type__": _ASSET[version], "uri": uri}
    return {**entry, "name": uri.removeprefix(f"{ASSET_SCHEME}://")} if version > 2 else entry


def _openlineage(dataset: DatasetId) -> dict[str, str]:
    return {
        "__type__": _OPENLINEAGE_DATASET,
        "namespace": dataset.namespace,
        "name": dataset.name,
    }


def _written(dataset: DatasetId, task: PlannedTask) -> dict[str, Any]:
    dates = subset(task.periods.get(dataset, ()), Direction.WRITE)
    if dates is None:
        return {**_openlineage(dataset)}
    return {
        **_openlineage(dataset),
        "__type__": _OPENLINEAGE_OUTPUT,
        "outputFacets": {"subset": dates},
    }


class _Dumper(yaml.SafeDumper):
    """Block style, equal values written out again, dollar signs as escapes."""

    def ignore_aliases(self, data: Any) -> bool:
        """No anchors: a person reads the file."""
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists below their key."""
        super().increase_indent(flow, False)


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if "$" in text else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _represent_mapping(dumper: yaml.SafeDumper, data: dict[str, Any]) -> yaml.MappingNode:
    """A typed value, such as an asset, in one line."""
    flow = "__type__" in data and not any(isinstance(value, dict | list) for value in data.values())
    return dumper.represent_mapping("tag:yaml.org,2002:map", data.items(), flow_style=flow)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(dict, _represent_mapping)


def _dump_yaml(document: Mapping[str, Any]) -> str:
    dumped = yaml.dump(
        document,
        Dumper=_Dumper,
        sort_keys=False,
        default_flow_style=False,
        width=1_000_000,
        allow_unicode=True,
    )
    # All of them stand in double quotes, where this is how YAML escapes one.
    return dumped.replace("$", "\\x24")
