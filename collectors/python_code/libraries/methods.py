"""The methods of frames, by the library that made them."""

from __future__ import annotations

from collections.abc import Mapping

from dbt_graft.collectors.python_code.libraries.pandas_frames import PANDAS_METHODS
from dbt_graft.collectors.python_code.libraries.polars_calls import POLARS_METHODS
from dbt_graft.collectors.python_code.libraries.spark_calls import SPARK_METHODS
from dbt_graft.collectors.python_code.libraries.sqlalchemy_calls import QUERY_METHODS
from dbt_graft.collectors.python_code.values.machine import Handler

FRAME_LIBRARIES: Mapping[str, Mapping[str, Handler]] = {
    "pandas": PANDAS_METHODS,
    "polars": POLARS_METHODS,
    "query": {**PANDAS_METHODS, **QUERY_METHODS},
    "spark": SPARK_METHODS,
}
FRAME_METHODS = frozenset(name for methods in FRAME_LIBRARIES.values() for name in methods)
