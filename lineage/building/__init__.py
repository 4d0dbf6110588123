"""The lineage built from records: flows, runs, renames, what is temporary."""
