"""A server without TLS that can be trusted is an error with its host, the reason and what helps."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbt_graft.collectors.http_session import http_session
from dbt_graft.collectors.spark.log.files import SparkLogs
from dbt_graft.collectors.spark.log.history_server import DownloadError, download_log, new_attempts
from dbt_graft.exporters.openlineage.endpoint import Delivery, HttpEndpoint, SentEvent, retries
from dbt_graft.lineage.errors import GraftError
from tests.collectors.tls_server import tls_server, write_certificate
from tests.exporters.openlineage.receiver import receiving

RENEW = "renew it on the server, or correct the clock of this machine"
# The name of the certificate, the days in which it is valid, and whether its issuer is known.
CASES = {
    "expired": (
        ("localhost", (-9, -1), True),
        f"the certificate of localhost has expired; {RENEW}",
    ),
    "too new": (
        ("localhost", (1, 9), True),
        f"the certificate of localhost is not valid yet; {RENEW}",
    ),
    "another name": (
        ("history.example", (-1, 1), True),
        "the certificate of localhost is for another name; "
        "write the name that the certificate is for in the address",
    ),
    "unknown issuer": (
        ("localhost", (-1, 1), False),
        "the certificate of localhost cannot be trusted: self-signed certificate; "
        "name a file with the certificate of its issuer in the variable REQUESTS_CA_BUNDLE",
    ),
}


@pytest.fixture(autouse=True)
def _own_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", "localhost,127.0.0.1")


@pytest.mark.parametrize("case", CASES)
def test_a_certificate_that_is_not_trusted_is_named_and_tried_once(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By all who ask: the listing and the download of a History Server, the sender of events."""
    (name, days, is_known), reason = CASES[case]
    certificate = write_certificate(tmp_path / "server.pem", name, days)
    if is_known:
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    with tls_server(certificate) as server:
        url = f"https://localhost:{server.server_port}"
        with pytest.raises(GraftError) as listing:
            new_attempts(SparkLogs(url, url), {})
        assert str(listing.value) == f"{url}: cannot list applications: {reason}"
        with pytest.raises(DownloadError) as download, download_log(url, f"{url}/logs", ""):
            pass
        assert str(download.value) == reason
        with http_session(retries()) as session:
            sent = HttpEndpoint(url, session).send(b"{}")
        assert sent == SentEvent(Delivery.UNREACHABLE, reason)
        assert server.count == 3


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"])
def test_a_private_issuer_is_trusted_where_a_variable_names_it(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = write_certificate(tmp_path / "server.pem")
    monkeypatch.setenv(variable, str(certificate))
    with tls_server(certificate) as server:
        url = f"https://localhost:{server.server_port}"
        assert new_attempts(SparkLogs(url, url), {}) == []


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_variable_that_names_no_certificates_is_named(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    issuers = tmp_path / "issuers.pem"
    if content:
        issuers.write_text(content)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(issuers))
    with (
        tls_server(write_certificate(tmp_path / "server.pem")) as server,
        http_session(retries()) as session,
    ):
        sent = HttpEndpoint(f"https://localhost:{server.server_port}", session).send(b"{}")
    assert sent.reason == (
        "the certificates of issuers cannot be read: REQUESTS_CA_BUNDLE; "
        "let it name a file in PEM format"
    )


def test_a_server_without_tls_is_named() -> None:
    with receiving() as receiver, http_session(retries()) as session:
        url = receiver.url.replace("http://127.0.0.1", "https://localhost")
        sent = HttpEndpoint(url, session).send(b"{}")
    assert sent.reason == "localhost does not speak TLS here; correct the scheme or the port"
