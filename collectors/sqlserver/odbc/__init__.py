"""Events and answers that are asked for over a connection: a live session, a table of events."""
