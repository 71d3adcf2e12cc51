"""The rows as Chroma returned them, as JSON, one after the other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from numpy import uint8
from numpy.typing import NDArray

from recall_retrievers.store.chroma.row_fields import Row
from recall_retrievers.store.rows.append_file import AppendFile
from recall_retrievers.store.rows.columns import Columns

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_DECODER = json.JSONDecoder()


class RowTexts:
    """The rows by place.

    Args:
        file: The file.
        columns: Where each row is in the file.
    """

    def __init__(self, file: AppendFile, columns: Columns) -> None:
        self._file = file
        self._columns = columns

    def append(self, rows: Sequence[Row]) -> list[tuple[int, int]]:
        """Add rows, and return where each is in the file, and its bytes."""
        texts = [_ENCODER.encode(row).encode("utf-8", "surrogatepass") for row in rows]
        spans: list[tuple[int, int]] = []
        at = self._file.size
        for text in texts:
            spans.append((at, len(text)))
            at += len(text)
        self._file.append(b"".join(texts))
        return spans

    def at(self, place: int) -> Row:
        """The row at a place, an old version as well."""
        return _row(self._file.view(), *self._columns.span(place))

    def each(self, places: Sequence[int]) -> Iterator[tuple[int, Row, int]]:
        """Each of these places, its row, and the bytes of the row in the file."""
        data = self._file.view()
        for place, (start, length) in zip(places, self._columns.spans(places), strict=True):
            yield place, _row(data, start, length), length

    def id_at(self, place: int) -> str:
        """The id of the row at a place; the rest of it is not read."""
        text = _text(self._file.view(), *self._columns.span(place))
        row_id: str = _DECODER.raw_decode(text, 1)[0]
        return row_id


def _row(data: NDArray[uint8], start: int, length: int) -> Row:
    row_id, document, metadata = _DECODER.raw_decode(_text(data, start, length))[0]
    return row_id, document, metadata


def _text(data: NDArray[uint8], start: int, length: int) -> str:
    return data[start : start + length].tobytes().decode("utf-8", "surrogatepass")
