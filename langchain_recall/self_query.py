"""RecallTranslator: what a `SelfQueryRetriever` understood, as a filter of ours."""

from typing import Any

from langchain_core.structured_query import (
    Comparator,
    Comparison,
    Operation,
    Operator,
    StructuredQuery,
    Visitor,
)


class RecallTranslator(Visitor):
    """Write the conditions of a `SelfQueryRetriever` as a filter of a `RecallVectorStore`.

    It is its ``structured_query_translator``. A `RecallRetriever` needs no such retriever for
    times: it reads them itself, without a model.

    Examples:
        >>> from langchain_core.structured_query import Comparator, Comparison, StructuredQuery
        >>> health = Comparison(comparator=Comparator.EQ, attribute="topic", value="health")
        >>> RecallTranslator().visit_structured_query(StructuredQuery(query="tea", filter=health))
        ('tea', {'filter': {'topic': {'$eq': 'health'}}})
    """

    allowed_operators = (Operator.AND, Operator.OR)
    allowed_comparators = (
        *(Comparator.EQ, Comparator.NE, Comparator.IN, Comparator.NIN),
        *(Comparator.GT, Comparator.GTE, Comparator.LT, Comparator.LTE),
    )

    def visit_operation(self, operation: Operation) -> dict[str, Any]:
        """Several conditions."""
        self._validate_func(operation.operator)
        return {f"${operation.operator.value}": [each.accept(self) for each in operation.arguments]}

    def visit_comparison(self, comparison: Comparison) -> dict[str, Any]:
        """One condition; a date is the dict that LangChain's parser makes of it."""
        self._validate_func(comparison.comparator)
        value = comparison.value
        written = value.get("date", value.get("datetime")) if isinstance(value, dict) else value
        return {comparison.attribute: {f"${comparison.comparator.value}": written}}

    def visit_structured_query(
        self, structured_query: StructuredQuery
    ) -> tuple[str, dict[str, Any]]:
        """The question, and the arguments of the search."""
        condition = structured_query.filter
        search = {"filter": condition.accept(self)} if condition else {}
        return structured_query.query, search
