"""Words, names and tokens of a text.

May import: nothing of ours.
"""
