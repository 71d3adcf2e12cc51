"""The row index, on disk or in memory: what a question needs beside Chroma's graph of vectors.

May import: core, text, timeline, and of store chroma, disk and embedding.
"""
