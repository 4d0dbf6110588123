"""Search for the datasets that a name may mean, among very many."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence

from dbt_graft.graft.project.named_datasets import datasets_named, shown_name
from dbt_graft.lineage.dataset import DatasetId

_END = "\0"
# So many names end with it: it is no longer worth while to look at each.
_MANY = 100


class DatasetSearch:
    """Names of datasets, those that they had before too, as one text.

    Args:
        text: The folded names, each between two `_END`.
        places: Of each name in the text the place of its dataset; former names come after all.
    """

    def __init__(
        self,
        datasets: Sequence[DatasetId],
        former: Mapping[DatasetId, Sequence[DatasetId]],
        text: str,
        places: Sequence[int],
    ) -> None:
        self._datasets, self._count = datasets, len(datasets)
        self._former = [(old, new) for new, old_names in former.items() for old in old_names]
        self.text, self.places = text, places

    @classmethod
    def for_datasets(
        cls, datasets: Sequence[DatasetId], former: Mapping[DatasetId, Sequence[DatasetId]]
    ) -> DatasetSearch:
        """A search for datasets."""
        names, places = [""], array("i")
        for place, dataset in enumerate(
            (*datasets, *(o for old_names in former.values() for o in old_names))
        ):
            for name in dict.fromkeys((str(dataset), shown_name(dataset))):
                names.append(name.casefold().replace(_END, " "))
                places.append(place)
        return cls(datasets, former, _END.join((*names, "")), places)

    def all(self) -> dict[DatasetId, DatasetId]:
        """All names -> the dataset that has it, itself or under another name."""
        return {**{dataset: dataset for dataset in self._datasets}, **dict(self._former)}

    def named(self, name: str) -> list[DatasetId]:
        """The datasets that a name means; see `datasets_named`."""
        return datasets_named(name, self._near(name))

    def _near(self, name: str) -> dict[DatasetId, DatasetId]:
        """The names that are, or end with, a name, and perhaps others."""
        wanted, places = name.casefold(), set()
        for before in (_END, ".", "/"):
            at = self.text.find(f"{before}{wanted}{_END}")
            while at >= 0:
                places.add(self.places[self.text.count(_END, 0, at + 1) - 1])
                if len(places) > _MANY:
                    return self.all()
                at = self.text.find(f"{before}{wanted}{_END}", at + 1)
        return dict(map(self._name_at, sorted(places)))

    def _name_at(self, place: int) -> tuple[DatasetId, DatasetId]:
        if place < self._count:
            return self._datasets[place], self._datasets[place]
        return self._former[place - self._count]
