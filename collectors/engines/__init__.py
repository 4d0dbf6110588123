"""Where logs are read: on Spark, or in processes of this machine."""
