"""Which column of what a command writes comes from which column of what it reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from collectors.spark.commands import Role
from collectors.spark.connectors import Target
from collectors.spark.databases import Database
from collectors.spark.jdbc import External, query_columns
from collectors.spark.parts import Part, plan_text
from collectors.spark.places import Places
from collectors.spark.plans.arguments import Attribute, attributes, identifier, split_arguments
from collectors.spark.plans.columns import UNKNOWN, Source, Trace, Use, Uses
from collectors.spark.plans.operators import trace_columns
from collectors.spark.plans.text import Operator, PlanText
from collectors.spark.rdds import scanned_rdd
from collectors.spark.scans import Scan, read_scan, scan_node
from collectors.spark.schema import is_plain
from lineage.dataset import DatasetId
from lineage.records import ANY_COLUMN, EdgeType, Subtype

_RELATIONS = frozenset(
    {"LogicalRelation", "HiveTableRelation", "Relation", "UnresolvedCatalogRelation"}
)
_FUNCTION = re.compile(r"\w+\((?:distinct )?(?P<of>[\w.*]+)\)", re.IGNORECASE)
_ENGINE_QUERY = "External engine query"


@dataclass(frozen=True, slots=True)
class Edge:
    """A column of a dataset that a statement reads has a part in one that it writes."""

    dataset: DatasetId
    column: str
    use: Use


@dataclass(frozen=True, slots=True)
class Reads:
    """What the application's scans read, by the ids of their columns."""

    places: Places
    scans: dict[int, Scan]

    def source(self, operator: Operator, columns: Iterable[Attribute]) -> Source | None:
        """What a leaf of a plan reads; None for one that reads nothing that lasts."""
        if scanned_rdd(operator) is not None or operator.kind == "LogicalRDD":
            return self._of_rdd(columns)
        scan = next((self.scans[one.id] for one in columns if one.id in self.scans), None)
        if scan is None and operator.kind in _RELATIONS:
            named = [identifier(a) for a in split_arguments(operator.arguments) if a[:1] == "`"]
            return Source((self.places.table(named[0]),)) if named else None
        if scan is None:
            try:
                scan = read_scan(scan_node(operator))
            except LookupError:
                return None
        return self._source(scan, operator) if scan else None

    def _of_rdd(self, columns: Iterable[Attribute]) -> Source | None:
        """A checkpoint keeps the columns that a scan gave; of others only the dataset is known."""
        found: dict[str, Uses] = {}
        known = True
        for one in columns:
            scan = self.scans.get(one.id)
            datasets = [dataset for dataset, _ in self.places.read(scan)] if scan else []
            known = known and not (scan and scan.bridged)
            name, how = one.name, Subtype.IDENTITY
            if scan and scan.bridged:
                name, how = ANY_COLUMN, Subtype.TRANSFORMATION
            found[one.name.casefold()] = frozenset(Use(dataset, name, how) for dataset in datasets)
        return Source(columns=found, is_known=known) if any(found.values()) else None

    def _source(self, scan: Scan, operator: Operator) -> Source:
        datasets = tuple(dataset for dataset, _ in self.places.read(scan))
        database = self.places.scan_database(scan)
        if query := operator.fields.get(_ENGINE_QUERY):
            found = _of_query(External(f"({query.strip()}) q"), database)
            if found.columns:
                return Source(datasets, found.columns, found.influences)
        if scan.external and scan.external.is_query:
            found = _of_query(scan.external, database)
            return Source(datasets, found.columns, found.influences, bool(found.columns))
        pushed = scan.external.pushed if scan.external else ()
        filters = {Use(d, name, Subtype.FILTER) for d in datasets for name in pushed}
        return Source(datasets, influences=frozenset(filters))


