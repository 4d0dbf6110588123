"""Lineage grafted onto dbt's artifacts, and the docs page with them."""
