"""Pages at former addresses, which lead to the present ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from dbt_graft.catalog.page import path_to_root
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.urls import dataset_path

# Addresses hold no character that HTML would read as syntax.
_PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="robots" content="noindex">
<meta http-equiv="refresh" content="0; url={address}">
<title>This page has moved</title>
<p>This page has moved: <a href="{address}">its new address</a>.
</html>
"""


def write_redirects(datasets: Iterable[DatasetId], moved: Mapping[str, str], site: Path) -> None:
    """Write a page at the former address of each dataset, and of the folders above it.

    A page that the site has at such an address stays.

    Args:
        moved: Former namespace -> the one that its datasets have now.
    """
    for old, new in sorted(_addresses(datasets, moved).items()):
        target = site / old / "index.html"
        if target.exists():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        address = f"{path_to_root(old)}{new}index.html"
        target.write_text(_PAGE.format(address=address), encoding="utf-8")


def _addresses(datasets: Iterable[DatasetId], moved: Mapping[str, str]) -> dict[str, str]:
    """Former address -> present address; the former are only those of a former namespace."""
    return {
        old: new
        for dataset in datasets
        for former, now in moved.items()
        if dataset.namespace == now and former != now
        for old, new in _with_folders(
            dataset_path(DatasetId(former, dataset.name)), dataset_path(dataset)
        )
    }


def _with_folders(old: str, new: str) -> Iterator[tuple[str, str]]:
    """Both addresses and those of the folders above them, but not `datasets/` itself."""
    former, present = old.rstrip("/").split("/"), new.rstrip("/").split("/")
    for end in range(2, min(len(former), len(present)) + 1):
        yield "/".join([*former[:end], ""]), "/".join([*present[:end], ""])
