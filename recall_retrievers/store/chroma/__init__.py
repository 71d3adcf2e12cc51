"""Chroma: opening a collection, a memory as a row, where clauses, search by vectors."""
