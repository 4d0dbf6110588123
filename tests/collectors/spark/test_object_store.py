"""Logs in an object store are listed and read as those in a folder, with few requests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from dbt_graft.collectors.spark.listing import new_logs
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.store.read_log import assemble
from dbt_graft.collectors.spark.worker import event_files
from tests.collectors.spark.stored import tables

LISTED = (
    "<Contents><Key>{}</Key><Size>{}</Size>"
    "<LastModified>2026-11-21T00:00:00.000Z</LastModified></Contents>"
)


@dataclass
class Bucket:
    """Its objects by their keys, and the ranges that they were asked for in."""

    objects: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def listing(self, prefix: str) -> bytes:
        """As `ListObjectsV2` answers."""
        found = [
            LISTED.format(key, len(body))
            for key, body in self.objects.items()
            if key.startswith(prefix)
        ]
        count = f"<IsTruncated>false</IsTruncated><KeyCount>{len(found)}</KeyCount>"
        return f"<ListBucketResult>{count}{''.join(found)}</ListBucketResult>".encode()


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """The bucket `b` of a server that speaks as S3 does."""
    there = Bucket()

    class ObjectStoreHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            address = urlsplit(self.path)
            query = parse_qs(address.query)
            body = there.objects.get(unquote(address.path).removeprefix("/b/"))
            asked = self.headers.get("Range")
            if "list-type" in query:
                body = there.listing(query["prefix"][0])
            elif body is not None and asked:
                there.asked.append(asked)
                first, last = asked.removeprefix("bytes=").split("-")
                body = body[int(first) : int(last) + 1]
            self.send_response(404 if body is None else 206 if asked else 200)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            if body and self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), ObjectStoreHandler) as http:
        for name, value in {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{http.server_port}",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "hunter2",
            "AWS_EC2_METADATA_DISABLED": "true",
            "NO_PROXY": "127.0.0.1",
        }.items():
            monkeypatch.setenv(name, value)
        thread = threading.Thread(target=http.serve_forever, args=[0.01])
        thread.start()
        yield there
        http.shutdown()
        thread.join()


def test_logs_of_an_object_store_are_listed_and_read(
    bucket: Bucket, make_log: Any, node: Any
) -> None:
    log = make_log({"plan": node("Scan hive raw.a")})
    log += b'{"Event":"SparkListenerTaskEnd"}\n' * 60_000
    half = log.index(b"\n", 1_000_000) + 1
    bucket.objects = {
        "logs/app-1": log,
        "logs/eventlog_v2_a b/events_1_a": log[:half],
        "logs/eventlog_v2_a b/events_2_a": log[half:],
        "other/app-2": log,
    }
    logs = SparkLogs("s3a://b/logs/", "s3a://b/logs/")
    found = new_logs(logs, {})
    assert [one.log.origin for one in found] == [
        "s3a://b/logs/app-1",
        "s3a://b/logs/eventlog_v2_a b",
    ]
    collected = [assemble(one.log.origin, event_files(one), logs) for one in found]
    assert [(one.events, tables(one)["rejects"]) for one in collected] == [(60_005, [])] * 2
    assert len(bucket.asked) == 3
