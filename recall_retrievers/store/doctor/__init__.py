"""Chroma's index of vectors on disk, read without its engine: checked at opening, built anew.

`examine` is what `RecallStore` calls when it opens a collection. Only layouts that were tested are
judged. May import: core, and of store rows, chroma and embedding.
"""
