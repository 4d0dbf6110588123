"""Kinds of datasets, by how their dates grow."""

from __future__ import annotations

from enum import StrEnum


class DatasetKind(StrEnum):
    """Kind of a dataset, by how its dates grow.

    TIME_SERIES: each run adds dates. SLIDING: each date is computed from a window of input dates.
    SNAPSHOT: each run replaces all of it. CUMULATIVE: each run adds to all that was before.
    STATIC: it is read and never written.
    """

    TIME_SERIES = "time series"
    SLIDING = "sliding"
    SNAPSHOT = "snapshot"
    CUMULATIVE = "cumulative"
    STATIC = "static"
