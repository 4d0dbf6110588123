"""One application: its executions, replayed from events, and the statements they make up."""
