"""The indexes of a lineage that was built, and their files."""

from __future__ import annotations

from dbt_graft.analysis.quality.history import write_history
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.impact_graph import impact_graph, surroundings
from dbt_graft.graft.project.impact_index import ImpactIndex, impact_sections
from dbt_graft.graft.project.index_files import IMPACT_FILE, LINEAGE_FILE, IndexFiles
from dbt_graft.graft.project.lineage_index import LineageIndex, lineage_sections
from dbt_graft.graft.project.names import NameSearch, all_names, other_names
from dbt_graft.graft.project.project import Project
from dbt_graft.graft.project.view import NOW, LineageView
from dbt_graft.lineage.garbage import without_garbage_collection


def build_index(project: Project, view: LineageView, files: IndexFiles | None) -> LineageIndex:
    """The index of a view of a project; files that are given are written.

    Raises:
        GraftError: Nothing was collected yet, or the project cannot be read.
    """
    if files:
        write_indexes(files, project)
    return project.lineage_index(view)


def build_impact_index(config: Config, view: LineageView, files: IndexFiles | None) -> ImpactIndex:
    """The impact index of a view of a project; files that are given are written.

    Raises:
        GraftError: As `build_index`.
    """
    project = Project(config)
    if files:
        return write_indexes(files, project)
    return make_impact_index(config, project.lineage_index(view))


def make_impact_index(config: Config, lineage: LineageIndex) -> ImpactIndex:
    """The index of a lineage."""
    described = lineage.described
    graph = impact_graph(config, described)
    others = other_names(described, all_names(described.lineage))
    known = [pair for pair in others if graph.find_dataset(pair[1]) is not None]
    search = NameSearch.of(graph.datasets, known)
    history = write_history(described.lineage, described.descriptions)
    return ImpactIndex(graph, surroundings(described), history, search, lineage.collected)


def write_indexes(files: IndexFiles, project: Project) -> ImpactIndex:
    """Write the indexes of a project, and keep what was parsed for them beside them.

    Returns:
        The impact index, whether it could be written or not.
    """
    with without_garbage_collection():
        index = project.lineage_index(NOW)
        impact = make_impact_index(files.config, index)
        written = files.write(
            {
                IMPACT_FILE: impact_sections(impact),
                LINEAGE_FILE: lineage_sections(index, project.graft_facts(NOW)),
            }
        )
    if written:
        project.write_caches()
    return impact
