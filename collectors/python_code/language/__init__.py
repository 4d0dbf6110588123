"""The language: statements and expressions of Python, and what names mean in them."""
