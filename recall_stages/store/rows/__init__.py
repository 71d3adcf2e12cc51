"""The rows of a collection in memory, so that a question need not read them from Chroma."""
