"""Whether a message needs memories: weights of words, one file a language. No model is asked.

May import: text/, and of core/ only `core.message`.
"""
