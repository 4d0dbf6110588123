"""Progress of a collect through its logs: the workers count, this process looks."""

from __future__ import annotations

from dbt_graft.collectors.engines.engine import Count, Engine
from dbt_graft.lineage.frozen import frozen


@frozen
class ReadCounter:
    """Counts what a worker has read; goes along to the workers."""

    logs: Count | None = None
    bytes: Count | None = None

    def add(self, logs: int, size: int) -> None:
        """Count logs, and bytes, that were read to their end."""
        if self.logs is not None and self.bytes is not None:
            self.logs.add(logs)
            self.bytes.add(size)


class Reading:
    """The logs and bytes of a collect, and how many of them were read, where workers count."""

    def __init__(self, engine: Engine | None = None) -> None:
        self._all_logs = self._all_bytes = 0
        self._counter = ReadCounter(engine.count(), engine.count()) if engine else ReadCounter()

    def counter(self, logs: int, size: int) -> ReadCounter:
        """The counter for workers that are to read so many logs and bytes more."""
        self._all_logs += logs
        self._all_bytes += size
        return self._counter

    @property
    def size(self) -> int:
        """The bytes of all logs that are to be read."""
        return self._all_bytes

    @property
    def part(self) -> float | None:
        """The part of the bytes that was read, from 0 to 1; None where it is not known."""
        if self._counter.bytes is None or not self._all_bytes:
            return None
        return min(1.0, self._counter.bytes.value / self._all_bytes)

    def __str__(self) -> str:
        if not self._all_logs:
            return ""
        if self._counter.logs is None or self._counter.bytes is None:
            return f"{self._all_logs:,} logs, {_size(self._all_bytes)}"
        logs = min(self._counter.logs.value, self._all_logs)
        size = min(self._counter.bytes.value, self._all_bytes)
        if logs == self._all_logs:
            return f"{logs:,} logs read, {_size(size)}; writing to the store"
        return f"{logs:,} of {self._all_logs:,} logs, {_size(size)} of {_size(self._all_bytes)}"


def _size(count: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1_000 or unit == "GB":
            break
        count /= 1_000
    return f"{count:,.0f} {unit}" if unit == "bytes" else f"{count:,.1f} {unit}"
