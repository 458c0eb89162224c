"""What one asks of a program that is there: how it could be better."""
