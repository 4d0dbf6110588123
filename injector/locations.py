"""Places of the data of dbt's relations, as far as the manifest says.

A relation can be a file or folder that logs know by its path: a source of dbt-duckdb
(`external_location`, `read_parquet('…')`), an external model (`location`), a table of dbt-spark or
dbt-databricks (`location_root`), of dbt-trino or dbt-athena (`location`, `external_location`), a
source of dbt_external_tables (`external.location`), or a name such as ``delta.`/lake/orders` ``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dbt_graft.injector.manifest import Node
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.frozen import frozen
from dbt_graft.lineage.paths import dataset_folders, path_dataset

_KEYS = ("external_location", "location", "custom_location")
_PLACING = frozenset({*_KEYS, "location_root"})
_STRING = r"'((?:[^']|'')+)'"
# `'data/*.parquet'`, `read_csv('a.csv', delim=',')`, `delta_scan('s3://lake/orders')`; of a call
# only the first argument, a path or a list of them.
_CALL = re.compile(rf"(?:[\w.]+\s*\(\s*)?(?:{_STRING}|\[([^\]]*)\])")
_LISTED = re.compile(_STRING)
# delta.`/lake/orders`
_BY_FORMAT = re.compile(r"(?:delta|iceberg|parquet|orc|json|csv|avro)\.[`\"]([^`\"]*/[^`\"]*)[`\"]")
_IS_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


@frozen
class Places:
    """The starts of relative paths.

    Attributes:
        project: The folder that dbt runs in; without it relative paths name nothing.
        external_root: dbt-duckdb's folder of external models that name no location.
    """

    project: Path | None = None
    external_root: str = "."


def location(node: Node, places: Places) -> DatasetId | None:
    """Return the dataset of the files of a relation; None if the manifest does not name it."""
    for named_paths in (_paths_in_name(node), *_paths_in_config(node, places)):
        if named_paths and (dataset := files_dataset(named_paths, places)):
            return dataset
    return None


def files_dataset(paths: Iterable[str], places: Places) -> DatasetId | None:
    """Return the dataset of paths; None where they are several, or start nowhere that is known."""
    absolute = [path for text in paths if (path := _absolute_path(text, places))]
    found_in = {path_dataset(folder) for folder in dataset_folders(absolute)}
    # Several folders are no dataset, nor is the root of a store.
    if len(found_in) == 1 and (dataset := found_in.pop()).name.strip("/"):
        return dataset
    return None


def _paths_in_name(node: Node) -> list[str]:
    name = str(node.get("relation_name") or "").strip()
    if by_format := _BY_FORMAT.fullmatch(name):
        return [by_format[1]]
    if called := _CALL.match(name):
        listed = _LISTED.findall(called[2]) if called[2] is not None else [called[1]]
        return [path.replace("''", "'") for path in listed]
    return []


def _paths_in_config(node: Node, places: Places) -> Iterator[list[str]]:
    config, meta = _mapping(node, "config"), _mapping(node, "meta")
    identifier = str(node.get("alias") or node.get("identifier") or node.get("name"))
    for part in (config, _mapping(config, "meta"), meta, _mapping(node, "source_meta")):
        if part.keys().isdisjoint(_PLACING):
            continue  # as most: they are of thousands of nodes
        for key in _KEYS:
            if isinstance(part.get(key), str):
                # It may be a call, as in `relation_name`.
                text = _fill_placeholders(part[key], node)
                yield _paths_in_name({"relation_name": text}) or [text]
        if isinstance(part.get("location_root"), str):
            yield [f"{part['location_root'].rstrip('/')}/{identifier}"]
    properties = _mapping(config, "properties")
    if isinstance(properties.get("location"), str):
        yield [properties["location"].strip("'")]
    external = _mapping(node, "external")
    if isinstance(external.get("location"), str):
        yield [external["location"].strip("'")]
    uris = _mapping(external, "options").get("uris")
    if isinstance(uris, list):
        yield [str(uri) for uri in uris]
    if config.get("materialized") == "external":
        suffix = "" if _mapping(config, "options").get("partition_by") else _format(config)
        yield [f"{places.external_root.rstrip('/')}/{identifier}{suffix}"]


def _fill_placeholders(text: str, node: Node) -> str:
    """A location of dbt-duckdb with its placeholders filled in: `data/{name}.parquet`."""
    for key in ("name", "identifier", "schema", "database", "source_name"):
        text = text.replace(f"{{{key}}}", str(node.get(key) or ""))
    return text


def _format(config: Mapping[str, Any]) -> str:
    return f".{config.get('format') or _mapping(config, 'options').get('format') or 'parquet'}"


def _mapping(node: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    section = node.get(key)
    return section if isinstance(section, dict) else {}


def _absolute_path(path: str, places: Places) -> str:
    """A path that logs would show; empty for what is none, as a stage of Snowflake."""
    path = path.strip()
    # BigQuery's location is a region: `EU`.
    if not re.search(r"[/.]", path) or path.startswith("@") or "\0" in path:
        return ""
    if _IS_URL.match(path):
        return path
    if path.startswith("/"):
        return str(Path(path))
    return str((places.project / path).absolute()) if places.project else ""
