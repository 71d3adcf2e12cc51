"""A text as words, stems, names and tokens, and how much a word of it counts.

Imports nothing else of this project.
"""
