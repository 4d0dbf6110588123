"""States of datasets by date, what taints them, and what must run again."""
