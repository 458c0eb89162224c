"""The learned program space: programs become points, near ones behave alike, and points become programs."""
