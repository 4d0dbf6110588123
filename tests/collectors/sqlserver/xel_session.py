"""The metadata of a captured file: a session and its types, for the writer of .xel files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

STREAM = UUID("b4ec3170-32a8-8444-8513-5ad14a08c976")
BASE = 133_800_000_000_000_000  # 2024-12-30T02:40Z, when the server started, since 1601.
TICKS = 10_000_000

# Sizes of the types as they stand in the metadata; 0 varies.
SIZES = {
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "uint8": 1,
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
    "float32": 4,
    "float64": 8,
    "boolean": 1,
    "char": 1,
    "wchar": 2,
    "ptr": 8,
    "cpu_cycle": 8,
    "filetime": 8,
    "activity_id": 20,
    "activity_id_xfer": 20,
    "guid": 0,
    "guid_ptr": 8,
    "unicode_string": 0,
    "unicode_string_ptr": 8,
    "ansi_string": 0,
    "ansi_string_ptr": 8,
    "xml": 0,
    "binary_data": 0,
    "callstack": 0,
    "strange": 6,
}


@dataclass(frozen=True)
class Map:
    """An enumeration or a mask: the bytes of a stored value, and the names of the values."""

    width: int
    texts: Mapping[int, str]


@dataclass(frozen=True)
class Session:
    """The metadata of a file.

    Attributes:
        events: Each event's columns: name -> type or map.
        actions: Each action's type.
        first_id: Added to every id: ids differ from server to server.
    """

    events: Mapping[str, Mapping[str, str]]
    actions: Mapping[str, str] = field(default_factory=dict)
    maps: Mapping[str, Map] = field(default_factory=dict)
    stream: UUID = STREAM
    base: int = BASE
    ticks: int = TICKS
    first_id: int = 1

    def id(self, kind: int, names: Iterable[str], name: str) -> int:
        """The id of an object: 0 event, 1 action, 3 map, 6 type; types belong to package0."""
        index = list(names).index(name) + self.first_id
        return kind << 28 | index << 10 | (0 if kind == 6 else 2)

    def type_id(self, name: str) -> int:
        """The id of a type or map."""
        return self.id(3, self.maps, name) if name in self.maps else self.id(6, SIZES, name)


_READS = {"duration": "uint64", "cpu_time": "uint64", "physical_reads": "uint64"}
_READS |= {"logical_reads": "uint64", "writes": "uint64"}
_LINES = {"line_number": "int32", "offset": "int32", "offset_end": "int32"}
_MODULE = {"source_database_id": "uint32", "object_id": "int32", "object_type": "object_type"}
LINEAGE = Session(
    events={
        "sql_batch_completed": {
            **_READS,
            "row_count": "uint64",
            "result": "result",
            "batch_text": "unicode_string",
        },
        "sql_batch_starting": {"batch_text": "unicode_string"},
        "rpc_completed": {
            **_READS,
            "result": "result",
            "row_count": "uint64",
            "connection_reset_option": "connection_reset_option",
            "object_name": "unicode_string",
            "statement": "unicode_string",
            "data_stream": "binary_data",
            "output_parameters": "xml",
        },
        "sql_statement_completed": {
            **_READS,
            "row_count": "uint64",
            "last_row_count": "uint64",
            **_LINES,
            "statement": "unicode_string",
            "parameterized_plan_handle": "binary_data",
        },
        "sp_statement_completed": {
            **_MODULE,
            **_READS,
            "row_count": "uint64",
            "last_row_count": "uint64",
            "nest_level": "uint16",
            **_LINES,
            "object_name": "unicode_string",
            "statement": "unicode_string",
        },
        "module_end": {
            **_MODULE,
            "duration": "uint64",
            "row_count": "uint64",
            **_LINES,
            "object_name": "unicode_string",
            "statement": "unicode_string",
        },
        "error_reported": {
            "error_number": "int32",
            "severity": "int32",
            "state": "int32",
            "user_defined": "boolean",
            "category": "error_category",
            "destination": "error_destination",
            "is_intercepted": "boolean",
            "message": "unicode_string",
        },
    },
    actions={
        "client_app_name": "unicode_string",
        "client_hostname": "unicode_string",
        "database_id": "uint16",
        "database_name": "unicode_string",
        "event_sequence": "uint64",
        "query_hash": "uint64",
        "server_principal_name": "unicode_string",
        "session_id": "uint16",
        "username": "unicode_string",
        "attach_activity_id": "activity_id",
        "attach_activity_id_xfer": "activity_id_xfer",
    },
    maps={
        "result": Map(1, {0: "OK", 1: "Error", 2: "Abort", 3: "Skipped"}),
        "connection_reset_option": Map(1, {1: "KeepDTCXact", 2: "KeepXact", 0: "None"}),
        "object_type": Map(2, {8272: "PROC", 21587: "TRIGGER", 17993: "INLINE FUNCTION"}),
        "error_category": Map(4, {0: "UNKNOWN", 2: "SERVER", 4: "TSQL"}),
        "error_destination": Map(4, {1: "EVENTLOG", 2: "USER", 4: "ERRORLOG"}),
    },
)
