"""The prompt of the stages that rewrite memories: question, last messages, memories.

Also the text of a model that finds no answer in them.
"""

from __future__ import annotations

from string import Template

USER = Template("""\
$question
$messages
The memories, $count in all:
$memories""")

CITED_RULES = """\
Every sentence rests on memories and names them by number; keep to their own words, names and \
figures, and add nothing that they do not say. Where memories contradict each other, the one that \
was recorded later holds; where that is unclear, tell both with their dates. Write in the language \
of the question. If no memory helps, the list stays empty."""

REWRITE_RULES = f"""\
what bears on it, what can be acted on, in a sensible order, and nothing else. {CITED_RULES}"""

CITED_SENTENCES = '[{"text": sentence, "memories": [number, number]}, ...]'
"""The form of the sentences, in the prompts. It is no JSON, so that a copy of it is no text."""


def abstention(question: str) -> str:
    """The text where a model says that the memories do not answer.

    Examples:
        >>> abstention("Where is my bike?")
        'The memories do not answer this question.'
    """
    chinese = any("\u4e00" <= letter <= "\u9fff" for letter in question)
    return "这些记忆没有回答这个问题。" if chinese else "The memories do not answer this question."
