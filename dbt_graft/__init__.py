"""The lineage of your Python tasks, read from engine logs and grafted onto dbt docs.

This package holds only the entry of the command and how files are replaced. Its rooms are links to
the folders beside it: `lineage`, `collectors`, `injector`, `catalog`, `exporters` and `graft`; and
`site`, the designer's folder, which travels along as data.
"""

__version__ = "0.1.0"
