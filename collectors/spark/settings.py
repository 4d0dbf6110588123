"""Checks of settings in graft.yml, without the collector, which takes long to import."""

from __future__ import annotations

from dbt_graft.collectors.spark.application.tasks import is_task_source
from dbt_graft.collectors.spark.log.history_server import is_history_server

__all__ = ["is_history_server", "is_task_source"]
