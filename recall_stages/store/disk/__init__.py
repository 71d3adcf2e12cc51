"""Chroma's own files on disk, read without its engine: checked at opening, and built anew.

May import: core.
"""
