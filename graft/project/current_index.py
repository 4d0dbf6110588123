"""The impact index of now: that of the file, or else of the lineage."""

from __future__ import annotations

from dbt_graft.graft.project.collected import note_dbt_alone
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.impact_index import ImpactIndex, stored_impact_index
from dbt_graft.graft.project.index_files import IMPACT_FILE, IndexFiles
from dbt_graft.graft.project.view import LineageView, Moment


def load_impact_index(config: Config, past: Moment | None = None) -> ImpactIndex:
    """The index in the file, if it is of now; else that of the lineage, which is written, too.

    Raises:
        GraftError: Nothing was collected yet, or the project cannot be read.
    """
    files = None if past else IndexFiles(config)
    sections = files.read(IMPACT_FILE) if files else None
    if sections and (index := stored_impact_index(sections)):
        if not index.collected:
            note_dbt_alone(config)
        return index
    # Importing it takes longer than reading a file.
    from dbt_graft.graft.project.built_indexes import build_impact_index

    return build_impact_index(config, LineageView(past), files)
