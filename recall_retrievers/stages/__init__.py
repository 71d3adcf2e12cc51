"""The stages. A file has one stage, or one kind. The files do not import one another.

May import: store, llm, ranking, gate, core, text, timeline.
"""
