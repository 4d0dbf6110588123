"""Datasets of paths in logs and in dbt's manifest.

A path has OpenLineage's name (openlineage.io/docs/spec/naming): `file` + `/landing/x`,
`s3://bucket` + `key`, `hdfs://host:port` + `/x`. What one store is reached by has one name: Azure's
`wasbs://box@acc.blob…` is `abfss://box@acc.dfs…`, and Databricks' `/dbfs/x` is `dbfs` + `/x`.

A dataset is the folder or file that people know, not the files and folders inside it:

- partition folders and all below them are the table's folder: `/t/dt=2026-11-21/hour=5` is `/t`;
- `part-…` files, `_temporary`, `_delta_log`, staging folders and checkpoints are the folder around
  them, and so are all files of a glob: `/landing/*.csv` is `/landing`;
- a folder named by a date, and any file in it, is a part of the folder above:
  `/exports/2026/11/21` is `/exports`. A year alone is a date where another year or a month shows
  it: `/scale/2000` may be a number;
- several files of one folder are that folder: so a plan shows a glob;
- a file named by a number or date, or as its folder and one of these, is a part of that folder even
  alone: `/landing/orders/orders_2026-11-21.csv` is `/landing/orders`;
- any other single file is a dataset itself: `/landing/customers.json`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.redaction import redact_name

# Hadoop's schemes of a store, and OpenLineage's.
_SCHEMES = {"s3a": "s3", "s3n": "s3", "abfs": "abfss", "wasb": "abfss", "wasbs": "abfss"}
# Stores of objects with keys; others have paths, which start with a slash.
_OBJECT_STORES = frozenset({"s3", "gs", "http", "https"})
_MOUNTED = "/dbfs/"

_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?://(?P<authority>[^/]*))?(?P<path>/.*)?")
_PARTITION = re.compile(r"[^=/]+=[^/]*")
_INNER = re.compile(
    r"part-.*|_temporary|_delta_log|_spark_metadata|_committed_.*|_started_.*|_SUCCESS|_checkpoints?"
    r"|_change_data|_symlink_format_manifest|\.hoodie|\.hive-staging.*|\.spark-staging.*"
    r"|__HIVE_DEFAULT_PARTITION__|deletion_vector_.*"
)
# A streaming query's checkpoint inside its output folder.
_CHECKPOINT = re.compile(r"checkpoints?")
_IN_CHECKPOINT = frozenset({"commits", "offsets", "sources", "state", "metadata"})
# `?` is no wildcard: it may be part of a name, or begin a URL's query, which may have a secret.
_WILDCARD = re.compile(r"[*{}]")
_YEAR = re.compile(r"(?P<parent>.+)/(?P<year>(?:19|20)\d\d)(?P<month>/[01]\d)?(?=/|$)")
_DATE_FOLDERS = re.compile(
    r"(?:/(?:19|20)\d\d(?:/\d\d){1,3}|/(?:19|20)\d\d-\d\d(?:-\d\d(?:[T_-]\d{2,6})?)?"
    r"|/(?:19|20)\d{6}(?:[T_-]?\d{2,6})?"
    r"|/(?:run|batch|load|snapshot|day|date|dt|ds)[-_](?:19|20)\d\d-?\d\d-?\d\d(?:[T_-]?[\d:-]{2,8})?)$"
)
_FILE = re.compile(r"(?P<stem>[^/]+?)(?:\.[A-Za-z][A-Za-z0-9]{0,9}){1,3}")
_ONLY_NUMBER = re.compile(r"[\dT_.:-]+|[0-9a-fA-F-]{32,36}")


def path_dataset(path: str) -> DatasetId:
    """Return the dataset of a path.

    Args:
        path: As `dataset_folders` returns it.
    """
    url = _URL.fullmatch(path)
    if url is None:
        return _of_machine(path)
    scheme = _SCHEMES.get(url["scheme"].lower(), url["scheme"].lower())
    name = url["path"] or "/"
    authority = url["authority"]
    if scheme == "file" and (authority or "").casefold() in ("", "localhost"):
        return _of_machine(name)
    if not authority:
        return DatasetId(scheme, name)
    if scheme == "abfss":
        authority = authority.replace(".blob.core.", ".dfs.core.")
    if scheme in _OBJECT_STORES:
        name = name.lstrip("/") or "/"
    return DatasetId(f"{scheme}://{authority}", name)


def _of_machine(path: str) -> DatasetId:
    if path.startswith(_MOUNTED):
        return DatasetId("dbfs", path[len(_MOUNTED) - 1 :])
    return DatasetId("file", path)


def dataset_path(dataset: DatasetId) -> str:
    """The path of a dataset, of which `path_dataset` makes the dataset again."""
    scheme, mark, authority = dataset.namespace.partition("://")
    if scheme == "file" and not authority:
        return dataset.name
    return f"{scheme}:{mark[1:]}{authority}/{dataset.name.lstrip('/')}"


def dataset_folders(paths: Iterable[str]) -> list[str]:
    """Return the folders or single files of paths that are read or written together, sorted."""
    folded = {_fold(path) for path in paths if path}
    in_folder = Counter(path.rpartition("/")[0] for path in folded if is_file(path))
    folders = {
        _without_dates(parent)
        if is_file(path) and (in_folder[parent] > 1 or _is_one_of_many(path))
        else path
        for path in folded
        for parent in (path.rpartition("/")[0],)
    }
    years: dict[str, set[str]] = defaultdict(set)
    for parent, year in year_folders(folders):
        years[parent].add(year)
    return sorted({_without_year(path, years) for path in folders})


def year_folders(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the folder around the last year of each path, and the year; the month below it too."""
    for path in paths:
        head, slash, rest = _root(path)
        if match := _YEAR.match(slash + rest):
            yield from (
                (head + match["parent"], part) for part in match.group("year", "month") if part
            )


