"""The plan behind a taint for people and other tools: commands, text, Markdown, JSON, a DAG."""
