"""Texts of DAGs: descriptions in Markdown, tags; names of logs and people are data in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dbt_graft.analysis.render.markdown import code, one_line
from dbt_graft.exporters.dag_factory.order import OrderedNode

_LONGEST_TAG = 100  # Airflow's
_LISTED = 50


def tags(names: Iterable[str]) -> tuple[str, ...]:
    """Tags as Airflow takes them, sorted."""
    return tuple(sorted({clean[:_LONGEST_TAG] for name in names if (clean := one_line(name))}))


def dag_description(number: int) -> str:
    """The description of a DAG."""
    return f"{number:,} tasks and dbt nodes in the order of their lineage"


def task_doc(nodes: Sequence[OrderedNode], site_url: str, *, marked: bool = False) -> str:
    """A description of a task in Markdown, with links to the pages of the catalog.

    Args:
        marked: Airflow does not run it.
    """
    paragraphs = []
    if marked:
        paragraphs.append(
            "Runs outside of Airflow. This marks its place in the order, and waits for nothing."
        )
    if len(nodes) == 1:
        if nodes[0].info.description:
            paragraphs.append(_escape(nodes[0].info.description))
        if site_url:
            paragraphs.append(f"[In the catalog]({site_url}{nodes[0].page})")
        return "\n\n".join(paragraphs)
    lines = [
        f"- [{_escape(node.label)}]({site_url}{node.page})" if site_url else f"- {code(node.label)}"
        for node in nodes[:_LISTED]
    ]
    if len(nodes) > _LISTED:
        lines.append(f"- and {len(nodes) - _LISTED:,} more")
    return "\n\n".join([*paragraphs, "\n".join(lines)])


def _escape(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]()<>#!|~&])", r"\\\1", one_line(text))
