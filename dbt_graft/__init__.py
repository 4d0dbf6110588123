"""The lineage of your Python tasks, read from engine logs and grafted onto dbt docs.

This package holds only the entry of the command and how files are replaced. Its rooms are the
folders beside it (`lineage`, `collectors`, `injector`, `catalog`, `exporters`, `graft`), which
`setup.py` installs as `dbt_graft.<room>`.
"""

__version__ = "0.1.0"
