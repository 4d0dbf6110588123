"""Settings of the export in graft.yml, apart from the exporter, which takes long to import."""

from __future__ import annotations

from enum import StrEnum
from urllib.parse import urlsplit, urlunsplit

# Of Marquez, and of most others: https://openlineage.io/docs/client/python
_PATH = "/api/v1/lineage"


class ExportedKind(StrEnum):
    """Kinds of events."""

    DATASET = "dataset"
    JOB = "job"
    RUN = "run"


def endpoint_url(url: str) -> str:
    """The URL that events are posted to: Marquez' path is added to a bare host.

    Raises:
        ValueError: It is no http(s) URL, or has a user, a password or a fragment.
    """
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.fragment:
        raise ValueError("write http(s)://<host>:<port>, or with the path that takes events")
    if "@" in parts.netloc:
        raise ValueError("write the URL without user and password: see `openlineage.authorization`")
    path = parts.path if parts.path.strip("/") else _PATH
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))
