"""The text of a memory that is searched: by its meaning, and by its words."""

from __future__ import annotations

from recall_stages.core.memory import Memory
from recall_stages.text.names import person

# Characters of a memory that are embedded, indexed by their words, and read for times: 8,000
# English words. Words of a million Chinese characters took 2.9 s and its tokens 4.8, at every
# opening again; of 50,000 it is 0.2 s. Most embedding models read 256 to 8,192 tokens.
READ_CHARACTERS = 50_000


def index_text(memory: Memory) -> str:
    """What the embedding sees: the text, with who said it and when it helps in front.

    A name is half of what questions about people ask for: with it, plain similarity finds 0.37 of
    LoCoMo's evidence in the first five, without it 0.15. A chat role is not a name. Of a long text
    it is the first `READ_CHARACTERS`.

    Examples:
        >>> index_text(Memory(content="The dentist called.", author="Ann"))
        'Ann: The dentist called.'
    """
    name = person(memory.author)
    said_already = not name or memory.content.startswith(name)
    spoken = memory.content if said_already else f"{name}: {memory.content}"
    text = f"{memory.when_to_use}\n{spoken}" if memory.when_to_use else spoken
    return text[:READ_CHARACTERS]


def keyword_text(memory: Memory) -> str:
    r"""What keyword search sees: what the embedding does, after the end of what was said before.

    "Yes, three of them" is found by the words of the question that it answers. The embedding does
    not see those: they blur what the turn itself says.

    Examples:
        >>> keyword_text(Memory(content="Yes, three.", author="Ann", said_before="Any pets?"))
        'Any pets?\nAnn: Yes, three.'
    """
    spoken = index_text(memory)
    return f"{memory.said_before}\n{spoken}" if memory.said_before else spoken
