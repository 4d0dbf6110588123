"""An application: its executions, replayed from events, and their statements."""
