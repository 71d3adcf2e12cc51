"""A stage on memories of a test, with a model that says what the test wants."""

from collections.abc import Callable, Sequence

from stages.worlds import Scripted

from recall_retrievers.core.query import Recall
from recall_retrievers.core.requests import Prompt, Reply
from recall_retrievers.core.stage import Stage, pipeline
from recall_retrievers.core.world import run


def answered(stages: Sequence[Stage], recall: Recall, said: object) -> tuple[Recall, list[str]]:
    """Run stages with a model that says one thing, or raises it: what comes out, and the prompts.

    Args:
        stages: The stages, each with any object as its model.
        recall: The question and the memories.
        said: A reply, an error, or a function that makes a reply of a prompt.
    """
    prompts: list[str] = []

    def reply(prompt: Prompt) -> Reply:
        prompts.append(f"{prompt.system}\n\n{prompt.user}")
        answer = said(prompts[-1]) if isinstance(said, Callable) else said
        return Reply(answer if isinstance(answer, Exception) else str(answer))

    outcome = run(pipeline(stages, recall), Scripted(lambda asked: [reply(each) for each in asked]))
    return outcome, prompts
