"""Namespaces with a path, as catalogs of Iceberg have them: `iceberg://prod/silver` + `db.orders`.

The text `iceberg://prod/silver/db.orders` does not tell where its namespace ends, and people write
it in declared lineage. Where records know the namespace, each dataset below it is cut there: so it
has the parts of a table, and one spelling.
"""

from __future__ import annotations

from dataclasses import replace

from dbt_graft.lineage.dataset import DatasetId, Kind, split_namespace
from dbt_graft.lineage.records import Access, Records
from dbt_graft.lineage.renaming import map_datasets


def with_known_namespaces(records: Records) -> Records:
    """The records with the longest namespace of each dataset that they know."""
    namespaces = {dataset.id.namespace for dataset in records.datasets}
    namespaces |= {access.dataset.namespace for access in records.accesses}
    with_path = [namespace for namespace in namespaces if split_namespace(namespace)[1]]
    if not with_path:
        return records
    longest_first = sorted(with_path, key=lambda namespace: (-len(namespace), namespace))

    def cut(dataset: DatasetId) -> DatasetId:
        text = str(dataset)
        folded = text.casefold()
        for namespace in longest_first:
            if folded.startswith(f"{namespace.casefold()}/"):
                return DatasetId(namespace, text[len(namespace) + 1 :])
        return dataset

    named = map_datasets(records, cut)
    return replace(named, accesses=tuple(map(_with_kind, named.accesses)))


def _with_kind(access: Access) -> Access:
    """An access whose dataset was taken for a path as long as its namespace was not known."""
    is_table = access.kind is Kind.PATH and not access.dataset.is_path
    return replace(access, kind=Kind.TABLE) if is_table else access
