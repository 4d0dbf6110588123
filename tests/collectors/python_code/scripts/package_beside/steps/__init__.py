"""The steps of the job."""
