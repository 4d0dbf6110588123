"""Settings of Spark logs in graft.yml, apart from the collector, which takes long to import."""

from __future__ import annotations

import re

CONF = "conf:"
_TASK_SOURCE = re.compile(
    r"app_name|job_group|job_description|call_site|databricks|" + CONF + r"\S+"
)


def is_history_server(path: str) -> bool:
    """Whether a source's path is the address of a History Server."""
    return path.startswith(("http://", "https://"))


def is_task_source(text: str) -> bool:
    """Whether a text names a source of task names, of those in `application.tasks`."""
    return bool(_TASK_SOURCE.fullmatch(text))
