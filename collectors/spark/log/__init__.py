"""Event log files: their layouts, compression, and the events that lineage needs."""
