"""Program repair."""
