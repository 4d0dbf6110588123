"""SQL text -> shape -> the datasets and columns it reads and writes."""
