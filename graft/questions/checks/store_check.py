"""Check a lineage store: every file is read to its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dbt_graft.analysis.render.phrases import count
from dbt_graft.collectors import store
from dbt_graft.collectors.store.clean import NO_SECRETS, StoredSecrets, stored_secrets
from dbt_graft.lineage.errors import GraftError


@dataclass(frozen=True, slots=True)
class StoreCheck:
    """The result of a check.

    Attributes:
        batches, files: Those that count, and were read.
        damages: Damaged and missing batches -> what is wrong with each.
        others: What is wrong beside the batches: values, addresses, the history of builds.
        secrets: What earlier versions have written with passwords and keys in it.
        remedies: The next steps.
    """

    place: str
    batches: int = 0
    files: int = 0
    damages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    secrets: StoredSecrets = NO_SECRETS
    remedies: tuple[str, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.damages and not self.others and not self.secrets

    def lines(self) -> Iterator[str]:
        """The result as text: a line for each damaged file."""
        for faults in self.damages.values():
            yield from faults
        yield from self.others
        if self.secrets:
            yield secrets_line(self.secrets)
        read = f"{count(self.batches, 'batch', 'es')} with {count(self.files, 'file')} read"
        if self.is_sound:
            yield f"{read}; the store is whole" if self.batches else "nothing was collected yet"
            return
        is_damaged = self.damages or self.others
        yield f"{read}; the store {'is damaged' if is_damaged else 'holds secrets'}"
        yield from self.remedies

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values."""
        return {
            "store": self.place,
            "whole": self.is_sound,
            "batches": self.batches,
            "files": self.files,
            "damages": [
                {"batch": batch, "problems": list(faults)} for batch, faults in self.damages.items()
            ],
            "others": list(self.others),
            "secrets": self.secrets.to_json(),
            "next": list(self.remedies),
        }


_DAMAGED = (
    "restore the store from a backup (docs/store.md); without one, `graft collect --again` reads "
    "what the logs still hold and gives the damaged batches up; until then `graft build` publishes "
    "the rest and ends with 7"
)


_SECRETS = "take them out: graft store clean, then graft build --full; and change what they open"


def secrets_line(secrets: StoredSecrets) -> str:
    """The parts of a store that hold secrets, counted: no name is repeated."""
    return (
        f"passwords or keys in {count(len(secrets.texts), 'name')} of "
        f"{count(len(secrets.batches), 'batch', 'es')}, "
        f"{count(len(secrets.addresses), 'address', 'es')} of pages, "
        f"{count(len(secrets.files), 'file')} beside them"
    )


def check_store(store_path: str) -> StoreCheck:
    """Read a store to its end.

    Raises:
        StoreError: It cannot be read now, or is of a newer version.
    """
    damages = store.damages(store_path)
    batches = store.batches(store_path, tuple(damages))
    others: list[str] = []
    remedies = [_DAMAGED] if damages else []

    def values() -> object:
        return store.read(store_path, results=True, without=tuple(damages))

    for read in (
        values,
        lambda: store.addresses(store_path),
        lambda: store.build_history(store_path),
    ):
        try:
            read()
        except GraftError as error:
            others.append(f"{error.place}: {error.problem}")
            remedies.append(error.remedy)
    secrets = NO_SECRETS
    if not others:
        secrets = stored_secrets(store_path, tuple(damages))
    if secrets:
        remedies.append(_SECRETS)
    return StoreCheck(
        store_path,
        len(batches),
        sum(len(batch.files) for batch in batches),
        damages,
        tuple(others),
        secrets,
        tuple(dict.fromkeys(remedies)),
    )
