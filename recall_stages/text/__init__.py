"""A text as words, stems, names and tokens.

Imports nothing else of this project.
"""
