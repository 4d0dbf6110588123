"""The methods of frames, by the library that made them."""

from __future__ import annotations

from collections.abc import Mapping

from dbt_graft.collectors.python_code.machine import Handler
from dbt_graft.collectors.python_code.pandas_frames import PANDAS_METHODS

FRAME_LIBRARIES: Mapping[str, Mapping[str, Handler]] = {"pandas": PANDAS_METHODS}
FRAME_METHODS = frozenset(name for methods in FRAME_LIBRARIES.values() for name in methods)
