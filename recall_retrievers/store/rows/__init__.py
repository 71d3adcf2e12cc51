"""The row index, on disk or in memory: what a question needs beside Chroma's graph of vectors.

`Database` is its file, `Table` the rows in it, `RowIndex` what keeps them in step with Chroma.

May import: core, text, timeline, and of store chroma and embedding.
"""