def lone_year(path: str) -> str:
    """The folder around a folder that is named by a year, also for a file in that; else empty."""
    head, slash, rest = _root(path.rpartition("/")[0] if is_file(path) else path)
    match = _YEAR.fullmatch(slash + rest)
    return head + match["parent"] if match and not match["month"] else ""


def _without_year(path: str, years: Mapping[str, set[str]]) -> str:
    parent = lone_year(path)
    return parent if len(years.get(parent, ())) > 1 else path


def _fold(path: str) -> str:
    head, slash, rest = _root(redact_name(path))
    names: list[str] = []
    parts = rest.rstrip("/").split("/")
    for part, below in zip_longest(parts, parts[1:], fillvalue=""):
        if _PARTITION.fullmatch(part) or _INNER.fullmatch(part) or _WILDCARD.search(part):
            break
        if _CHECKPOINT.fullmatch(part) and below in _IN_CHECKPOINT:
            break
        names.append(part)
    return _without_dates(head + slash + "/".join(names))


def _without_dates(path: str) -> str:
    head, slash, rest = _root(path)
    shorter = _DATE_FOLDERS.sub("", slash + rest)
    return head + shorter if shorter else path


def _root(path: str) -> tuple[str, str, str]:
    """Scheme and host, the slash after them, and the path."""
    url = _URL.fullmatch(path)
    below = (url["path"] or "") if url else path
    head = path[: len(path) - len(below)]
    return (head, "/", below[1:]) if below.startswith("/") else (head, "", below)


def is_file(path: str) -> bool:
    """Whether a path's last part is named as files are."""
    return bool(_FILE.fullmatch(path.rpartition("/")[2]))


def _is_one_of_many(path: str) -> bool:
    """Whether a file's name is one of a series in its folder."""
    folder, _, name = path.rpartition("/")
    file = _FILE.fullmatch(name)
    parent = folder.rpartition("/")[2].casefold()
    if file is None or not parent:
        return False
    stem = file["stem"]
    behind = stem[len(parent) :] if stem.casefold().startswith(parent) else ""
    return (
        bool(_DATE_FOLDERS.search(folder))
        or bool(_ONLY_NUMBER.fullmatch(stem))
        or any(map(str.isdigit, behind))
    )
