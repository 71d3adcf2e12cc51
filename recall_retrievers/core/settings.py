"""The base of every class that a user constructs: its errors are in our words, not pydantic's."""

import inspect
import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
)

from recall_retrievers.core.errors import QueryError, SettingsError
from recall_retrievers.core.settings_messages import got, public_name, settings_error
from recall_retrievers.timeline import parse_time
from recall_retrievers.timeline.parse_time import moment_of, resolve_timezone

# Every number has an upper bound: a search allocates room for as many results as it is to return.
MOST_RESULTS = 10_000
Count = Annotated[int, Field(ge=1, le=MOST_RESULTS)]  # of memories or messages

_MOST_NAMES = 1_000  # far more than any class has

Share = Annotated[float, Field(ge=0, le=1)]  # a share, a similarity or a weight: 0 to 1
Ratio = Annotated[float, Field(ge=0, le=1_000)]  # a factor of a score, or its weight beside others
Days = Annotated[float, Field(gt=0, le=36_500)]  # a length of time, a hundred years at most
Seconds = Annotated[float, Field(gt=0, le=86_400, strict=True)]  # to wait; True is none


def check_count(name: str, count: object, most: int = MOST_RESULTS) -> None:
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= most:
        raise QueryError(f"{name} must be a whole number from 1 to {most}; got {got(count)}")


class Settings(BaseModel):
    """A set of named settings that refuses names it does not know.

    Attributes:
        elsewhere: For names that a user knows from other libraries, what to write here.

    Raises:
        SettingsError: On construction, when a value is out of range or a name unknown. All that is
            wrong is named.

    Examples:
        >>> class Limits(Settings):
        ...     k: int = 5
        >>> Limits(k="many")
        Traceback (most recent call last):
        recall_retrievers.core.errors.SettingsError: k must be a whole number; got 'many'
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    elsewhere: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def __pydantic_init_subclass__(cls, **how: object) -> None:
        """A class of a face repeats for editors how its parent's docstring begins; it has all."""
        super().__pydantic_init_subclass__(**how)
        for parent in cls.__mro__[1:]:
            if cls.__doc__ and (parent.__doc__ or "").startswith(cls.__doc__):
                cls.__doc__ = parent.__doc__

    if TYPE_CHECKING:

        def __init__(self, **settings: object) -> None:
            """The settings, by name. A wrong one is a `SettingsError` that names all."""

    if not TYPE_CHECKING:  # a type checker makes the arguments of each class from its fields

        def __init__(self, /, *args: object, **settings: object) -> None:
            if args:
                fields, name = type(self).model_fields, public_name(type(self))
                required = (name for name, field in fields.items() if field.is_required())
                first = next(required, next(iter(fields), "name"))
                by_name = f"{name} takes its arguments by name, as in {name}({first}=...)"
                raise SettingsError(type(self).__name__, (by_name,))
            try:
                super().__init__(**settings)
            except ValidationError as error:
                raise settings_error(type(self), error, settings) from None

        # To pydantic it is its own one: settings inside others are then checked with these, and
        # errors name the whole way to the value. To a reader it shows the names of the settings.
        __init__.__pydantic_base_init__ = True
        __init__.__signature__ = inspect.signature(BaseModel.__init__)

        def __setattr__(self, name: str, value: object) -> None:
            try:
                super().__setattr__(name, value)
            except ValidationError as error:  # such as of what is frozen
                raise settings_error(type(self), error, {name: value}) from None

        @classmethod
        def model_validate(cls, obj: object, **how: object) -> Self:
            if isinstance(obj, Mapping) and len(obj) > _MOST_NAMES:  # pydantic would name each
                problem = f"{public_name(cls)} takes no {len(obj):,} settings; see its docstring"
                raise SettingsError(cls.__name__, (problem,))
            try:
                return super().model_validate(obj, **how)
            except ValidationError as error:
                raise settings_error(cls, error, obj) from None

        @classmethod
        def model_validate_json(cls, json_data: str | bytes, **how: object) -> Self:
            try:
                return super().model_validate_json(json_data, **how)
            except ValidationError as error:
                try:
                    values = json.loads(json_data)
                except ValueError:  # pydantic has found that, too
                    values = None
                raise settings_error(cls, error, values) from None


TimeInput = int | float | str | datetime
"""A moment: epoch seconds, ISO 8601, or a datetime; without a zone, it is read in the asker's."""


def _moment(value: Any, field: ValidationInfo) -> datetime:
    try:
        return parse_time(value, name=field.field_name or "a time")
    except TypeError as error:  # pydantic does not gather a TypeError among its errors
        raise ValueError(str(error)) from error


AwareTime = Annotated[datetime, BeforeValidator(_moment)]


def _is_a_time(timestamp: Any, field: ValidationInfo) -> object:
    if timestamp is not None:
        _moment(timestamp, field)
    return timestamp


def _is_a_zone(timezone: str) -> str:
    resolve_timezone(timezone)
    return timezone


Timestamp = Annotated[TimeInput | None, BeforeValidator(_is_a_time)]  # None = the clock

Timezone = Annotated[str, AfterValidator(_is_a_zone)] | None  # see `Timed`


class Timed(Settings):
    """The reference time, and the time zone of the user.

    Args:
        timestamp: Epoch seconds, ISO 8601 or datetime. None = the clock.
        timezone: Such as "Europe/Berlin". None = the timestamp's own, else the machine's.
    """

    timestamp: Timestamp = None
    timezone: Timezone = None

    def moment(self, now: datetime) -> datetime:
        """The reference time, in the asker's time zone: the one set, else the clock's ``now``."""
        return moment_of(self.timestamp, self.timezone, now)
