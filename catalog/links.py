"""Links to datasets and columns.

Pages have hundreds of them, so they are joined here: a macro takes ten times as long. Addresses
need no escaping.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby

from markupsafe import Markup

from dbt_graft.analysis.render.phrases import count
from dbt_graft.catalog.columns import ColumnRow, LinkedColumn
from dbt_graft.catalog.formatting import EVIDENCE_OF_COLUMNS
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.markup import external, text
from dbt_graft.catalog.neighbourhood import box_shape
from dbt_graft.lineage.code_lines import CodeLine
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.records import Evidence
from dbt_graft.lineage.urls import column_anchor, dataset_path, task_path

_MAX_CONSUMERS = 20


def name_beside(dataset: DatasetId, beside: DatasetId | None) -> str:
    """The name of a dataset on the page of another: without the schema that both have."""
    short = dataset.short
    if beside and (schema := place_of(dataset)) and schema == place_of(beside):
        return short.rpartition("/" if dataset.is_path else ".")[2]
    return short


@lru_cache(maxsize=1 << 16)  # a page shows the same names again and again
def place_of(dataset: DatasetId) -> tuple[str, str] | None:
    """The place of a dataset: its namespace and its schema or folder, if it has one."""
    namespace, name = dataset.key
    above = name.rpartition("/" if dataset.is_path else ".")[0]
    return (namespace, above) if above else None


def dataset_link(
    index: Index, dataset: DatasetId, root: str, beside: DatasetId | None = None
) -> Markup:
    """A link to a dataset; its identity on hover where the name leaves out a part of it.

    Args:
        beside: The dataset whose page it is: its schema goes without saying.
    """
    name, title = text(name_beside(dataset, beside)), identity_title(dataset)
    facts = index.datasets.get(dataset)
    if facts and facts.dropped_at:
        name, title = Markup("<s>{}</s>").format(name), f' title="{text(f"{dataset}, dropped")}"'
    return Markup(  # noqa: S704
        f'<a class="g-{box_shape(index, dataset)}"'
        f' href="{root}{dataset_path(dataset)}index.html"{title}>{name}</a>'
    )


def identity_title(dataset: DatasetId) -> str:
    return "" if dataset.short == dataset.name else f' title="{text(str(dataset))}"'


def evidence_mark(evidence: Evidence) -> Markup:
    """A word for evidence that no log shows, explained on hover."""
    title = EVIDENCE_OF_COLUMNS[evidence]
    return Markup(f'<span class="graft-{evidence}" title="{title}">{evidence}</span>')  # noqa: S704


def linked_columns(
    columns: Sequence[LinkedColumn],
    root: str,
    beside: DatasetId | None = None,
    upstream: bool = True,
    marked: bool = True,
    column: str = "",
) -> Markup:
    """Columns at the other end of edges, grouped by what is done with them.

    A list of which all is declared has one mark; what is inferred is marked group by group.

    Args:
        beside: The dataset whose page it is: its schema goes without saying.
        column: The column whose row it is: so does its name where the other has the same.
        marked: What is declared has a mark; not where the heading has it.
    """
    groups: dict[tuple[str, CodeLine | None, Evidence], list[str]] = defaultdict(list)
    for linked in columns:
        link = _column_link(linked, root, beside, column)
        groups[_words(linked, upstream), linked.line, linked.evidence].append(link)
    declared = {evidence for _, _, evidence in groups} == {Evidence.DECLARED}
    lines = []
    for (words, line, evidence), links in groups.items():
        is_seen = evidence in (Evidence.OBSERVED, Evidence.CODE)  # of code the line is named
        mark = "" if declared or is_seen else f" {evidence_mark(evidence)}"
        place = f" <small>in {code_line(line)}</small>" if line else ""
        lines.append(f"<small>{words}</small> {', '.join(links)}{place}{mark}")
    mark = f" {evidence_mark(Evidence.DECLARED)}" if declared and marked else ""
    return Markup("<br>".join(lines) + mark)  # noqa: S704


def _words(column: LinkedColumn, upstream: bool) -> str:
    """The words for what is done with a column, before the links to all of which they are true."""
    if upstream and not column.usage:
        return column.decides
    decides = f"{column.decides} it" if column.decides else ""
    return ", ".join(filter(None, (column.usage, decides))) + ":"


def code_line(line: CodeLine) -> Markup:
    """A line of code, as a link where its repository is known."""
    url = external(line.url)
    if not url:
        return text(line.text)
    return Markup('<a href="{}" rel="noopener">{}</a>').format(url, line.text)


def _column_link(linked: LinkedColumn, root: str, beside: DatasetId | None, row_column: str) -> str:
    dataset, column = linked.dataset, linked.column
    name, anchor = name_beside(dataset, beside), "columns"
    if column:
        anchor = column_anchor(column)
        if column != row_column:
            name = f"{name}.{column}"
    return f'<a href="{root}{dataset_path(dataset)}index.html#{anchor}">{text(name)}</a>'


def feeds(
    row: ColumnRow, root: str, beside: DatasetId | None = None, marked: bool = True
) -> Markup:
    """The columns, rows and consumers that a column feeds: their number, which unfolds.

    Those further on are counted; the site's script completes that to a link to the explorer, which
    needs a script anyway.
    """
    columns, further = row.downstream, row.further
    counts = []
    over = "" if further.is_complete else "over "
    if number := columns.columns + further.columns:
        counts.append(f"{over}{count(number, 'column')}")
    if columns.rows:
        counts.append(f"rows of {count(columns.rows, 'dataset')}")
    counts += [
        count(len(names), kind, "analyses" if kind == "analysis" else "")
        for kind, names in further.consumers
    ]
    listed = linked_columns(columns.listed, root, beside, False, marked, row.name)
    lines = [listed]
    if columns.omitted:
        lines.append(Markup(f"and {columns.omitted:,} more"))  # noqa: S704
    if further.columns:
        words = f"{over}{further.columns:,} further on"
        lines.append(Markup(f'<a data-steps="{further.steps}">{words}</a>'))  # noqa: S704
    if further.consumers:
        links = ", ".join(_consumers(names, root) for _, names in further.consumers)
        lines.append(Markup(f"<small>read by</small> {links}"))  # noqa: S704
    summary = f"<summary>{text(', '.join(counts))}</summary>"
    return Markup(f"<details>{summary}{'<br>'.join(filter(None, lines))}</details>")  # noqa: S704


def _consumers(names: Sequence[str], root: str) -> str:
    links = ", ".join(
        f'<a href="{root}{task_path(name)}index.html">{text(name or "(no name)")}</a>'
        for name in names[:_MAX_CONSUMERS]
    )
    omitted = len(names) - _MAX_CONSUMERS
    return f"{links} and {omitted:,} more" if omitted > 0 else links


def shorten_links(body: str, path: str) -> str:
    """The content of a page, its links to pages beside it without the way over the site's root.

    `../../../datasets/spark/orders/` is `../orders/` on the page `datasets/spark/items/`.
    """
    root = '="' + "../" * path.count("/")
    folders = path.split("/")[:-2]
    for depth in range(len(folders), 0, -1):
        prefix = root + "".join(f"{name}/" for name in folders[:depth])
        body = body.replace(prefix, '="' + "../" * (len(folders) + 1 - depth))
    return body


class StepLinks:
    """The links to datasets by their number in `steps`."""

    def __init__(self, index: Index, datasets: Sequence[DatasetId]) -> None:
        schemas: dict[object, object] = {}
        self._shapes = [box_shape(index, dataset) for dataset in datasets]
        self._places = [schemas.setdefault(schema, schema) for schema in map(place_of, datasets)]
        self._links = [_link(dataset, dataset.short) for dataset in datasets]
        self._short_links = [_link(dataset, name_beside(dataset, dataset)) for dataset in datasets]

    def html(self, numbers: Iterable[int], root: str, beside: DatasetId) -> Markup:
        """Links, one after the other, those of one shape in an element with its class.

        Args:
            beside: The dataset whose page it is: its schema goes without saying.
        """
        schema = place_of(beside)
        groups = (
            f'<span class="of-{shape}">'
            + "".join(
                f'<a href="{root}'
                + (
                    self._short_links[number]
                    if schema and self._places[number] == schema
                    else self._links[number]
                )
                for number in alike
            )
            + "</span>"
            for shape, alike in groupby(numbers, self._shapes.__getitem__)
        )
        return Markup("".join(groups))  # noqa: S704


@lru_cache(maxsize=1)
def step_links(index: Index) -> StepLinks:
    """The links to all datasets of a site, by their number in its steps."""
    return StepLinks(index, index.dataset_steps.datasets)


def _link(dataset: DatasetId, name: str) -> str:
    return f'{dataset_path(dataset)}index.html"{identity_title(dataset)}>{text(name)}</a>'
