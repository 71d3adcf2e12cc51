"""Chroma's own files on disk, read without its engine: checked at opening, followed, built anew.

May import: core.
"""
