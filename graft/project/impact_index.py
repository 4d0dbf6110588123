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

from dbt_graft.analysis.impact.answer import Surroundings
from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.analysis.impact.stored_graph import (
    STORED_FORMAT,
    Sections,
    graph_sections,
    read_graph,
    read_numbers,
)
from dbt_graft.analysis.impact.stored_surroundings import (
    read_surroundings,
    surroundings_sections,
)
from dbt_graft.collectors.store.errors import StoreError
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.impact_key import impact_key
from dbt_graft.graft.project.names import Names, NameSearch, all_names, other_names
from dbt_graft.graft.project.outputs import check_outputs, output_of
from dbt_graft.graft.project.section_file import has_key, read_sections, write_sections
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.records import ANY_COLUMN

if TYPE_CHECKING:
    from dbt_graft.collectors.dbt.column_cache import ColumnCache
    from dbt_graft.lineage.described import DescribedLineage

FILE = "impact_index.bin"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ImpactIndex:
    """All that an answer about impact needs."""

    graph: ImpactGraph
    around: Surroundings
    datasets: NameSearch

    @property
    def names(self) -> Names:
        """The names of its datasets and columns."""

        def columns(dataset: DatasetId) -> list[str]:
            number = self.graph.find_dataset(dataset)
            if number is None:
                return []
            star = [ANY_COLUMN] if self.graph.star(number) is not None else []
            return self.graph.columns(number) + star

        return Names(self.datasets, columns)


def index_to_write(config: Config) -> IndexFile | None:
    """The file, for who is about to read the lineage; None where there is nothing to write."""
    try:
        file = IndexFile(config)
    except StoreError:
        return None  # What is left of a damaged store is not all.
    return None if file.is_of_now else file


class IndexFile:
    """The file of a project as it is now: made before the lineage is read.

    Raises:
        StoreError: The store is damaged or cannot be read.
    """

    def __init__(self, config: Config) -> None:
        self._config, self._output = config, output_of(config, "artifacts")
        self._key = _first_line(config)

    @property
    def _path(self) -> Path:
        return self._output.path / FILE

    @property
    def is_of_now(self) -> bool:
        """Whether the file is there, and nothing has changed since it was written."""
        return has_key(self._path, self._key)

    def read(self) -> ImpactIndex | None:
        """The index in the file; None if there is none of now."""
        sections = read_sections(self._path, self._key)
        try:
            return stored_index(sections) if sections else None
        except (LookupError, TypeError, ValueError) as error:
            _log.debug("the impact index is made again: %s", error)
            return None

    def write(self, described: DescribedLineage, columns: ColumnCache | None = None) -> ImpactIndex:
        """Write the index of a lineage, unless the project has changed, and return it.

        Args:
            columns: What was parsed for it is kept beside it, for the next one.
        """
        index = make_index(self._config, described)
        try:
            # A collect may have come between.
            if _first_line(self._config) == self._key:
                check_outputs(self._config, self._output.key)
                self._output.claim()
                write_sections(self._path, self._key, index_sections(index))
                if columns:
                    columns.write()
        except GraftError as error:
            # The next answer takes as long, no more.
            _log.debug("the impact index is not kept: %s", error)
        return index


def make_index(config: Config, described: DescribedLineage) -> ImpactIndex:
    """The index of a lineage."""
    # Importing it takes longer than reading a file.
    from dbt_graft.graft.project.impact_graph import impact_graph, surroundings

    graph = impact_graph(config, described)
    others = other_names(described, all_names(described.lineage))
    known = [pair for pair in others if graph.find_dataset(pair[1]) is not None]
    return ImpactIndex(graph, surroundings(described), NameSearch.of(graph.datasets, known))


def index_sections(index: ImpactIndex) -> dict[str, bytes]:
    """An index as bytes, by the names of its parts."""
    return {
        **graph_sections(index.graph),
        **surroundings_sections(index.around),
        "search_text": index.datasets.text.encode("utf-8", "surrogatepass"),
        "search_places": array("i", index.datasets.places).tobytes(),
    }


def stored_index(sections: Sections) -> ImpactIndex:
    """The index that these bytes are of."""
    graph, places = read_graph(sections), read_numbers(sections["search_places"])
    text = bytes(sections["search_text"]).decode("utf-8", "surrogatepass")
    names = NameSearch(graph.datasets, text, places)
    return ImpactIndex(graph, read_surroundings(sections), names)


def _first_line(config: Config) -> str:
    return f"dbt-graft impact index {STORED_FORMAT} {impact_key(config)}"
