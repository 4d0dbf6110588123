"""The road once: collect -> lineage -> graft -> site. Thin: every step belongs to its room."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

import collectors.spark.collect as spark_logs
import collectors.sqlserver.collect as sqlserver_logs
from catalog.build import Built, Settings
from catalog.build import build as build_catalog
from collectors import store
from collectors.session import session
from exporters.task_metadata import task_metadata
from graft.config import Config
from graft.progress import Progress
from injector.artifacts import read as read_artifacts
from injector.artifacts import write as write_artifacts
from injector.docs import docs_page
from injector.graft import Grafted, Options
from injector.graft import graft as graft_lineage
from lineage.model import Lineage, build
from lineage.records import Reject

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
