"""The impact graph of a project in a file, with what an answer about impact needs beside it."""

from __future__ import annotations

import logging
from array import array

from dbt_graft.analysis.history.data_age import WriteHistory
from dbt_graft.analysis.impact.answer import Surroundings
from dbt_graft.analysis.impact.graph import ImpactGraph
from dbt_graft.analysis.impact.stored_graph import (
    Sections,
    graph_sections,
    read_graph,
    read_numbers,
)
from dbt_graft.analysis.impact.stored_history import history_sections, read_history
from dbt_graft.analysis.impact.stored_surroundings import read_surroundings, surroundings_sections
from dbt_graft.graft.project.names import Names, NameSearch
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.records import ANY_COLUMN

_log = logging.getLogger(__name__)


@frozen
class ImpactIndex:
    """All that an answer about impact needs.

    Attributes:
        collected: Whether anything was collected: without, it is dbt's lineage alone.
    """

    graph: ImpactGraph
    around: Surroundings
    history: WriteHistory
    datasets: NameSearch
    collected: bool

    @property
    def names(self) -> Names:
        """The names of its datasets and columns."""

        def columns(dataset: DatasetId) -> list[str]:
            number = self.graph.find_dataset(dataset)
            if number is None:
                return []
            star = [ANY_COLUMN] if self.graph.stars.get(number) is not None else []
            return self.graph.columns(number) + star

        return Names(self.datasets, columns)


def impact_sections(index: ImpactIndex) -> dict[str, bytes]:
    """An index as bytes, by the names of its parts."""
    return {
        **graph_sections(index.graph),
        **surroundings_sections(index.around),
        "collected": b"yes" if index.collected else b"",
        **history_sections(index.history, index.graph),
        "search_text": index.datasets.text.encode("utf-8", "surrogatepass"),
        "search_places": array("i", index.datasets.places).tobytes(),
    }


def stored_impact_index(sections: Sections) -> ImpactIndex | None:
    """The index that these bytes are of; None if they are of none."""
    try:
        return _index(sections)
    except (LookupError, TypeError, ValueError) as error:
        _log.debug("the impact index is made again: %s", error)
        return None


def _index(sections: Sections) -> ImpactIndex:
    graph, places = read_graph(sections), read_numbers(sections["search_places"])
    text = bytes(sections["search_text"]).decode("utf-8", "surrogatepass")
    names = NameSearch(graph.datasets, text, places)
    history = read_history(sections, graph)
    around, collected = read_surroundings(sections), bool(sections["collected"])
    return ImpactIndex(graph, around, history, names, collected)
