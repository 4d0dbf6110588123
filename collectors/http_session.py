"""Sessions over HTTP, for servers that a token opens."""

from __future__ import annotations

import os

from requests import Session
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from dbt_graft.lineage.errors import GraftError


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


def http_session(retries: Retry) -> Session:
    """A session that repeats requests by these rules."""
    session = TokenSession()
    adapter = HTTPAdapter(max_retries=retries)
    for scheme in ("http://", "https://"):
        session.mount(scheme, adapter)
    # The variable of OpenSSL, beside REQUESTS_CA_BUNDLE.
    session.verify = os.environ.get("SSL_CERT_FILE") or True
    # No user and password from ~/.netrc in the place of the token.
    session.auth = lambda request: request
    return session


class TokenSession(Session):
    """A session whose token is for the server only, not for where that may redirect."""

    def should_strip_auth(self, old_url: str, new_url: str) -> bool:
        """Always."""
        return True


def http_reason(error: BaseException) -> str:
    """The innermost reason: `Connection refused`, not the objects around it."""
    inner = [getattr(error, "reason", None), *error.args]
    for one in inner:
        if isinstance(one, BaseException) and one is not error:
            return http_reason(one)
    return str(error).rpartition(": ")[2] or type(error).__name__
