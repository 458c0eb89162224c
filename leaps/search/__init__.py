"""Searches for programs, on the ask/tell protocol: they propose candidates and receive their scores."""
