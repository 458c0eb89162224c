"""Every table and figure of the paper as data, and what runs it."""
