"""Chroma's own files on disk, read without its engine: checked at opening, and repaired.

May import `recall_stages.errors`, `recall_stages.progress` and the rest of `recall_stages.store`.
"""
