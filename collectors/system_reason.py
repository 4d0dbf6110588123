"""Errors of file systems, in words that name neither users nor paths."""

from __future__ import annotations

import os
import re

_S3_ERROR = re.compile(r"AWS Error \w+")


def system_reason(error: OSError) -> str:
    """The reason why a file cannot be read or written, in the system's words.

    Arrow's own text may name a user: of it only the code of an S3 error is taken.
    """
    if error.errno:
        return os.strerror(error.errno)
    code = _S3_ERROR.search(str(error))
    return code[0] if code else "its server does not answer, or refuses"
