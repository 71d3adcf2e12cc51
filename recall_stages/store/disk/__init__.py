"""Chroma's own files on disk, read without its engine: checked at opening, and repaired.

May import: core and the rest of store.
"""
