"""SQL as text: quotes, literals, statements inside strings, batches cut into statements, names."""
