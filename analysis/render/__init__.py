"""Findings and answers as text, JSON, Markdown, annotations of GitHub, and SARIF."""
