"""Permanent addresses in the site, made from names alone so that they are the same every build.

Paths are relative to the site's root, end in a slash and hold only `a-z 0-9 _ . -`. A name with
other characters, or with upper case, gets a digest so that no two names share an address on any
file system.
"""

from __future__ import annotations

import hashlib
import re

from dbt_graft.lineage.dataset import DatasetId

# Namespaces with a unique slug: `spark`, `mssql://crm-db:1433` (not `mssql://crm-1433`).
_PLAIN_NAMESPACE = re.compile(
    r"[a-z0-9_.]*[a-z0-9_]|[a-z0-9]+://(?![^:]*-\d+$)[a-z0-9_.-]*[a-z0-9_](?::\d+)?"
)
_PLAIN_PART = re.compile(r"(?!\.|index\.html$)[a-z0-9_.-]{1,80}")
_LONGEST = 60


def dataset_path(dataset: DatasetId) -> str:
    """`datasets/<namespace>/<database>/<schema>/<table>/`; parts that do not exist are left out."""
    namespace, name = dataset.key
    slug = re.sub(r"[^a-z0-9_.]+", "-", namespace).strip("-.")
    if len(slug) > _LONGEST or not _PLAIN_NAMESPACE.fullmatch(namespace):
        slug = f"{slug[:_LONGEST]}-{_digest(namespace)}"
    parts = DatasetId(namespace, name).parts or (name,)
    return "/".join(["datasets", slug, *map(_segment, parts), ""])


def task_path(task: str) -> str:
    """`tasks/<task>/`"""
    return f"tasks/{_segment(task)}/"


def tag_path(tag: str) -> str:
    """`tags/<tag>/`"""
    return f"tags/{_segment(tag)}/"


def owner_path(owner: str) -> str:
    """`owners/<owner>/`"""
    return f"owners/{_segment(owner)}/"


def _segment(text: str) -> str:
    if _PLAIN_PART.fullmatch(text):
        return text
    slug = re.sub(r"[^a-z0-9_.-]+", "-", text.lower()).strip("-.")
    return f"{slug[:_LONGEST]}-{_digest(text)}".lstrip("-")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
