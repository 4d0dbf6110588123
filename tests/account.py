"""An account without rights, for tests that run as root."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

NOBODY = 65_534


@contextmanager
def nobody() -> Iterator[None]:
    """Act as an account without rights where the tests run as root."""
    if os.geteuid():
        yield
        return
    os.setresgid(NOBODY, NOBODY, 0)
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)
