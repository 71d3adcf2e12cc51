"""Mistakes that type checkers find, one on each line that ends so; this file is never run."""

from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel
from langchain_core.vectorstores import InMemoryVectorStore

from langchain_recall import (
    FuseRerank,
    Memory,
    RecallConfig,
    RecallGraphStore,
    RecallRetriever,
    RecallStore,
    RecallVectorStore,
    evaluate,
    personal_memory_retriever,
)
from llamaindex_recall import RecallRetriever as IndexRetriever
from llamaindex_recall import RecallVectorStore as IndexVectorStore
from recall_retrievers.evaluation.questions import Question

store = RecallStore()
RecallRetriever()  # wrong: no store
RecallRetriever(store=store, kk=3)  # wrong: a name that is not there
RecallRetriever(store=store, method="vector")  # wrong: none of the methods
RecallRetriever(store=store, k="3")  # wrong: a text
RecallRetriever(store=store, scope="ann")  # wrong: whose name is it?
RecallRetriever(store=store, stages=[3])  # wrong: no stage
RecallRetriever(store=store, replace=[FuseRerank(fuse_time=3)])  # wrong: a typo
RecallRetriever(store=store, replace=[{"fuse_time_ratio": 3}])  # wrong: no stage
RecallRetriever(store="./memories")  # wrong: a path, where a store is wanted
IndexRetriever(store=store, time_mode="must")  # wrong: none of the modes
personal_memory_retriever(store, user_id="ann")  # wrong: stands in scope

retriever = RecallRetriever(store=store)
retriever.invoke("Who likes tea?", user_id="ann")  # wrong: stands in scope
retriever.invoke("Who likes tea?", time_stamp="2024-03-08")  # wrong: a typo
retriever.invoke("Who likes tea?", method="words")  # wrong: none of the methods
IndexRetriever(store=store).retrieve("Who likes tea?", kk=1)  # wrong: a name that is not there

evaluate(store, [Question(question="Who?", relevant=["m1"])])  # wrong: a store asks nobody

Memory(content="Tea.", created_at=["2024-03-08"])  # wrong: a list
Memory(content="Tea.", user_id="ann")  # wrong: stands in scope
Memory(content="Tea.", metadata={"nested": {"a": 1}})  # wrong: not flat
Memory(created_at="2024-03-08")  # wrong: no content
Question(question="Who likes tea?", relevant="m1")  # wrong: a text, where a list is wanted
RecallConfig(source=store, ranker="best")  # wrong: no stage
FuseRerank(topn=3)  # wrong: a typo

create_agent(FakeListChatModel(responses=[]), store=store)  # wrong: no store of LangGraph
RecallGraphStore("./memories")  # wrong: a path, where a store is wanted
RecallGraphStore(store, time_mod="require")  # wrong: a typo
RecallVectorStore(store, scope="ann")  # wrong: whose name is it?
IndexVectorStore(InMemoryVectorStore)  # wrong: no RecallStore
store.serch()  # wrong: a name that is not there
store.acount(kind="insight")  # wrong: a name that is not there
store.adelete(ids="tea", memory_types=3)  # wrong: a name that is not there
