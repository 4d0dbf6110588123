"""The impact index of now: that of the file, or else of the lineage.

It stands apart from the file, which the pipeline writes while it makes the lineage.
"""

from __future__ import annotations

from dbt_graft.graft.project.collected import check_collected
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.impact_index import ImpactIndex, IndexFile, make_index
from dbt_graft.graft.project.view import Moment


def load_impact_index(config: Config, past: Moment | None = None) -> ImpactIndex:
    """The index in the file, if it is of now; else that of the lineage, which is written, too.

    Raises:
        GraftError: Nothing was collected yet, or the project cannot be read.
    """
    file = None if past else IndexFile(config)
    if file and (index := file.read()):
        check_collected(config)
        return index
    # Importing it takes longer than reading a file.
    from dbt_graft.graft.project.project import Project
    from dbt_graft.graft.project.view import LineageView

    project = Project(config)
    described = project.described(LineageView(past))
    if file is None:
        return make_index(config, described)
    return file.write(described, project.column_cache)
