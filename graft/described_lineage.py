"""The lineage of the store with dbt's artifacts and YAML, for commands that show all of it."""

from __future__ import annotations

from dataclasses import replace

from dbt_graft.collectors import store
from dbt_graft.exporters.data.view import DescribedLineage
from dbt_graft.graft import pipeline
from dbt_graft.graft.collected import check_collected
from dbt_graft.graft.config import Config
from dbt_graft.graft.contracts import read_contracts
from dbt_graft.graft.past import Moment, past_records
from dbt_graft.graft.progress import Progress
from dbt_graft.graft.sources import declared_dates, task_infos
from dbt_graft.injector.report import Grafted
from dbt_graft.lineage.build import build
from dbt_graft.lineage.contracts import matched


def described_lineage(config: Config, past: Moment | None = None) -> DescribedLineage:
    """The lineage with dbt's part; without artifacts that of the logs alone, and the other way.

    Raises:
        GraftError: Nothing was collected yet, or the project cannot be read.
    """
    return described_graft(config, past)[0]


def described_graft(
    config: Config, past: Moment | None = None
) -> tuple[DescribedLineage, Grafted | None]:
    """As `described_lineage`, and the graft that it is from; None without artifacts.

    Raises:
        GraftError: Nothing was collected yet, or the project cannot be read.
    """
    place, grafted = config.path(config.store), None
    has_dbt = (config.target_dir / "manifest.json").exists()
    check_collected(config, past)
    if has_dbt:
        quiet = Progress(quiet=True)
        grafted = pipeline.graft(
            config, quiet, write=False, allow_empty=True, results=True, past=past
        )
        lineage, descriptions = grafted.lineage, grafted.descriptions
        consumers = grafted.consumers
    else:
        rules = config.name_rules
        records = store.read(
            place,
            results=True,
            results_until=past.at if past else None,
            rename=rules,
            folded=past is None,
        )
        lineage = build(
            past_records(place, records, past),
            rules,
            task_infos(config),
            failed=config.lineage.failed,
            one_name=config.one_name,
            dates=declared_dates(config),
            ignore=config.lineage.ignore_tasks,
        )
        found = matched(read_contracts(config).contracts, lineage.datasets)
        descriptions, consumers = {}, tuple(found.consumers(lineage.tasks))
        lineage = replace(lineage, partition_columns=found.partitions())
    taints = store.recorded_taints(place)
    return DescribedLineage(replace(lineage, taints=taints), descriptions, consumers), grafted
