"""A language is one file: its words of time, its own orders, and its traps.

How to read one: `_KINDS` are the words by kind and value, the `roles` at the end those that only
lead or link; `grammar.patterns`, or `grammar.unspaced` where words do not stand apart, says in
which orders they name a time. A `_` in a word stands for a space. `_CUES` tells what looks back or
ahead. Words of kinds and roles have no accents, cues have.
"""
