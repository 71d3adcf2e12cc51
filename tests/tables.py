"""A table of cases as one test: every row is checked, and a failure names each row that fails.

`pytest.mark.parametrize` makes a test of each row. That is right where a row takes time, needs a
fixture of its own, or where there are few. `table` is for many rows that take next to no time: a
test costs pytest more than they do.
"""

import functools
import inspect
from collections.abc import Callable, Iterable

Test = Callable[..., None]
Ids = Callable[[object], str] | Iterable[str] | None


def table(arguments: str | tuple[str, ...], rows: Iterable[object], ids: Ids = None) -> Test:
    """Call a test with each row; it is written like `pytest.mark.parametrize`.

    The other arguments of the test stay fixtures. All rows share them.

    Args:
        arguments: The arguments that a row fills.
        rows: The rows: a tuple for several arguments, a value for one.
        ids: How a failure names a row: the names, or what makes one of a row's first value.
    """
    filled = (arguments,) if isinstance(arguments, str) else arguments
    cases = [(row,) if isinstance(arguments, str) else tuple(row) for row in rows]
    make_name = ids if callable(ids) else _shortened
    names = [make_name(case[0]) for case in cases] if callable(ids) or ids is None else list(ids)
    assert len(names) == len(cases) > 0, "a table needs rows, and a name for each"

    def wrap(test: Test) -> Test:
        @functools.wraps(test)
        def check_rows(**fixtures: object) -> None:
            failed: list[tuple[str, Exception]] = []
            for name, case in zip(names, cases, strict=True):
                try:
                    test(**fixtures, **dict(zip(filled, case, strict=True)))
                except Exception as error:  # noqa: BLE001 - all are raised together, below
                    error.add_note(f"row: {name}")
                    failed.append((name, error))
            if failed:
                rows, errors = zip(*failed, strict=True)
                message = f"{len(failed)} of {len(cases)} rows fail: {'; '.join(rows)}"
                raise ExceptionGroup(message, errors)

        signature = inspect.signature(test)
        others = [each for each in signature.parameters.values() if each.name not in filled]
        check_rows.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return check_rows

    return wrap


def _shortened(value: object) -> str:
    return repr(value)[:80]
