"""Search: the name index, the full-text index, and what the browser knows of both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import orjson

from dbt_graft.catalog.full_text import NoPagefindError, facet_token, write_full_text
from dbt_graft.catalog.index import Index
from dbt_graft.catalog.markup import printable
from dbt_graft.catalog.name_index import NameKind, write_name_index
from dbt_graft.catalog.search_entries import name_entries, search_texts
from dbt_graft.lineage.describe import DocsNode


def write_search(
    site: Path, index: Index, nodes: Sequence[DocsNode] = (), previous: Path | None = None
) -> str:
    """Write both indexes; return why there is no full-text index, empty where there is one.

    Args:
        nodes: What only dbt docs has a page of.
        previous: The site of the build before.
    """
    facets = _write_names(site, index, nodes)
    try:
        parts, problem = write_full_text(site, search_texts(index, nodes), previous), ""
    except NoPagefindError as error:
        parts, problem = 0, str(error)
    content = b"graft.texts.about(%s)\n" % orjson.dumps({"texts": parts, **facets})
    (site / "search" / "about.js").write_bytes(content)
    return problem


def _write_names(site: Path, index: Index, nodes: Sequence[DocsNode]) -> dict[str, object]:
    """Write the name index; return what search can be limited to."""
    entries = list(name_entries(index, nodes))
    write_name_index(site, entries)
    platforms = {platform for entry in entries for platform in entry.platforms}
    owners = {owner for entry in entries if entry.kind is NameKind.OWNER for owner in entry.owners}
    return {
        "platforms": _facet("platform", platforms),
        "owners": _facet("owner", owners),
        "kinds": sorted({int(entry.kind) for entry in entries}),
    }


def _facet(name: str, values: set[str]) -> list[tuple[str, str]]:
    """The values to choose from, each with the word that finds it in the full text."""
    return [(printable(value), facet_token(name, value)) for value in sorted(values)]
