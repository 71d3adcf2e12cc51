"""Which embedding models are taken instead of the default, and what they are held to."""

import numpy as np
import pytest

from recall_retrievers.core.errors import StoreError
from recall_retrievers.store.embedding.embedder import as_embedder
from recall_retrievers.store.embedding.minilm import MiniLM


class OwnModel:
    """A model with LangChain's methods that answers what it was made with."""

    def __init__(self, answer: object, **attributes: object) -> None:
        self.answer = answer
        vars(self).update(attributes)

    def embed_documents(self, texts: list[str]) -> object:
        return self.answer

    def embed_query(self, text: str) -> object:
        return self.answer

    async def aembed_query(self, text: str) -> object:
        return self.answer


class TestAsEmbedder:
    def test_none_is_the_default(self) -> None:
        assert isinstance(as_embedder(None), MiniLM)

    @pytest.mark.parametrize("face", ["langchain_recall", "llamaindex_recall"])
    async def test_the_default_of_a_face_is_the_default(self, face: str) -> None:
        model, vectors = (
            pytest.importorskip(face).MiniLM(),
            MiniLM().embed_documents(["tea", "car"]),
        )
        if face == "langchain_recall":
            documents, ask, aask = model.embed_documents, model.embed_query, model.aembed_query
        else:
            documents = model.get_text_embedding_batch
            ask, aask = model.get_query_embedding, model.aget_query_embedding

        assert isinstance(as_embedder(model), MiniLM)
        assert documents(["tea", "car"]) == vectors.tolist()
        assert ask("tea") == await aask("tea") == MiniLM().embed_query("tea").tolist()

    async def test_langchain(self) -> None:
        embeddings = pytest.importorskip("langchain_core.embeddings")
        model = embeddings.DeterministicFakeEmbedding(size=7)
        embedder = as_embedder(model)
        expected = np.asarray([model.embed_query("a"), model.embed_query("b")], dtype=np.float32)
        assert embedder.model_name == "DeterministicFakeEmbedding"
        rows = embedder.embed_documents(["a", "b"])
        assert rows.dtype == np.float32
        assert (rows == expected).all()
        for row in (embedder.embed_query("a"), await embedder.aembed_query("a")):
            assert (row == expected[0]).all()

    async def test_llamaindex(self) -> None:
        pytest.importorskip("llama_index.core")
        from llama_index.core.base.embeddings.base import BaseEmbedding

        class Letters(BaseEmbedding):
            def _get_text_embedding(self, text: str) -> list[float]:
                return [float(len(text)), 1.0]

            def _get_query_embedding(self, query: str) -> list[float]:
                return [float(len(query)), 2.0]

            async def _aget_query_embedding(self, query: str) -> list[float]:
                return self._get_query_embedding(query)

        embedder = as_embedder(Letters())
        assert embedder.model_name == "Letters"  # and not LlamaIndex's "unknown"
        assert embedder.embed_documents(["a", "bcd"]).tolist() == [[1, 1], [3, 1]]
        assert embedder.embed_query("bcd").tolist() == [3, 2]
        assert (await embedder.aembed_query("bcd")).tolist() == [3, 2]

    @pytest.mark.parametrize(
        ("attributes", "name"),
        [
            ({"model_name": "BAAI/bge-small-en"}, "BAAI/bge-small-en"),
            ({"model": "text-embedding-3-small"}, "text-embedding-3-small"),
            ({"model_name": "unknown", "model": "nomic-embed-text"}, "nomic-embed-text"),
            ({"model": "models/gemini-embedding-001"}, "gemini-embedding-001"),
            ({"model_name": "sentence-transformers/all-MiniLM-L6-v2"}, MiniLM.model_name),
            ({"model_name": "", "model": object()}, "OwnModel"),
            ({}, "OwnModel"),
        ],
    )
    def test_names(self, attributes: dict[str, object], name: str) -> None:
        assert as_embedder(OwnModel(None, **attributes)).model_name == name

    def test_other_names_are_refused(self) -> None:
        with pytest.raises(ValueError, match="'default' and 'multilingual'; got 'all-Mi"):
            as_embedder("all-MiniLM-L6-v2")

    @pytest.mark.parametrize("model", [384, object(), lambda texts: texts, OwnModel])
    def test_anything_else_is_refused(self, model: object) -> None:
        with pytest.raises(TypeError, match="LangChain Embeddings, a LlamaIndex BaseEmbedding"):
            as_embedder(model)

    @pytest.mark.parametrize(
        ("answer", "complaint"),
        [
            ([[1.0, 2.0], [float("nan"), 2.0]], "NaN or infinity for text 2 of 2"),
            ([[float("inf"), 2.0], [1.0, 2.0]], "NaN or infinity for text 1 of 2"),
            ([[1e300, 2.0], [1.0, 2.0]], "NaN or infinity for text 1 of 2"),
            ([[1.0, 2.0]], r"shape \(1, 2\) for 2 text"),
            ([1.0, 2.0], r"shape \(2,\) for 2 text"),
            ([[], []], r"shape \(2, 0\) for 2 text"),
            ([[1.0, 2.0], [1.0]], "vectors of one length"),
            (None, r"shape \(\)"),
            ("words", "something else than vectors"),
        ],
    )
    def test_bad_documents_are_named(self, answer: object, complaint: str) -> None:
        embedder = as_embedder(OwnModel(answer, model="acme-1"))
        with pytest.raises(StoreError, match=f"'acme-1'.*{complaint}"):
            embedder.embed_documents(["a", "b"])

    @pytest.mark.parametrize("answer", [[float("nan"), 1.0], [[1.0, 2.0]], [], 1.0, None])
    async def test_bad_queries_are_named(self, answer: object) -> None:
        embedder = as_embedder(OwnModel(answer, model="acme-1"))
        with pytest.raises(StoreError, match="'acme-1'"):
            embedder.embed_query("a")
        with pytest.raises(StoreError, match="'acme-1'"):
            await embedder.aembed_query("a")
