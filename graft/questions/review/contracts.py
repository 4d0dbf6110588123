"""Data contracts in a review: those of graft.yml now, and in the base."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path

from dbt_graft.analysis.checks.contracts import KIND, match_contracts
from dbt_graft.analysis.review.contracts import contract_reviews
from dbt_graft.analysis.review.node_change import NodeChange, NodeReview, ReviewVerdict
from dbt_graft.graft.project.config import Config
from dbt_graft.graft.project.contracts import ContractFiles, read_contracts
from dbt_graft.graft.questions.review.files import BaseFiles
from dbt_graft.graft.questions.review.tasks_reviewed import TasksReviewed
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.errors import GraftError


def compare_contracts(
    config: Config,
    base: BaseFiles,
    datasets: Collection[DatasetId],
    others: Callable[[], Mapping[DatasetId, DatasetId]],
) -> TasksReviewed:
    """The contracts that promise something else than in the base.

    Args:
        datasets: Those that contracts can mean.
        others: Other names of them.
    """
    if not config.contracts:
        return TasksReviewed()
    if not base.is_known:
        text = "data contracts are not compared: the base is a folder without them"
        return TasksReviewed(notices=(text,))
    new, old = read_contracts(config), _read_base(config, base)
    notices = [
        f"a data contract is not compared: in the base {base.shown(str(fault))}"
        for fault in old.faults
    ]
    damaged = [str(fault) for fault in (*new.faults, *old.faults)]
    before, after = (
        [
            contract
            for contract in files.contracts
            if not any(Path(contract.file).name in text for text in damaged)
        ]
        for files in (old, new)
    )
    meant: dict[tuple[str, str], set[DatasetId]] = defaultdict(set)
    matches = match_contracts([*before, *after], datasets, others())
    for contract, table, dataset in matches.tables:
        meant[contract.id, table.names[-1]].add(dataset)
    nodes = [
        replace(node, file=str(base.here(Path(node.file))))
        for node in contract_reviews(before, after, meant)
    ]
    return TasksReviewed((*nodes, *map(_unreadable, new.faults)), tuple(notices))


def _unreadable(fault: GraftError) -> NodeReview:
    file = fault.place or str(fault).partition(": ")[0]
    file = file.rpartition(":")[0] if file.rpartition(":")[2].isdigit() else file
    change = NodeChange(ReviewVerdict.UNKNOWN, f"cannot be read: {fault.problem}")
    return NodeReview(f"contract:{Path(file).name}", KIND, file, (change,))


def _read_base(config: Config, base: BaseFiles) -> ContractFiles:
    """The contracts of the base; a pattern that names none there is no fault."""
    paths = [path for written in config.contracts if (path := base.path(written))]
    files = read_contracts(replace(config, contracts=tuple(paths)), keep=False)
    return ContractFiles(
        files.contracts, [fault for fault in files.faults if fault.place not in paths]
    )
