"""The impact graph of a project in a file, so that the next `graft impact` need not build it.

`impact_index.bin` in the folder of artifacts has the graph and what an answer needs beside it. It
counts only if its key fits: nothing that the graph is made of has changed. A file that is damaged,
half written or of another version counts as none, and is made again.
"""

from __future__ import annotations

import logging
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dbt_graft.graft.collected import check_collected
from dbt_graft.graft.config import Config
from dbt_graft.graft.dataset_search import DatasetSearch
from dbt_graft.graft.impact_key import impact_key
from dbt_graft.graft.output_folder import OutputFolder
from dbt_graft.graft.outputs import check_outputs, output_of
from dbt_graft.graft.past import Moment
from dbt_graft.graft.section_file import read_sections, write_sections
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.impact.answer import Surroundings
from dbt_graft.lineage.impact.graph import ImpactGraph
from dbt_graft.lineage.impact.stored_graph import (
    STORED_FORMAT,
    Sections,
    graph_sections,
    stored_graph,
    stored_numbers,
)
from dbt_graft.lineage.impact.stored_surroundings import (
    FormerNames,
    stored_former_names,
    stored_surroundings,
    surroundings_sections,
)

if TYPE_CHECKING:
    from dbt_graft.exporters.data.view import DescribedLineage

FILE = "impact_index.bin"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ImpactIndex:
    """All that an answer about impact needs."""

    graph: ImpactGraph
    around: Surroundings
    former: FormerNames
    search: DatasetSearch


def impact_index(config: Config, past: Moment | None = None) -> ImpactIndex:
    """The index in the file, if it is of now; else that of the lineage, which is written, too.

    Raises:
        GraftError: Nothing was collected yet, or the project cannot be read.
    """
    key = "" if past else impact_key(config)
    if found := _read(config, key) if key else None:
        check_collected(config)
        return found
    from dbt_graft.graft.described_lineage import described_lineage

    found = made_index(config, described_lineage(config, past))
    if key:
        write_index(config, key, found)
    return found


def made_index(config: Config, described: DescribedLineage) -> ImpactIndex:
    """The index of a lineage."""
    from dbt_graft.graft.impact_graph import impact_graph, surroundings

    graph, former = impact_graph(config, described), described.lineage.former_names
    search = DatasetSearch.of(graph.datasets, former)
    return ImpactIndex(graph, surroundings(described), former, search)


def write_index(config: Config, key: str, index: ImpactIndex) -> None:
    """Write the file if the project still has this key, and if it can be written."""
    output = output_of(config, "artifacts")
    try:
        if impact_key(config) != key:
            return  # A collect came between.
        check_outputs(config, output.key)
        output.claim()
        write_sections(_path(output), _first_line(key), index_sections(index))
    except GraftError as error:
        # The next answer takes as long, no more.
        _log.debug("the impact index is not kept: %s", error)


def index_sections(index: ImpactIndex) -> dict[str, bytes]:
    """An index as bytes, by the names of its parts."""
    return {
        **graph_sections(index.graph),
        **surroundings_sections(index.graph, index.around, index.former),
        "search_text": index.search.text.encode("utf-8", "surrogatepass"),
        "search_places": array("i", index.search.places).tobytes(),
    }


def stored_index(sections: Sections) -> ImpactIndex:
    """The index that these bytes are of."""
    graph, former = stored_graph(sections), stored_former_names(sections)
    text = bytes(sections["search_text"]).decode("utf-8", "surrogatepass")
    places = stored_numbers(sections["search_places"])
    search = DatasetSearch(graph.datasets, former, text, places)
    return ImpactIndex(graph, stored_surroundings(graph, sections), former, search)


def _read(config: Config, key: str) -> ImpactIndex | None:
    sections = read_sections(_path(output_of(config, "artifacts")), _first_line(key))
    try:
        return stored_index(sections) if sections else None
    except (LookupError, TypeError, ValueError) as error:
        _log.debug("the impact index is made again: %s", error)
        return None


def _path(output: OutputFolder) -> Path:
    return output.path / FILE


def _first_line(key: str) -> str:
    return f"dbt-graft impact index {STORED_FORMAT} {key}"
