"""File systems of Hadoop under one name, whichever of their hosts a path has.

A path may be `hdfs://nn1:8020/x`, `hdfs://cluster/x` or `hdfs:/x`. Hadoop's settings are in the log
since Spark 3.0, and say which of these are one file system:

| setting | value |
|---|---|
| `fs.defaultFS` | `hdfs://cluster` |
| `dfs.namenode.rpc-address` | `nn1:8020`, of the file system above |
| `dfs.namenode.rpc-address.<cluster>.<number>` | `nn1:8020`, of that cluster |

No log says that the hosts of two clusters hold the same data: that is for a name rule.
"""

from __future__ import annotations

from collections.abc import Mapping

from dbt_graft.lineage.paths import path_dataset

_SCHEME = "hdfs"
_PORT = ":8020"


def namenodes(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the namespace of the file system for each namespace that names a host of it.

    Args:
        settings: Hadoop's settings from the table above.
    """
    top = path_dataset(settings.get("fs.defaultFS", "").rstrip("/") + "/").namespace
    default = top if top.startswith(f"{_SCHEME}://") else ""
    namespaces = {_SCHEME: default}
    for key, address in settings.items():
        match key.split("."):
            case ["dfs", "namenode", _]:
                namespaces[f"{_SCHEME}://{address}"] = default
            case ["dfs", "namenode", _, cluster, _]:
                namespaces[f"{_SCHEME}://{address}"] = f"{_SCHEME}://{cluster}"
    if default:
        namespaces[default.removesuffix(_PORT)] = default
    # The port may be left out where it is the usual one.
    namespaces |= {host.removesuffix(_PORT): to for host, to in namespaces.items()}
    return {host: to for host, to in namespaces.items() if to and host != to}
