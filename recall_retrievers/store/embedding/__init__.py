"""Embedding models: the default, the multilingual one, and how those of users are checked."""
