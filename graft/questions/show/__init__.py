"""What is known of a thing."""
