"""The most memory that Java and the Python workers below a benchmark take."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from threading import Event, Thread


class Memory(Thread):
    """The most memory that each kind of process below us took, in bytes."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peaks: dict[str, dict[int, int]] = {"java": {}, "python": {}}
        self.done = Event()

    def run(self) -> None:
        """Look twice a second until `done` is set."""
        while not self.done.wait(0.5):
            table = subprocess.run(
                ["ps", "-A", "-o", "pid=,ppid=,comm="], capture_output=True, text=True, check=True
            )
            lines = [line.split(None, 2) for line in table.stdout.splitlines()]
            ours = {str(os.getpid())}
            for pid, parent, command in lines * 4:
                kind = "java" if "java" in command else "python"
                if parent in ours and ("java" in command or "python" in command):
                    ours.add(pid)
                    self.peaks[kind][int(pid)] = _peak(pid)

    def most(self, kind: str) -> float:
        """The sum of the peaks of all processes of a kind, in MB."""
        return sum(self.peaks[kind].values()) / 2**20


def _peak(pid: str) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    high = next((line for line in status.splitlines() if line.startswith("VmHWM")), "VmHWM: 0")
    return int(high.split()[1]) * 1024
