"""Generated documents that compare stored results with reported ones."""
