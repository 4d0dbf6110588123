"""dbt's descriptions of datasets and consumers, for the catalog and the exporters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from dbt_graft.injector import inherited
from dbt_graft.injector.dbt_lineage import exposures
from dbt_graft.injector.manifest import Node, all_nodes, owner, parents, string_tags
from dbt_graft.injector.plan import GraftPlan
from dbt_graft.injector.relations import Relations
from dbt_graft.injector.selection_methods import selections
from dbt_graft.injector.sensitivity import column_labels, labels
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.describe import Consumer, Description, NodeTest, Role
from dbt_graft.lineage.described import task_consumer
from dbt_graft.lineage.model import Lineage
from dbt_graft.lineage.records import ColumnMetadata
from dbt_graft.lineage.redaction import redact_text


def descriptions(
    grafted: Node, original: Node, relations: Relations, graft_plan: GraftPlan, lineage: Lineage
) -> dict[DatasetId, Description]:
    """Return the description of each dataset that dbt knows after the graft.

    Texts are those of the dbt project, without links of ours and without secrets.

    Args:
        relations: The relations of the original manifest.
    """
    report = graft_plan.report
    clean = cache(redact_text)  # many columns have the same text
    roles = {
        **dict.fromkeys((built.node_id for built in report.promoted), Role.PROMOTED),
        **dict.fromkeys((built.node_id for built in report.added), Role.ADDED),
        **dict.fromkeys((source.node_id for source in report.new_sources), Role.NEW_SOURCE),
    }
    origins = {built.node_id: built.sources for built in report.promoted}
    tasks = {built.node_id: built.tasks for built in report.models}
    tests = tests_by_node(grafted)
    inner_tests = inner_tests_by_node(original, relations, tests)
    selected_by = selections({key: original["nodes"][key] for key in relations.builders.values()})
    descriptions_by_dataset = {}
    for dataset, node_id in sorted(graft_plan.nodes.items()):
        node = grafted["nodes"].get(node_id) or grafted["sources"][node_id]
        originals = [_written_by_dbt(original, key) for key in origins.get(node_id, (node_id,))]
        first = originals[0]
        # Several models may be one table, and a seed or model may be a source too.
        dbt_ids = dict.fromkeys(
            (
                *origins.get(node_id, (node_id,)),
                *relations.rivals.get(dataset, ()),
                *relations.sources.get(dataset, ()),
            )
        )
        # Each of them may label it.
        described = [_written_by_dbt(original, key) for key in dbt_ids]
        tested = {test.node_id: test for key in (node_id, *dbt_ids) for test in tests[key]}
        inner = {test.node_id: test for key in dbt_ids for test in inner_tests.get(key, ())}
        owner_names = inherited.owners(dataset, tasks.get(node_id, ()), lineage, original)
        metadata = lineage.dataset_metadata.get(dataset)
        text = str(first.get("description") or first.get("source_description") or "")
        columns = inherited.event_columns(dataset, lineage)
        event_tags = inherited.event_tags(dataset, lineage, originals)
        tags = tuple(dict.fromkeys(map(clean, (*string_tags(node), *event_tags))))
        descriptions_by_dataset[dataset] = Description(
            dataset=dataset,
            node_id=node_id,
            name=str(node["name"]),
            role=roles.get(node_id) or Role(str(node["resource_type"])),
            text=clean(text or (metadata.description if metadata else "")),
            owner=clean(owner(first, original) or next(iter(owner_names), "")),
            tags=tags,
            columns=inherited.column_texts(
                {
                    str(name): clean(str(column.get("description") or ""))
                    for name, column in inherited.merge_field(originals, "columns").items()
                },
                columns,
            ),
            tests=tuple(sorted(tested.values(), key=lambda test: (test.column, test.name))),
            inner_tests=tuple(sorted(inner.values(), key=lambda test: (test.model, test.name))),
            dbt_ids=tuple(dbt_ids),
            # Events label it beside dbt. Tags that the graft gives a node are of its tasks.
            labels=labels([*described, {"tags": metadata.tags if metadata else ()}]),
            column_labels=_with_tag_labels(column_labels(described), columns),
            is_checked_for_freshness=any(map(_has_freshness, described)),
            selection=selected_by.get(node_id, ""),
        )
    return descriptions_by_dataset


def consumers(
    original: Node, relations: Relations, graft_plan: GraftPlan, lineage: Lineage
) -> tuple[Consumer, ...]:
    """Return dbt's exposures, then the tasks that only read, both sorted by id."""
    readers = [
        task_consumer(lineage, exposure.task, exposure.node_id)
        for exposure in graft_plan.report.exposures
    ]
    return (*exposures(original, relations), *sorted(readers, key=lambda c: c.node_id))


def _written_by_dbt(original: Node, node_id: str) -> Mapping[str, Any]:
    """Return a node as dbt wrote it; empty for a node of the graft."""
    node: Mapping[str, Any] = (
        original["nodes"].get(node_id) or original["sources"].get(node_id) or {}
    )
    return node


def _has_freshness(node: Mapping[str, Any]) -> bool:
    """Whether dbt may check a source: without limits it writes empty ones."""
    limits = node.get("freshness") or {}
    both = (limits.get("warn_after"), limits.get("error_after"))
    return any(isinstance(limit, Mapping) and limit.get("count") is not None for limit in both)


def tests_by_node(manifest: Node) -> dict[str, list[NodeTest]]:
    """Return the tests of each node; a singular test is one of every node that it reads."""
    tests: dict[str, list[NodeTest]] = defaultdict(list)
    for node_id, node in (
        *manifest["nodes"].items(),
        *(manifest.get("unit_tests") or {}).items(),
    ):
        if node.get("resource_type") not in ("test", "unit_test"):
            continue
        upstream, metadata = parents(node), node.get("test_metadata") or {}
        if node.get("attached_node"):
            upstream = [node["attached_node"]]
        elif metadata:
            last = metadata.get("name") == "relationships"
            upstream = upstream[-1:] if last else upstream[:1]
        column = node.get("column_name") or (metadata.get("kwargs") or {}).get("column_name")
        name = str(metadata.get("name") or node.get("name") or "")
        test = NodeTest(node_id, name, column.strip('"`[]') if isinstance(column, str) else "")
        for parent in set(upstream):
            tests[parent].append(test)
    return tests


def inner_tests_by_node(
    manifest: Node, relations: Relations, tests: Mapping[str, Sequence[NodeTest]]
) -> dict[str, list[NodeTest]]:
    """Node -> the tests of ephemeral models that it reads: their rows are in its own relation."""
    inner: dict[str, list[NodeTest]] = defaultdict(list)
    everything = all_nodes(manifest)
    for node_id in relations.datasets:
        waiting, seen = [*parents(everything[node_id])], set[str]()
        while waiting:
            key = waiting.pop()
            node = manifest["nodes"].get(key)
            if node is None or key in relations.datasets or key in seen:
                continue
            seen.add(key)
            waiting += parents(node)
            model = str(node.get("name"))
            inner[node_id] += (replace(test, column="", model=model) for test in tests.get(key, ()))
    return inner


def _with_tag_labels(
    in_dbt: Mapping[str, tuple[str, ...]], columns: Mapping[str, ColumnMetadata]
) -> dict[str, tuple[str, ...]]:
    """Column -> its labels; those of dbt win over the tags of events."""
    known = {name.casefold() for name in in_dbt}
    tagged = {
        column.name: labels([{"tags": column.tags}])
        for key, column in columns.items()
        if key not in known
    }
    return {**in_dbt, **{name: texts for name, texts in tagged.items() if texts}}
