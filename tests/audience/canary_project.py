"""A project in which each resource of each classification has canaries in all its strings.

Those labelled `public` have other words, which everybody may see; beside them stand the names of
hidden ones.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml
from click.testing import CliRunner, Result

from dbt_graft.collectors.checked_yaml import json_schema
from dbt_graft.collectors.contracts.document import ContractDocument
from dbt_graft.collectors.declared.document import Document as DeclaredDocument
from dbt_graft.collectors.store.arrow_tables import tables
from dbt_graft.collectors.store.commit import commit
from dbt_graft.collectors.store.tables import Collected
from dbt_graft.graft.commands.cli import main
from dbt_graft.graft.project.config import ConfigFile
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import (
    Access,
    ColumnEdge,
    Dataset,
    DatasetMetadata,
    Direction,
    EdgeType,
    Records,
    Reject,
    Run,
    Shape,
    Subtype,
    TaskMetadata,
)
from tests.audience.canaries import AT, SEEN, Canaries, SchemaWalk, filled_record
from tests.audience.canary_artifacts import (
    BELONGINGS,
    Resources,
    empty_artifacts,
    labelled_kinds,
)
from tests.collectors.openlineage.events import records, results_of, written
from tests.exporters.openlineage.conformance import schemas
from tests.injector.index.index_of_dbt import write_index
from tests.injector.page_of_dbt_2 import write_page

LABELS = ("internal", "confidential", "pii", "restricted_pii", "secret")
UNLABELLED, PUBLIC = "unlabelled", "public"
# Labels of the resources that public ones name.
_NAMED = ("secret", UNLABELLED)
# Times of tasks have forms of their own.
_TIMES = {"deadline": "08:00", "freshness_slo": "2h"}
_CONFIG = SchemaWalk(json_schema(ConfigFile))
_DECLARED = SchemaWalk(json_schema(DeclaredDocument))
_CONTRACT = SchemaWalk(json_schema(ContractDocument), depth=2)
_FACETS = ("Run", "Job", "InputDataset", "OutputDataset", "Dataset")


@dataclass
class CanaryProject:
    """The project, and what its canaries belong to.

    Attributes:
        hidden: Label -> its canaries, each with its field.
        names: Label -> the canaries that are names of its tables: who sees them sees these first.
        seen: Names and descriptions of public tables, each with its field.
    """

    folder: Path
    hidden: dict[str, dict[str, str]] = field(default_factory=dict)
    names: dict[str, set[str]] = field(default_factory=dict)
    seen: dict[str, str] = field(default_factory=dict)


def canary_project(
    folder: Path, site: Mapping[str, Any], labels: Collection[str] = (*LABELS, UNLABELLED)
) -> CanaryProject:
    """Write the project and collect what it has; `graft site` publishes it.

    Args:
        site: The section `site` of graft.yml.
        labels: The labels of which it has hidden resources.
    """
    owners = {
        label: Resources(Canaries(label), "" if label == UNLABELLED else label) for label in labels
    }
    naming = {label: _naming(owners[label]) for label in _NAMED if label in owners}
    public = [Resources(Canaries(PUBLIC, SEEN), PUBLIC), *naming.values()]
    (folder / "target").mkdir(parents=True)
    _write_artifacts(folder, public[0], owners, naming)
    _write_yaml(folder, [*public, *owners.values()], site)
    done = graft(folder, "collect")
    assert done.exit_code == 0, done.output
    logs: list[Collected] = []
    for number, resources in enumerate([*public, *owners.values()]):
        path = written(folder / f"{number}.jsonl", *_events(resources.canaries))
        for name, part in (
            ("log", _logged(resources.canaries)),
            ("events", records(results_of(path))),
        ):
            logs.append(tables(part, {f"{name} {number}": "1"}))
    commit(str(folder / ".graft/store"), logs)
    tabled = ("Model", "Seed", "Snapshot", "SourceDefinition")
    seen = [f"{title}.{name}" for title in tabled for name in ("name", "description")]
    return CanaryProject(
        folder,
        {label: resources.canaries.fields for label, resources in owners.items()},
        {
            label: {resources.name_of(title) for title in tabled}
            for label, resources in owners.items()
        },
        {public[0].canaries.name(path): path for path in seen},
    )


def graft(folder: Path, *arguments: str) -> Result:
    """Run a command in a folder."""
    command, *others = arguments
    return CliRunner().invoke(main, [command, "-c", str(folder / "graft.yml"), *others])


def _naming(hidden: Resources) -> Resources:
    """Public resources whose strings all name a table and a column that are hidden."""
    column = hidden.canaries.name("hidden column") if hidden.label else hidden.column_of("Model")
    beside = f"{hidden.name_of('Model')} {column}"
    return Resources(Canaries(f"public, beside {hidden.canaries.owner}", SEEN, beside), PUBLIC)


def _write_artifacts(
    folder: Path,
    public: Resources,
    owners: Mapping[str, Resources],
    naming: Mapping[str, Resources],
) -> None:
    artifacts = empty_artifacts()
    for resources in (public, *naming.values()):
        artifacts.add(resources)
    for label, resources in owners.items():
        artifacts.add(resources, labelled_kinds() if resources.label else None)
        artifacts.add_variants(resources)
        canaries = resources.canaries
        belongings = Canaries(f"{canaries.owner}, unlabelled", fields=canaries.fields)
        artifacts.add(Resources(belongings, "", resources), BELONGINGS)
        if resources.label:
            artifacts.add_hidden_column(naming.get(label, public), resources)
        else:
            artifacts.add_rest(canaries)
    for document in fields(artifacts):
        path = folder / f"target/{document.name}.json"
        path.write_text(json.dumps(getattr(artifacts, document.name)))
    _write_index(folder / "target", artifacts.manifest, artifacts.catalog)
    write_page(folder / "target")


def _write_index(target: Path, manifest: dict[str, Any], catalog: dict[str, Any]) -> None:
    """Write what dbt 2 has: of each part of the manifest a table with all fields."""
    more = {
        f"dbt__{part}": [
            {key: json.dumps(value) for key, value in entry.items()}
            for entry in manifest[part].values()
        ]
        for part in ("macros", "metrics", "semantic_models", "saved_queries", "unit_tests", "docs")
    }
    write_index(target, manifest, catalog, **more)


def _write_yaml(folder: Path, owners: Iterable[Resources], site: Mapping[str, Any]) -> None:
    document: dict[str, Any] = {"version": 1, "tasks": {}, "consumers": {}, "datasets": {}}
    rules, contracts, tasks = [], [], {}
    for number, resources in enumerate(owners):
        for part, content in _declared(resources.canaries).items():
            document[part] |= content
        if resources.label:
            rules += [
                {"tables": f"{resources.canaries.name(f'{name} schema')}.*", "is": resources.label}
                for name in ("declared", "logged", "event")
            ]
        entry = _CONFIG.filled(_CONFIG.document["$defs"]["CodedTask"], resources.canaries, "entry")
        tasks[resources.canaries.name("task")] = entry | _TIMES
        contracts.append(f"contract_{number}.yml")
        (folder / contracts[-1]).write_text(yaml.safe_dump(_contract(resources)))
    (folder / "lineage.yml").write_text(yaml.safe_dump(document))
    config = {
        "collect": [{"declared": {"path": "lineage.yml"}}],
        "contracts": contracts,
        "tasks": tasks,
        "privacy": {"tables": rules},
        "site": dict(site),
    }
    (folder / "graft.yml").write_text(yaml.safe_dump(config))


def _declared(canaries: Canaries) -> dict[str, Any]:
    """A task, a consumer and the dates of a dataset, in declared lineage."""
    schema, parts = canaries.name("declared schema"), _DECLARED.document["$defs"]
    source, target = (f"spark/{schema}.{canaries.name(f'declared {x}')}" for x in ("in", "out"))
    task, consumer, dates = (
        _DECLARED.filled(parts[name], canaries, name)
        for name in ("DeclaredTask", "DeclaredConsumer", "DeclaredPeriods")
    )
    column = canaries.name("declared column")
    flow = {
        "from": [source],
        "to": [target],
        "columns": {target: {column: [{"column": f"{source}.{column}", "masking": False}]}},
    }
    reader = consumer | _TIMES | {"reads": [target]}
    return {
        "tasks": {canaries.name("DeclaredTask name"): task | _TIMES | {"flows": [flow]}},
        "consumers": {canaries.name("DeclaredConsumer name"): reader},
        "datasets": {target: dates | {"reads": {source: [0, 0]}, "estimated": {}, "completed": {}}},
    }


def _contract(resources: Resources) -> dict[str, Any]:
    """A contract about the model of the resources, with their label on each column."""
    contract: dict[str, Any] = _CONTRACT.filled(_CONTRACT.document, resources.canaries, "contract")
    contract |= {"kind": "DataContract", "apiVersion": "v3.1.0", "status": "active"}
    contract["servers"] = [{"schema": resources.schema_of("Model")}]
    for table in contract["schema"]:
        table["physicalName"] = resources.name_of("Model")
    _classify(contract, resources.label)
    return contract


def _classify(content: Any, label: str) -> None:
    """Write the label into each column of a contract, at any depth."""
    if isinstance(content, dict):
        if "classification" in content:
            content["classification"] = label
        content = [*content.values()]
    if isinstance(content, list):
        for part in content:
            _classify(part, label)


def _logged(canaries: Canaries) -> Records:
    """The records that logs of any engine may bring: a run that copies a table."""
    schema = canaries.name("logged schema")
    source, target = (DatasetId("spark", f"{schema}.{canaries.name(x)}") for x in ("from", "to"))
    keys = {name: canaries.name(name) for name in ("task", "run_id", "shape_id", "origin")}

    def filled(kind: type, /, **fixed: Any) -> Any:
        names = {part.name for part in fields(kind)}
        own = {name: text for name, text in keys.items() if name in names}
        return filled_record(kind, canaries, kind.__name__, **own | fixed)

    table = {"kind": Kind.TABLE, "periods": (), "positions": ()}
    read = {"dataset": source, "direction": Direction.READ, "operation": Operation.SELECT}
    write = {"dataset": target, "direction": Direction.WRITE, "operation": Operation.INSERT}
    ends = {"from_dataset": source, "to_dataset": target}
    identity = {"type": EdgeType.DIRECT, "subtype": Subtype.IDENTITY, "ordinal": "1/1"}
    return Records(
        accesses=(filled(Access, **table | read), filled(Access, **table | write)),
        runs=(filled(Run),),
        shapes={keys["shape_id"]: filled(Shape)},
        datasets=(
            filled(Dataset, id=source, symlinks=(DatasetId("hive", canaries.name("symlink")),)),
            filled(Dataset, id=target, symlinks=()),
        ),
        rejects=() if canaries.owner in LABELS else (filled(Reject),),
        column_edges=(filled(ColumnEdge, **ends | identity),),
        task_metadata=(filled(TaskMetadata),),
        dataset_metadata=(filled(DatasetMetadata, dataset=target),),
    )


def _events(canaries: Canaries) -> Iterator[dict[str, Any]]:
    """The events of a run, with all facets of OpenLineage's spec."""
    documents = schemas()
    facets: dict[str, dict[str, Any]] = {owner: {} for owner in ("", *_FACETS)}
    for address, document in documents.items():
        owners = (owner for owner in _FACETS if address.endswith(f"{owner}Facet.json"))
        walk = SchemaWalk(document, documents)
        facet = facets[next(owners, "")]
        for name, part in document.get("properties", {}).items():
            facet[name] = walk.filled(part, canaries, f"facet {name}")
    core = next(text for address, text in documents.items() if address.endswith("OpenLineage.json"))
    walk = SchemaWalk(core, documents)
    event = walk.filled(core["$defs"]["RunEvent"], canaries, "event")
    event["run"]["facets"], event["job"]["facets"] = facets["Run"], facets["Job"]
    for part in ("input", "output"):
        event[f"{part}s"] = [
            {
                "namespace": "spark",
                "name": f"{canaries.name('event schema')}.{canaries.name(f'event {part}')}",
                "facets": facets["Dataset"],
                f"{part}Facets": facets[f"{part.title()}Dataset"],
            }
        ]
    for state in ("START", "COMPLETE"):
        yield {**event, "eventType": state, "eventTime": AT.isoformat()}
