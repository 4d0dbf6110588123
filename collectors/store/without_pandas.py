"""pyarrow without pandas, which it imports, where installed, at the first value it converts.

That takes a quarter of a second, longer than a store of a project takes to read, and nothing here
converts to or from pandas. PySpark, which asks for pandas itself, still finds it.
"""

from __future__ import annotations

import sys
import warnings
from types import ModuleType


def leave_pandas_out() -> None:
    """Let pyarrow look for pandas now, once and for all, and find one that is too old for it."""
    if "pandas" in sys.modules:
        return
    too_old = ModuleType("pandas")
    too_old.__dict__["__version__"] = "0"
    sys.modules["pandas"] = too_old
    try:
        import pyarrow as pa

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pa.scalar(0)
    finally:
        del sys.modules["pandas"]
