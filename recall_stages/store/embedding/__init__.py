"""Embedding models: the default one, and how those of users are checked."""
