"""The stages, one a file.

They do not import each other.
May import: store, llm, ranking, gate, core, text, timeline.
"""
