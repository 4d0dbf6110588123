"""Findings and answers as text, Markdown and annotations."""
