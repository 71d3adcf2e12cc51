"""A language is one file: its words of time, its own orders, and its traps."""
