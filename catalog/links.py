"""Links to datasets and columns.

Pages have hundreds of them, so they are joined here: a macro takes ten times as long. Addresses
need no escaping.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from markupsafe import Markup

from dbt_graft.catalog.columns import ColumnRow, DatasetColumns, LinkedColumn
from dbt_graft.catalog.formatting import EVIDENCE_OF_COLUMNS, count
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.markup import text
from dbt_graft.catalog.neighbourhood import box_shape
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Evidence
from dbt_graft.lineage.urls import column_anchor, dataset_path, task_path

_MAX_CONSUMERS = 20


def dataset_link(index: Index, dataset: DatasetId, root: str) -> Markup:
    """A link to a dataset; its identity on hover where the name leaves out a part of it."""
    short = dataset.short
    title = "" if short == dataset.name else f' title="{text(str(dataset))}"'
    return Markup(  # noqa: S704
        f'<a class="graft-name--{box_shape(index, dataset)}"'
        f' href="{root}{dataset_path(dataset)}index.html"{title}>{text(short)}</a>'
    )


def dataset_links(index: Index, datasets: Iterable[DatasetId], root: str) -> Markup:
    """Links to datasets, one after the other."""
    return Markup().join(dataset_link(index, dataset, root) for dataset in datasets)


def _column_link(index: Index, dataset: DatasetId, column: str, root: str, icon: bool) -> str:
    name, anchor = dataset.short, "columns"
    if column:
        name, anchor = f"{name}.{column}", column_anchor(column)
    look = f' class="graft-name--{box_shape(index, dataset)}"' if icon else ""
    return f'<a{look} href="{root}{dataset_path(dataset)}index.html#{anchor}">{text(name)}</a>'


def evidence_mark(evidence: Evidence) -> Markup:
    """A word for evidence that no log shows, explained on hover."""
    title = EVIDENCE_OF_COLUMNS[evidence]
    return Markup(f'<span class="graft-{evidence}" title="{title}">{evidence}</span>')  # noqa: S704


def linked_columns(
    index: Index,
    columns: Sequence[LinkedColumn],
    root: str,
    upstream: bool = True,
    marked: bool = True,
) -> Markup:
    """Columns at the other end of edges, with what is done with them.

    A list of which all is declared has one mark; what is inferred is marked line by line.

    Args:
        marked: What is declared has a mark; not where the heading has it.
    """
    declared = {one.evidence for one in columns} == {Evidence.DECLARED}

    def mark(evidence: Evidence) -> str:
        return "" if declared or evidence is Evidence.OBSERVED else f" {evidence_mark(evidence)}"

    found = []
    for one in columns:
        if one.usage or not upstream:
            decides = f"{one.decides} it" if one.decides else ""
            words = ", ".join(filter(None, (one.usage, decides)))
            link = _column_link(index, one.dataset, one.column, root, upstream)
            found.append(f"<div>{link} <small>{words}</small>{mark(one.evidence)}</div>")
    if upstream:
        only = [one for one in columns if not one.usage]
        for decides, same in groupby(sorted(only, key=_decides), _decides):
            for evidence, alike in groupby(sorted(same, key=_evidence), _evidence):
                links = ", ".join(
                    _column_link(index, one.dataset, one.column, root, upstream) for one in alike
                )
                found.append(f"<div><small>{decides}</small> {links}{mark(evidence)}</div>")
    if declared and marked:
        found.append(evidence_mark(Evidence.DECLARED))
    return Markup("".join(found))  # noqa: S704


def _decides(column: LinkedColumn) -> str:
    return column.decides


def _evidence(column: LinkedColumn) -> Evidence:
    return column.evidence


def feeds(index: Index, row: ColumnRow, root: str, marked: bool = True) -> Markup:
    """The columns, rows and consumers that a column feeds: their number, which unfolds."""
    columns, further = row.downstream, row.further
    counts = []
    if number := columns.columns + further.columns:
        counts.append(f"{'' if further.is_complete else 'over '}{count(number, 'column')}")
    if columns.rows:
        counts.append(f"rows of {count(columns.rows, 'dataset')}")
    counts += [
        count(len(names), kind, "analyses" if kind == "analysis" else "")
        for kind, names in further.consumers
    ]
    parts = [
        f"<details><summary>{text(', '.join(counts))}</summary>",
        linked_columns(index, columns.listed, root, upstream=False, marked=marked),
    ]
    if columns.omitted:
        parts.append(f"<div><small>and {columns.omitted:,} more</small></div>")
    if further.listed:
        listed = "; ".join(_columns_of(one, root) for one in further.listed)
        more = " and more" if further.omitted or not further.is_complete else ""
        parts.append(f"<div><small>further on:</small> {listed}{more}</div>")
    if further.consumers:
        links = ", ".join(_consumers(names, root) for _, names in further.consumers)
        parts.append(f"<div><small>read by</small> {links}</div>")
    return Markup("".join((*parts, "</details>")))  # noqa: S704


def _columns_of(columns: DatasetColumns, root: str) -> str:
    page = f"{root}{dataset_path(columns.dataset)}index.html"
    links = ", ".join(
        f'<a href="{page}#{column_anchor(name)}">{text(name)}</a>' for name in columns.columns
    )
    return f"{text(columns.dataset.short)} {links}"


def _consumers(names: Sequence[str], root: str) -> str:
    links = ", ".join(
        f'<a href="{root}{task_path(name)}index.html">{text(name)}</a>'
        for name in names[:_MAX_CONSUMERS]
    )
    more = len(names) - _MAX_CONSUMERS
    return f"{links} and {more:,} more" if more > 0 else links


def with_short_links(body: str, path: str) -> str:
    """The content of a page, its links to pages beside it without the way over the site's root.

    `../../../datasets/spark/orders/` is `../orders/` on the page `datasets/spark/items/`.
    """
    root = '="' + "../" * path.count("/")
    folders = path.split("/")[:-2]
    for depth in range(len(folders), 0, -1):
        prefix = root + "".join(f"{name}/" for name in folders[:depth])
        body = body.replace(prefix, '="' + "../" * (len(folders) + 1 - depth))
    return body
