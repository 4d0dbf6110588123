"""Permanent addresses in the site, made from names alone so that they are the same every build.

Paths are relative to the site's root, end in a slash and hold only `a-z 0-9 _ . -`. A name that
needs other characters, that distinguishes upper from lower case, or that is reserved on Windows
gets a digest, so that no two names share an address on any file system.

Names of columns that differ in case only are one column, so they share an anchor.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from dbt_graft.lineage.dataset import DatasetId

# Unique by their slug alone: `spark`, `mssql://crm-db:1433` (not `mssql://crm-1433`).
_PLAIN_NAMESPACE = re.compile(
    r"(?!\.)[a-z0-9_.]*[a-z0-9_]|[a-z0-9]+://(?![^:]*-\d+$)[a-z0-9_.-]*[a-z0-9_](?::\d+)?"
)
_PLAIN_PART = re.compile(r"(?!\.)[a-z0-9_.-]{0,79}[a-z0-9_-]")
_PLAIN_COLUMN = re.compile(r"[a-z0-9_]{1,80}")
_LONGEST = 60
# Pages of one site link to the same datasets and columns again and again.
_CACHED = 65_536
# Files of every folder: its page and the source of it.
_TAKEN = frozenset({"index.html", "index.md"})
# Windows' devices, also with an extension:
# https://learn.microsoft.com/windows/win32/fileio/naming-a-file#naming-conventions
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)")


@lru_cache(_CACHED)
def dataset_path(dataset: DatasetId) -> str:
    """`datasets/<namespace>/<database>/<schema>/<table>/`; parts that do not exist are left out."""
    return name_path(*dataset.key)


def name_path(namespace: str, name: str) -> str:
    """The address of a dataset by its key; also of a key that no dataset can have any more."""
    slug = re.sub(r"[^a-z0-9_.]+", "-", namespace).strip("-.")
    plain = _PLAIN_NAMESPACE.fullmatch(namespace) and len(slug) <= _LONGEST
    if not plain or _is_reserved(slug):
        slug = _with_digest(slug, namespace)
    parts = [part for part in name.split("/" if "/" in name else ".") if part] or [name]
    return "/".join(["datasets", slug, *map(_segment, parts), ""])


@lru_cache(_CACHED)
def column_anchor(column: str) -> str:
    """`column-amount`: the anchor of a column on its dataset's page, without `#`."""
    return f"column-{_column_slug(column)}"


def columns_path(column: str) -> str:
    """`columns/am/`: the page that lists the datasets with a column of this name."""
    return f"columns/{re.sub('[-_]', '', _column_slug(column))[:2] or '_'}/"


def task_path(task: str) -> str:
    """`tasks/<task>/`"""
    return f"tasks/{_segment(task)}/"


def dag_path(dag: str) -> str:
    """`dags/<dag>/`"""
    return f"dags/{_segment(dag)}/"


def tag_path(tag: str) -> str:
    """`tags/<tag>/`"""
    return f"tags/{_segment(tag)}/"


def owner_path(owner: str) -> str:
    """`owners/<owner>/`"""
    return f"owners/{_segment(owner)}/"


def platform_path(scheme: str) -> str:
    """`platforms/<scheme>/`: by the scheme of namespaces, which no product's new name changes."""
    return f"platforms/{_segment(scheme)}/"


def _column_slug(column: str) -> str:
    name = column.casefold()
    if _PLAIN_COLUMN.fullmatch(name):
        return name
    # The dash is there always: no plain name has one.
    return f"{re.sub(r'[^a-z0-9_]+', '-', name).strip('-')[:_LONGEST]}-{_digest(name)}"


def _segment(text: str) -> str:
    if _PLAIN_PART.fullmatch(text) and not _is_reserved(text):
        return text
    return _with_digest(re.sub(r"[^a-z0-9_.-]+", "-", text.lower()).strip("-."), text)


def _is_reserved(slug: str) -> bool:
    """A file or folder cannot have this name everywhere."""
    return slug in _TAKEN or _DEVICE.match(slug) is not None


def _with_digest(slug: str, text: str) -> str:
    if _DEVICE.match(slug):
        slug = slug.replace(".", "-")  # `con.txt-…` is the device still
    return f"{slug[:_LONGEST]}-{_digest(text)}".lstrip("-")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
