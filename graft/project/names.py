"""The names of datasets in a project: those of the logs, after rules, in dbt's spelling."""

from __future__ import annotations

from functools import cache

from dbt_graft.graft.project.config import Config
from dbt_graft.injector.matching import ShortNames
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.names import Rename


def dbt_names(config: Config, short: ShortNames) -> Rename:
    """The name of a dataset of the logs after the rules of graft.yml, in dbt's spelling."""
    rules = config.name_rules
    former = {namespace.casefold() for namespace in config.former_namespaces}

    @cache
    def name(dataset: DatasetId) -> DatasetId:
        renamed = rules(dataset)
        return short(renamed if renamed == dataset else short.formerly(renamed, former))

    return name
