"""The project as an audience may see it, before any page is made of it."""
