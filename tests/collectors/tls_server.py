"""A server on this machine that speaks TLS with a certificate of its own."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


class _Connections(ThreadingHTTPServer):
    """Counts them; a client that does not like the certificate is no error."""

    count = 0

    def get_request(self) -> tuple[ssl.SSLSocket, tuple[str, int]]:
        self.count += 1
        accepted: tuple[ssl.SSLSocket, tuple[str, int]] = super().get_request()  # type: ignore[assignment]
        return accepted


class _Empty(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"[]")

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""


def write_certificate(file: Path, name: str = "localhost", days: tuple[int, int] = (-1, 1)) -> Path:
    """Write a certificate that is its own issuer, and below it its key.

    Args:
        days: From when and until when it is valid, counted from now.
    """
    key = ec.generate_private_key(ec.SECP256R1())
    own, now = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(own)
        .issuer_name(own)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + timedelta(days=days[0]))
        .not_valid_after(now + timedelta(days=days[1]))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, SHA256())
    )
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(certificate.public_bytes(Encoding.PEM) + secret)
    return file


@contextmanager
def tls_server(certificate: Path) -> Iterator[_Connections]:
    """Run a server with a certificate; its answer is an empty list."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with _Connections(("127.0.0.1", 0), _Empty) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
