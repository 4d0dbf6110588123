"""Addresses of the site: of each page that was ever published, also those of what is gone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from dbt_graft.lineage.frozen import frozen


@frozen
class Address:
    """The address of a page; it is never given up.

    Attributes:
        path: Relative to the site's root: `datasets/spark/raw/orders/`.
        title: The heading of the page: the name of a dataset, a task, a tag.
        first_at: When it was published first.
        is_gone: It has nothing to show any more, since `gone_at`.
        moved_to: The path that what was there has now; empty if it has none.
    """

    path: str
    title: str
    first_at: datetime | None = None
    is_gone: bool = False
    gone_at: datetime | None = None
    moved_to: str = ""


def update_addresses(
    earlier: Iterable[Address],
    present: Mapping[str, str],
    moved: Mapping[str, str],
    at: datetime | None,
) -> tuple[Address, ...]:
    """All addresses, sorted: those of earlier builds and those that have a page now.

    Args:
        present: Path -> title of each page that there is now.
        moved: Former path -> the present one; also such that were never published.
        at: The date of this build, for what is new or gone since the last one.
    """
    before = {address.path: address for address in earlier}
    addresses = {path: Address(path, title, at) for path, title in present.items()}
    for path, address in before.items():
        if path in present:
            addresses[path] = replace(addresses[path], first_at=address.first_at)
        else:
            since = address.gone_at if address.is_gone else at
            target = moved.get(path, address.moved_to)
            addresses[path] = replace(address, is_gone=True, gone_at=since, moved_to=target)
    for path, target in moved.items():
        if path not in addresses:
            addresses[path] = Address(path, present.get(target, ""), at, True, at, target)
    return tuple(addresses[path] for path in sorted(addresses))


def present_path(address: Address, addresses: Mapping[str, Address]) -> str:
    """The path to which an address leads now, after all moves; empty if it leads nowhere.

    Args:
        addresses: All addresses by their path.
    """
    seen: set[str] = set()
    current: Address | None = address
    while current and current.is_gone and current.path not in seen:
        seen.add(current.path)
        current = addresses.get(current.moved_to)
    return current.path if current and not current.is_gone else ""
