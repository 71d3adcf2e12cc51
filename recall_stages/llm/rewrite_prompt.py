"""The prompt of the stages that rewrite memories: question, last messages, memories."""

from __future__ import annotations

from string import Template

from recall_stages.core.memory import Query
from recall_stages.core.message import latest
from recall_stages.llm.fencing import quoted_messages, quoted_question
from recall_stages.llm.windows import Window

USER = Template("""\
$question
$messages
The memories:
$memories""")

REWRITE_RULES = """\
what bears on it, what can be acted on, in a sensible order, and nothing else. Every sentence \
rests on memories and names them by number; keep to their own words, names and figures, and add \
nothing that they do not say. Write in the language of the memories."""

_SHOWN = 1000  # characters of a message in the prompt


def material(query: Query, window: Window) -> dict[str, str]:
    """The text for each placeholder of `USER`."""
    messages = latest(query.messages, longest=_SHOWN)
    last = f"\nThe last messages:\n{quoted_messages(messages)}\n" if messages else ""
    return {"question": quoted_question(query), "messages": last, "memories": window.text}