def _of_query(query: External, database: Database) -> Source:
    columns: dict[str, Uses] = {}
    influences: set[Use] = set()
    for one in query_columns(query, database):
        use = Use(one.dataset, one.from_column, one.subtype, one.masking)
        if one.column == ANY_COLUMN and one.subtype.type is EdgeType.INDIRECT:
            influences.add(use)
        else:
            name = one.column.casefold()
            columns[name] = columns.get(name, frozenset()) | {use}
    return Source(columns=columns, influences=frozenset(influences))


def column_edges(part: Part, reads: Reads) -> tuple[list[Edge], list[str]]:
    """The column edges of a command, and why some are missing where some are."""
    target = part.target
    if target is None or part.role not in (Role.INSERT, Role.WRAPPER, Role.SAVE, Role.VIEW):
        return [], []
    written = [dataset for dataset, _ in reads.places.written(target)]
    plans = list(_plans(part))
    if not (written and plans):
        return [], []
    edges: dict[Edge, None] = {}
    gaps: dict[str, None] = {}
    for plan, root, columns in plans:
        trace = trace_columns(plan, root, partial(_source, reads, part.role))
        gaps |= trace.gaps
        given = columns or trace.columns_of(root)
        for dataset in written:
            edges |= dict.fromkeys(_edges(dataset, target, given, trace, gaps))
    return list(edges), list(gaps)


def _source(
    reads: Reads, role: Role | None, operator: Operator, columns: list[Attribute]
) -> Source | None:
    """What an operator reads: a lasting view that another one stands on is what that one reads."""
    if operator.kind != "View":
        return reads.source(operator, columns)
    if role is not Role.VIEW:
        return None
    named = identifier(operator.arguments)
    return Source((reads.places.table(named),)) if len(named) > 1 else None


def _plans(part: Part) -> Iterator[tuple[PlanText, Operator, list[Attribute]]]:
    """The plans whose rows a command writes, and the columns it takes of them if that is said."""
    plan = plan_text(part.execution.text)
    command = part.operator
    if part.feeds:
        for feed in part.feeds:
            fed = plan_text(feed.execution.text)
            top = fed.optimised or fed.root
            if top is not None:
                given = top.fields.get("Input", "") if top.kind == "DeserializeToObject" else ""
                below = top.children[0] if given and top.children else top
                yield fed, below, attributes(given)
    elif command is not None and command.children and (inner := _logical(plan, part.name)):
        yield plan, inner.children[0], []
    elif command is not None and command.children:
        yield plan, command.children[0], part.inputs
    elif command is not None and part.role in (Role.VIEW, Role.SAVE):
        for inner in command.inside:
            for root in (*inner.inside, *inner.children):
                yield plan, root, []


def _logical(plan: PlanText, name: str) -> Operator | None:
    """The command in an extended text's logical plan, which says more than the physical one."""
    if plan.is_formatted or plan.optimised is None:
        return None
    found = [one for one in plan.optimised.walk() if one.kind == name and one.children]
    return found[0] if len(found) == 1 else None


def _edges(
    dataset: DatasetId,
    target: Target,
    columns: list[Attribute],
    trace: Trace,
    gaps: dict[str, None],
) -> Iterator[Edge]:
    named = len(target.columns) == len(columns)
    for at, one in enumerate(columns):
        uses = trace.known.get(one.id)
        if uses is None:
            gaps[UNKNOWN] = None
            continue
        name = target.columns[at] if named else one.name
        if _is_safe(name, uses):
            yield from (
                Edge(dataset, name, use) for use in sorted(uses) if _is_safe(use.column, ())
            )
    for use in sorted(trace.influences):
        if _is_safe(use.column, ()) and use.dataset != dataset:
            yield Edge(dataset, ANY_COLUMN, use)


def _is_safe(name: str, uses: Iterable[Use]) -> bool:
    """Whether a name holds no literal: it is plain, or a function of a column that is known."""
    if name == ANY_COLUMN or is_plain(name):
        return True
    found = _FUNCTION.fullmatch(name)
    if found is None:
        return False
    return found["of"] in ("1", "*") or any(use.column == found["of"] for use in uses)
