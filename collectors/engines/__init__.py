"""The engines that read logs: Spark, and processes of this machine."""
