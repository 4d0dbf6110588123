"""dbt's relations as datasets: their platform, their names, and the places of their files."""

from __future__ import annotations

import os
from functools import cache

from dbt_graft.graft.project.config import Config
from dbt_graft.injector.artifacts import Artifacts
from dbt_graft.injector.locations import Places, files_dataset
from dbt_graft.injector.platform import Connection, Platform, platform, read_connection
from dbt_graft.injector.relations import Relations, ShortNames, relations
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.names import Rename


def dbt_platform(config: Config, adapter: str) -> Platform:
    """The platform of dbt's relations, by `dbt.namespace`, else by dbt's adapter and profile."""
    return platform(adapter, _connection(config), config.dbt.namespace)


def dbt_relations(config: Config, read: Artifacts) -> Relations:
    """The relations of dbt's manifest, as datasets."""
    namespace = dbt_platform(config, read.adapter).namespace
    return relations(read.manifest, namespace, _places(config))


def find_dbt_file(config: Config, relations: Relations, path: str) -> DatasetId | None:
    """The dataset of a path in a model's SQL: the relation whose files alone lie there, if any."""
    dataset = files_dataset([path], _places(config))
    located = relations.locations.get(dataset, ()) if dataset else ()
    return located[0] if len(located) == 1 else dataset


def dbt_names(config: Config, short: ShortNames) -> Rename:
    """The name of a dataset of the logs after the rules of graft.yml, in dbt's spelling."""
    rules = config.name_rules
    former = {namespace.casefold() for namespace in config.dbt.former_namespaces}

    @cache
    def name(dataset: DatasetId) -> DatasetId:
        renamed = rules(dataset)
        return short(renamed if renamed == dataset else short.formerly(renamed, former))

    return name


def _places(config: Config) -> Places:
    """The starts of relative paths in the manifest, for the files of dbt's relations."""
    project = config.project_dir
    return Places(project, _connection(config).get("external_root", "."))


def _connection(config: Config) -> Connection:
    return read_connection(config.project_dir, os.environ)
