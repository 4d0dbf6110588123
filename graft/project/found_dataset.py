"""One dataset by the name that people write: its identity, or the end of it."""

from __future__ import annotations

from dbt_graft.graft.project.named_datasets import close_to, datasets_named
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.model import Lineage

_SHOWN = 5


def find_dataset(lineage: Lineage, name: str) -> DatasetId:
    """The dataset of a name, a former one or an alias too.

    Raises:
        GraftError: There is none, or several are meant.
    """
    names = {dataset: dataset for dataset in lineage.datasets}
    others = {
        other: dataset
        for other_names in (lineage.former_names, lineage.aliases)
        for dataset, before in other_names.items()
        for other in before
    }
    matches = datasets_named(name, names) or datasets_named(name, others)
    if len(matches) == 1:
        return matches[0]
    if matches:
        shown = ", ".join(map(str, sorted(matches)[:_SHOWN]))
        raise GraftError(f"{len(matches)} datasets have this name: {shown}", place=name)
    close = close_to(name, lineage.datasets)
    remedy = f"did you mean {' or '.join(close)}?" if close else "list them with `graft export`"
    raise GraftError("there is no such dataset", place=name, remedy=remedy)
