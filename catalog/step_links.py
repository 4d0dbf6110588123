"""The links in the lists of datasets upstream and downstream.

A dataset is in the lists of hundreds of pages, so each link is made once. A page takes one text of
it and looks at nothing else: processes that write pages go on sharing the lineage.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby

from markupsafe import Markup

from dbt_graft.catalog.index import Index
from dbt_graft.catalog.links import identity_title, name_beside, place_of
from dbt_graft.catalog.markup import text
from dbt_graft.catalog.neighbourhood import box_shape
from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.urls import dataset_path


class StepLinks:
    """The links to datasets by their number in `steps`."""

    def __init__(self, index: Index, datasets: Sequence[DatasetId]) -> None:
        schemas: dict[object, object] = {}
        self._shapes = [box_shape(index, dataset) for dataset in datasets]
        self._places = [schemas.setdefault(schema, schema) for schema in map(place_of, datasets)]
        self._links = [_link(dataset, dataset.short) for dataset in datasets]
        self._short_links = [_link(dataset, name_beside(dataset, dataset)) for dataset in datasets]

    def html(self, numbers: Iterable[int], root: str, beside: DatasetId) -> Markup:
        """Links, one after the other, those of one shape in an element with its class.

        Args:
            beside: The dataset whose page it is: its schema goes without saying.
        """
        schema = place_of(beside)
        groups = (
            f'<span class="of-{shape}">'
            + "".join(
                f'<a href="{root}'
                + (
                    self._short_links[number]
                    if schema and self._places[number] == schema
                    else self._links[number]
                )
                for number in alike
            )
            + "</span>"
            for shape, alike in groupby(numbers, self._shapes.__getitem__)
        )
        return Markup("".join(groups))  # noqa: S704


@lru_cache(maxsize=1)
def step_links(index: Index) -> StepLinks:
    """The links to all datasets of a site, by their number in its steps."""
    return StepLinks(index, index.dataset_steps.datasets)


def _link(dataset: DatasetId, name: str) -> str:
    return f'{dataset_path(dataset)}index.html"{identity_title(dataset)}>{text(name)}</a>'
