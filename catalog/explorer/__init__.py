"""The explorer: its page, the opening view, and the graph as shards that a browser loads."""
