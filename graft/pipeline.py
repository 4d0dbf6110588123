"""The road once: collect -> lineage -> graft -> site. Thin: every step belongs to its room."""

from __future__ import annotations
