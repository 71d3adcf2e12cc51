"""The stages, one in each file. They do not import one another.

May import: store, llm, ranking, gate, core, text, timeline.
"""
