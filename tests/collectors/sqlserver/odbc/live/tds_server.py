"""A server that speaks just enough of SQL Server's protocol for real drivers to poll a session.

It runs as a process of its own, prints its port and then the application's name at each login. The
first readings of all of the log break off with a deadlock, as often as its argument says, and every
reading behind a checkpoint finds the file gone. After [MS-TDS], version 7.4.
"""

from __future__ import annotations

import socket
import struct
import sys
import threading
from collections.abc import Iterable
from itertools import count
from typing import TypeAlias

PRELOGIN, LOGIN, BATCH, RPC = 0x12, 0x10, 0x01, 0x03
INFO, ERROR = 0xAB, 0xAA
DONE, DONE_PROC, DONE_IN_PROC = 0xFD, 0xFE, 0xFF
COLLATION = bytes.fromhex("0904d00034")
INT, BIGINT = b"\x26\x04", b"\x26\x08"
NVARCHAR = b"\xe7\x08\x02" + COLLATION
NVARCHAR_MAX = b"\xe7\xff\xff" + COLLATION

Columns: TypeAlias = list[bytes]
Row: TypeAlias = tuple[int | str | bytes, ...]

FILE = "C:\\Log\\lineage_0_13.xel"
TARGET = f'<EventFileTarget truncated="0"><File name="{FILE}"/></EventFileTarget>'
EVENTS = 300


def utf16(text: str) -> bytes:
    return text.encode("utf-16-le")


def short(text: str) -> bytes:
    return bytes([len(text)]) + utf16(text)


def block(token: int, body: bytes) -> bytes:
    return struct.pack("<BH", token, len(body)) + body


def done(token: int, status: int = 0) -> bytes:
    return struct.pack("<BHHQ", token, status, 0xC1, 0)


def message(token: int, number: int, severity: int, text: str) -> bytes:
    body = struct.pack("<iBBH", number, 1, severity, len(text)) + utf16(text)
    return block(token, body + short("server") + short("") + struct.pack("<I", 1))


def cell(kind: bytes, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return struct.pack("<Bi" if kind is INT else "<Bq", kind[1], value)
    raw = utf16(value) if isinstance(value, str) else value
    if kind is NVARCHAR:
        return struct.pack("<H", len(raw)) + raw
    return struct.pack("<QI", len(raw), len(raw)) + raw + bytes(4)


def result(columns: Columns, rows: Iterable[Row]) -> bytes:
    head = struct.pack("<BH", 0x81, len(columns))
    head += b"".join(struct.pack("<IH", 0, 9) + kind + short("c") for kind in columns)
    cells = (b"".join(map(cell, columns, row)) for row in rows)
    return head + b"".join(b"\xd1" + row for row in cells)


def event(number: int) -> bytes:
    # The statement ends in half a character.
    text = (
        '<event name="sql_batch_completed" package="sqlserver" '
        f'timestamp="2026-11-21T10:00:00.123Z"><data name="batch_text"><value>żółw {"x" * 5000}'
    )
    rest = (
        '</value></data><action name="event_sequence" package="package0">'
        f"<value>{number}</value></action></event>"
    )
    return utf16(text) + b"\x3d\xd8" + utf16(rest)


class Session:
    """The answers of one connection."""

    readings = count()

    def __init__(self, deadlocks: int) -> None:
        self.deadlocks = deadlocks

    def answer(self, kind: int, text: str) -> bytes:
        """The answer to a batch or a call that holds a text."""
        found = self.rows(text)
        if kind == BATCH:
            return found + done(DONE)
        handle = struct.pack("<BH", 0xAC, 0) + short("@h") + struct.pack("<BIH", 1, 0, 0) + INT
        returned = b"\x79" + bytes(4) + handle + cell(INT, 1)
        return (found + done(DONE_IN_PROC, 1) if found else b"") + returned + done(DONE_PROC)

    def rows(self, text: str) -> bytes:
        if "EngineEdition" in text:
            return result([INT, INT], [(3, 16)])
        if "dm_xe_sessions" in text:
            return result([BIGINT, BIGINT, BIGINT, NVARCHAR_MAX], [(0, 0, 0, TARGET)])
        if "fn_xe_file_target_read_file" not in text:
            return b""
        columns = [NVARCHAR, NVARCHAR_MAX, NVARCHAR, BIGINT]
        if "NULL, NULL, NULL)" not in text:
            gone = message(ERROR, 25717, 16, "The operating system returned error 2.")
            return result(columns, []) + gone
        log = [("sql_batch_completed", event(n), FILE, n // 10 * 512) for n in range(EVENTS)]
        if next(self.readings) < self.deadlocks:
            victim = message(ERROR, 1205, 13, "Transaction was chosen as the deadlock victim.")
            return result(columns, log[: EVENTS // 2]) + victim
        return result(columns, log)


def logged_in(application: str) -> bytes:
    print(application, flush=True)
    name = struct.pack(">BI", 1, 0x74000004) + short("Microsoft SQL Server") + bytes([16, 0, 0, 0])
    return (
        block(0xE3, b"\x01" + short("master") + short(""))
        + block(0xE3, b"\x07\x05" + COLLATION + b"\0")
        + block(0xE3, b"\x04" + short("4096") + short("4096"))
        + block(0xAD, name)
        + done(DONE)
    )


def serve(connection: socket.socket, session: Session) -> None:
    """Answer a client until it is gone."""
    stream = connection.makefile("rb")
    body = b""
    while len(header := stream.read(8)) == 8:
        kind, status, length = struct.unpack(">BBH", header[:4])
        body += stream.read(length - 8)
        if not status & 1:
            continue
        if kind == PRELOGIN:
            options = struct.pack(">BHHBHHB", 0, 11, 6, 1, 17, 1, 0xFF)
            answer = options + bytes([16, 0, 0, 0, 0, 0]) + b"\x02"  # no encryption
        elif kind == LOGIN:
            start, characters = struct.unpack_from("<HH", body, 48)
            answer = logged_in(body[start : start + 2 * characters].decode("utf-16-le"))
        else:
            # A text may begin at an odd byte.
            text = "".join(body[odd:].decode("utf-16-le", "replace") for odd in (0, 1))
            answer = session.answer(kind, text) if kind in (BATCH, RPC) else done(DONE, 0x20)
        body = b""
        send(connection, answer)


def send(connection: socket.socket, data: bytes) -> None:
    parts = [data[start : start + 4088] for start in range(0, len(data), 4088)]
    for number, part in enumerate(parts, 1):
        last = number == len(parts)
        header = struct.pack(">BBHHBB", 4, last, len(part) + 8, 51, number & 255, 0)
        connection.sendall(header + part)


def main() -> None:
    """Serve until killed; the argument is how many readings a deadlock ends."""
    session = Session(int(sys.argv[1]))
    with socket.create_server(("127.0.0.1", 0)) as server:
        print(server.getsockname()[1], flush=True)
        while True:
            connection, _ = server.accept()
            threading.Thread(target=serve, args=(connection, session), daemon=True).start()


if __name__ == "__main__":
    main()
