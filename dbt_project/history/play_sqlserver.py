"""Write the log of thirty nights of SQL Server, from the one night that somebody wrote by hand.

    python dbt_project/history/play_sqlserver.py --out dbt_project/history/sqlserver

There is no SQL Server here. Each night is that of 2026-11-19 in `logs/shop_lineage.xml` on another
date; how many suppliers had changed, how long the statements took and how they ended is in the
tables below, and is made up.
"""

from __future__ import annotations

import argparse
import gzip
import re
from datetime import date, timedelta
from pathlib import Path

LOG = Path(__file__).resolve().parent.parent / "logs/shop_lineage.xml"
MODEL_NIGHT = date(2026, 11, 19)
LAST_NIGHT = date(2026, 11, 18)
# Suppliers that had changed, one number a night. On the ninth the CRM was imported again, whole.
CHANGED = (
    *(11, 9, 12, 14, 8, 10, 13, 9, 212, 12, 10, 11, 7, 9, 15),
    *(12, 10, 8, 13, 11, 9, 12, 14, 10, 6, 11, 9, 13, 12, 10),
)
# Nights, counted from 1, on which everything took that many times as long.
SLOW = {9: 6, 17: 45, 24: 2}
# Nights on which the MERGE was chosen as a deadlock's victim.
DEADLOCKS = {13, 21}
_EVENT = re.compile(r"<event name=.*?</event>\n", re.DOTALL)


def nights() -> str:
    """The log of all nights."""
    model = [
        event
        for event in _EVENT.findall(LOG.read_text(encoding="utf-8"))
        if f'timestamp="{MODEL_NIGHT}' in event and "python_task::" in event
    ]
    first = LAST_NIGHT - timedelta(days=len(CHANGED) - 1)
    found = []
    for number, changed in enumerate(CHANGED, 1):
        night = first + timedelta(days=number - 1)
        for event in model:
            found.append(_on(event, night))
            found[-1] = _took(found[-1], SLOW.get(number, 1) * (80 + changed % 7 * 8) / 100)
            if "#incoming" in event:
                failed = number in DEADLOCKS and "MERGE" in event
                found[-1] = _ended(found[-1], 0 if failed else changed, failed=failed)
    text = "".join(found)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<events>\n{text}</events>\n'


def _on(event: str, night: date) -> str:
    """An event on another date, with the numbers that events had by then."""
    earlier = MODEL_NIGHT - night
    event = re.sub(
        r"2026-\d\d-\d\d", lambda found: str(date.fromisoformat(found[0]) - earlier), event
    )
    number = re.search(r"<value>(\d+)</value></action>\n</event>", event)
    assert number
    sequence = int(number[1]) - 12 * earlier.days
    return event.replace(number[0], f"<value>{sequence}</value></action>\n</event>")


def _took(event: str, times: float) -> str:
    """An event that took so many times as long."""
    return re.sub(
        r'(name="(?:cpu_time|duration)"><value>)(\d+)',
        lambda found: f"{found[1]}{int(int(found[2]) * times)}",
        event,
    )


def _ended(event: str, rows: int, *, failed: bool) -> str:
    """An event with that many rows, or the end of a deadlock's victim."""
    if failed:
        event = event.replace("<value>0</value><text>OK<", "<value>1</value><text>Error<")
    return re.sub(r'(name="row_count"><value>)\d+', rf"\g<1>{rows}", event)


def main() -> None:
    """Write the log, packed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the log")
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    (out / "nights.xml.gz").write_bytes(gzip.compress(nights().encode(), mtime=0))


if __name__ == "__main__":
    main()
