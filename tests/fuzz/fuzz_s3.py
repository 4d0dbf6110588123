"""Fuzzes a store in a bucket: machines that commit, fold and compact at once, and are killed.

    python -m tests.fuzz.fuzz_s3 --rounds 100 --seed 1

In a round some machines, each a process, read the same growing logs and logs of their own. The
server answers late, with 503, or not at all, and the processes are killed and started again. A
reader must find each log whole up to some entry at any time; in the end each entry of each log must
be in the store once. Prints the round that fails, by its number: the seed decides on the faults,
but not on which machine is faster.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.process import BaseProcess

import click

from dbt_graft.collectors.store import arrow_tables, compaction, lock
from dbt_graft.collectors.store import door as store
from dbt_graft.collectors.store.errors import UnreadableStoreError
from dbt_graft.collectors.store.fold.write import fold_store
from dbt_graft.lineage.dataset import DatasetId, Kind
from dbt_graft.lineage.errors import GraftError
from dbt_graft.lineage.operations import Operation
from dbt_graft.lineage.records import Access, Direction, Records
from tests.collectors.store.s3_server import FaultyServer, faulty_server

MACHINES = 2
ENTRIES = 3
SHARED = ("shared-1", "shared-2")
_SPAWN = get_context("spawn")
# In seconds: shorter than a commit on a real server would need, so that a round ends soon.
_LEASE = 6.0


def logs_of(machine: int) -> tuple[str, ...]:
    """The logs that a machine reads: those of all, and one of its own."""
    return (*SHARED, f"own-{machine}")


def table(log: str, entry: int) -> str:
    """The table that an entry of a log writes."""
    return f"{log}_{entry}"


def run_machine(place: str, machine: int, seed: str, environment: dict[str, str]) -> None:
    """Read the logs of a machine to their ends, part by part."""
    os.environ.update(environment)
    lock.LEASE, lock.PAUSE, compaction.FAN_OUT = _LEASE, 0.1, 3
    chance = random.Random(seed)  # noqa: S311
    left = True
    while left:
        with suppress(GraftError, OSError):
            left = _read_part(place, machine, chance)
            if chance.random() < 0.3:
                fold_store(place, few=1)


def _read_part(place: str, machine: int, chance: random.Random) -> bool:
    """Read on in one of the logs that have not ended; whether there was any."""
    positions = store.positions(place)
    open_logs = [log for log in logs_of(machine) if reached(positions, log) < ENTRIES]
    if not open_logs:
        return False
    log = chance.choice(open_logs)
    begin = reached(positions, log)
    end = min(ENTRIES, begin + chance.randint(1, 2))
    accesses = tuple(
        Access(
            *("load", f"{table(log, entry)}-run", DatasetId("db", table(log, entry)), Kind.TABLE),
            *(Direction.WRITE, Operation.INSERT, "shape"),
            origin=f"{log}@{begin}",
        )
        for entry in range(begin, end)
    )
    part = arrow_tables.tables(Records(accesses), {f"{log}@{begin}": str(end)})
    store.commit(place, [part], positions)
    return True


def reached(positions: store.Positions, log: str) -> int:
    """The entry up to which a log was read."""
    end = 0
    while f"{log}@{end}" in positions:
        end = int(positions[f"{log}@{end}"][0])
    return end


def check(place: str, *, at_end: bool) -> None:
    """Check what a reader finds.

    Raises:
        AssertionError: An entry is lost or doubled.
    """
    for folded in (True, False):
        names = Counter(access.dataset.name for access in store.read(place, folded=folded).accesses)
        doubled = sorted(name for name, count in names.items() if count > 1)
        if doubled:
            raise AssertionError(f"doubled: {doubled}")
        for log in {log for machine in range(MACHINES) for log in logs_of(machine)}:
            there = [table(log, entry) in names for entry in range(ENTRIES)]
            if there != sorted(there, reverse=True) or (at_end and not all(there)):
                raise AssertionError(f"lost: {log} has {there}")


def fuzz(rounds: int, seed: int) -> Counter[str]:
    """Run this many rounds; what was counted.

    Raises:
        AssertionError: An entry was lost or doubled; the note has the number of the round.
    """
    counts: Counter[str] = Counter()
    with faulty_server(seed) as server:
        os.environ.update(server.environment())
        server.create_bucket("fuzz")
        for number in range(rounds):
            try:
                counts += _round(server, f"s3a://fuzz/store-{number}", f"{seed} {number}")
            except Exception as error:
                error.add_note(f"round {number} of seed {seed}")
                raise
    return counts


def _round(server: FaultyServer, place: str, seed: str) -> Counter[str]:
    chance = random.Random(seed)  # noqa: S311
    counts: Counter[str] = Counter()
    environment = server.environment()

    def start(machine: int) -> BaseProcess:
        own = f"{seed} {machine} {chance.random()}"
        process = _SPAWN.Process(target=run_machine, args=(place, machine, own, environment))
        process.start()
        return process

    server.slow_down, server.resets = chance.choice([0, 0.02, 0.1]), chance.choice([0, 0.02])
    server.delay = chance.choice([0, 0.02])
    running = {machine: start(machine) for machine in range(MACHINES)}
    try:
        while running:
            time.sleep(chance.uniform(0.5, 3))
            # A server that does not answer is an error, and the reader tries again.
            with suppress(UnreadableStoreError):
                check(place, at_end=False)
            counts["reads"] += 1
            for machine, process in [*running.items()]:
                if process.is_alive() and chance.random() < 0.2:
                    process.kill()
                    process.join()
                    counts["kills"] += 1
                    running[machine] = start(machine)
                elif process.exitcode is not None:
                    if process.exitcode:
                        raise AssertionError(f"machine {machine} ended with {process.exitcode}")
                    del running[machine]
    finally:
        for process in running.values():
            process.kill()
        server.recover()
    check(place, at_end=True)
    if damages := store.damages(place):
        raise AssertionError(f"damaged: {damages}")
    counts["entries"] += ENTRIES * (len(SHARED) + MACHINES)
    return counts


@click.command()
@click.option("--rounds", default=100, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(rounds: int, seed: int) -> None:
    """Fuzz a store in a bucket."""
    counts = fuzz(rounds, seed)
    rows = ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()))
    click.echo(f"{rounds:,} rounds: {rows}; nothing was lost or doubled")


if __name__ == "__main__":
    main()
