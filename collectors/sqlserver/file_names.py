"""Datasets of files that SQL Server reads, named as by Spark: BULK INSERT, COPY INTO, OPENROWSET.

| path | dataset |
|---|---|
| `https://acc.blob.core.windows.net/lake/x` | `abfss://lake@acc.dfs.core.windows.net/x` |
| `abs://…`, `adls://…` of such an account | the same |
| `s3://bucket/x` | `s3://bucket/x` |
| `\\\\fs01\\share\\x.csv` | `file://fs01/share/x.csv` |
| `C:\\in\\x.csv`, `/in/x.csv` | `file://sql01/C:/in/x.csv`, on the server's own disk |
"""

from __future__ import annotations

import re

from dbt_graft.lineage.dataset import DatasetId
from dbt_graft.lineage.paths import dataset_folders, path_dataset

_AZURE = re.compile(
    r"(?:https?|abs|adls|abfss?|wasbs?)://(?:(?P<user>[^/@]+)@)?(?P<account>[\w-]+)"
    r"\.(?:blob|dfs)\.core\.windows\.net(?::\d+)?/(?P<path>.*)",
    re.IGNORECASE,
)
_SHARE = re.compile(r"//(?P<host>[^/]+)(?P<path>/.*)")


def file_dataset(path: str, server: str) -> DatasetId:
    """The dataset of a file or folder.

    Args:
        path: As a statement names it.
        server: The namespace of the server that reads it: `mssql://sql01:1433`.
    """
    if azure := _AZURE.fullmatch(path):
        container, _, rest = azure["path"].partition("/")
        if azure["user"]:
            container, rest = azure["user"], azure["path"]
        account = azure["account"].lower()
        path = f"abfss://{container}@{account}.dfs.core.windows.net/{rest}"
    if "://" in path:
        return path_dataset(dataset_folders([path])[0])
    local = path.replace("\\", "/")
    host = re.split(r"[:/]", server.partition("://")[2])[0]
    if share := _SHARE.fullmatch(local):
        host, local = share["host"], share["path"]
    folder = dataset_folders([f"/{local.lstrip('/')}"])[0]
    return DatasetId(f"file://{host}", folder)
