from recall_stages.timeline.grammar import Found
from recall_stages.timeline.reading import Now
def read(text: str, now: Now) -> list[Found]:
    return []
