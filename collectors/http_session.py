"""Sessions over HTTP, for servers that a token opens."""

from __future__ import annotations

import os
import socket
import ssl
import threading
from contextlib import suppress
from functools import cache
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from requests import PreparedRequest, Response, Session
from requests.adapters import HTTPAdapter
from requests.exceptions import RequestException, SSLError
from urllib3.connectionpool import ConnectionPool
from urllib3.util import Retry

from dbt_graft.lineage.errors import GraftError

# The variables that name a file with certificates of issuers.
_ISSUERS = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
# What OpenSSL finds wrong with a certificate, by its number, and what helps:
# https://docs.openssl.org/master/man3/X509_STORE_CTX_get_error/
_RENEW = "renew it on the server, or correct the clock of this machine"
_OTHER_NAME = "write the name that the certificate is for in the address"
_CERTIFICATE = {
    9: ("is not valid yet", _RENEW),
    10: ("has expired", _RENEW),
    62: ("is for another name", _OTHER_NAME),
    64: ("is for another address", _OTHER_NAME),
}
_TRUST = "name a file with the certificate of its issuer in the variable REQUESTS_CA_BUNDLE"


def authorization(setting: str) -> str:
    """Return the value of the header `Authorization`.

    Args:
        setting: `env:NAME`, the environment variable with the value.

    Raises:
        GraftError: The variable is not set, or its value is not valid in a header.
    """
    value = os.environ.get(setting.removeprefix("env:"), "").strip()
    if not value or not value.isascii() or not value.isprintable():
        raise GraftError(
            "the environment variable is not set, or has more than one line",
            place=setting,
            remedy="set it to the value of the header `Authorization`: Bearer <token>",
        )
    return value


def http_session(retries: Retry, *, is_prompt: bool = False) -> Session:
    """A session that repeats requests by these rules.

    Args:
        is_prompt: The timeout of a request is for its whole answer but the body, even where some of
            it comes now and then; else for each silence.
    """
    session = TokenSession()
    adapter = (PromptAdapter if is_prompt else HTTPAdapter)(max_retries=retries)
    for scheme in ("http://", "https://"):
        session.mount(scheme, adapter)
    # The variable of OpenSSL, beside REQUESTS_CA_BUNDLE.
    session.verify = os.environ.get("SSL_CERT_FILE") or True
    # No user and password from ~/.netrc in the place of the token.
    session.auth = lambda request: request
    return session


class PromptAdapter(HTTPAdapter):
    """Connections that are cut when the head of an answer takes longer than the timeout."""

    def get_connection_with_tls_context(self, *args: Any, **options: Any) -> ConnectionPool:
        """The connections to a server, or to its proxy."""
        pool: Any = super().get_connection_with_tls_context(*args, **options)
        pool.ConnectionCls = _prompt(type(pool).ConnectionCls)
        return pool


@cache
def _prompt(connection: Any) -> Any:
    """A class of connections of urllib3, with a time limit for the head of an answer."""

    class PromptConnection(connection):
        def getresponse(self) -> Any:
            is_late = threading.Event()
            limit = threading.Timer(self.timeout, _cut, (self.sock, is_late))
            limit.daemon = True
            limit.start()
            try:
                answer = super().getresponse()
            except (OSError, HTTPException):
                if not is_late.is_set():
                    raise
            finally:
                limit.cancel()
            if is_late.is_set():  # what came until then may look like a head
                raise TimeoutError
            return answer

    return PromptConnection


def _cut(connection: socket.socket, is_late: threading.Event) -> None:
    is_late.set()
    with suppress(OSError):  # it is closed already
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


class TokenSession(Session):
    """A session whose token is for the server only, not for where that may redirect."""

    def should_strip_auth(self, old_url: str, new_url: str) -> bool:
        """Always."""
        return True

    def send(self, request: PreparedRequest, **options: Any) -> Response:
        """Send a request.

        Raises:
            GraftError: The server has no certificate that can be trusted.
            RequestException: There is no answer.
        """
        try:
            return super().send(request, **options)
        except SSLError as error:
            raise _tls_error(_innermost(error), request.url or "") from error
        except RequestException:
            raise
        except OSError as error:
            raise _unreadable_issuers() from error


def http_reason(error: BaseException) -> str:
    """The innermost reason: `Connection refused`, not the objects around it."""
    innermost = _innermost(error)
    return str(innermost).rpartition(": ")[2] or type(innermost).__name__


def _innermost(error: BaseException) -> BaseException:
    for inner in (getattr(error, "reason", None), *error.args):
        if isinstance(inner, BaseException) and inner is not error:
            return _innermost(inner)
    return error


def _tls_error(error: BaseException, url: str) -> GraftError:
    host = urlsplit(url).hostname
    if isinstance(error, ssl.SSLCertVerificationError):
        problem, remedy = _CERTIFICATE.get(
            error.verify_code, (f"cannot be trusted: {error.verify_message}", _TRUST)
        )
        return GraftError(f"the certificate of {host} {problem}", remedy=remedy)
    if isinstance(error, ssl.SSLError) and error.library == "X509":
        return _unreadable_issuers()
    return GraftError(f"{host} does not speak TLS here", remedy="correct the scheme or the port")


def _unreadable_issuers() -> GraftError:
    named = [name for name in _ISSUERS if os.environ.get(name)]
    return GraftError(
        f"the certificates of issuers cannot be read: {' or '.join(named)}",
        remedy="let it name a file in PEM format",
    )
