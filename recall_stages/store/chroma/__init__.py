"""Chroma: opening a collection, its rows, where clauses, writing."""
