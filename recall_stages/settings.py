"""The base of everything a user constructs: a name that is not known is a typo, and is named."""

from difflib import get_close_matches

from pydantic import BaseModel, ConfigDict, model_validator


class Settings(BaseModel):
    """A set of named settings that refuses names it does not know.

    Raises:
        pydantic.ValidationError: On construction, when a value is out of range or a name unknown.
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    @model_validator(mode="before")
    @classmethod
    def _known_names_only(cls, given: object) -> object:
        # `extra="forbid"` says only "not permitted", and LangChain's Serializable relaxes it to
        # "ignore" where the two meet; so we look ourselves, and say what was probably meant.
        if isinstance(given, dict):
            known = set(cls.model_fields)
            known |= {field.alias for field in cls.model_fields.values() if field.alias}
            for name in given:
                if name not in known:
                    raise ValueError(unknown_name(cls.__name__, str(name), known))
        return given


def unknown_name(owner: str, name: str, known: set[str]) -> str:
    """Say that ``owner`` has no argument ``name``, and which one was probably meant.

    Examples:
        >>> unknown_name("RecallRetriever", "kk", {"k", "scope"})
        "RecallRetriever has no argument 'kk'; did you mean 'k'? It takes: k, scope"
    """
    close = get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f" did you mean {close[0]!r}?" if close else ""
    return f"{owner} has no argument {name!r};{hint} It takes: {', '.join(sorted(known))}"
