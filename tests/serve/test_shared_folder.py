"""Several servers on one folder: the first holds it, and nothing is lost when it ends."""

import asyncio
import json
import signal
import stat
import subprocess
import sys
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import chromadb
import pytest
from chromadb.errors import InternalError
from conftest import WordsEmbedding
from mcp import Client, StdioServerParameters, stdio_client
from serve.kit import stdio_command

from recall_retrievers.core.errors import (
    QueryError,
    ScopeError,
    StoreClosedError,
    StoreUnavailableError,
    SupersededError,
)
from recall_retrievers.core.scope import Scope, ScopeName
from recall_retrievers.serve import shared_folder
from recall_retrievers.serve.managing import (
    Added,
    AddMemories,
    ListMemories,
    Page,
    SupersedeMemory,
)
from recall_retrievers.serve.operation import Retrieved, RetrievePersonalMemory, failure_of
from recall_retrievers.serve.shared_folder import (
    ADDRESS,
    Address,
    Listener,
    Message,
    SharedFolder,
    ask,
)
from recall_retrievers.store import RecallStore

ANN, BOB = Scope(user_id="ann"), Scope(user_id="bob")


def shared(
    folder: Path, timezone: str | None = None, require_scope: tuple[ScopeName, ...] = ()
) -> SharedFolder:
    def opened(name: str, required: tuple[ScopeName, ...]) -> RecallStore:
        embedding = WordsEmbedding()
        return RecallStore(folder, name, embedding=embedding, require_scope=required)

    return SharedFolder(folder, "memories", opened, timezone, require_scope)


def adding(text: str) -> AddMemories:
    return AddMemories(memories=[{"content": text}])


def asking(text: str) -> RetrievePersonalMemory:
    return RetrievePersonalMemory(query=text, k=100)


def contents(found: object) -> set[str]:
    return {each.content for each in Retrieved.model_validate(found).metadata.memory_list}


@asynccontextmanager
async def started(*folders: SharedFolder) -> AsyncIterator[list[SharedFolder]]:
    """As several processes have a folder; the first is the holder."""
    for each in folders:
        await each.start()
    yield [*folders]
    for each in folders:
        await each.close()


@pytest.fixture
async def three(tmp_path: Path) -> AsyncIterator[list[SharedFolder]]:
    async with started(*(shared(tmp_path / "memories") for _ in range(3))) as folders:
        yield folders


async def test_all_write_and_read_at_once(three: list[SharedFolder], tmp_path: Path) -> None:
    texts = [f"Tea number {number}." for number in range(30)]

    done = await asyncio.gather(
        *(three[n % 3].do(adding(text), ANN) for n, text in enumerate(texts))
    )

    assert len({Added.model_validate(each).ids[0] for each in done}) == 30
    for each in three:
        assert contents(await each.do(asking("tea"), ANN)) == set(texts)
        assert contents(await each.do(asking("tea"), BOB)) == set()


async def test_when_the_holder_ends_another_one_takes_its_place(
    three: list[SharedFolder],
) -> None:
    for text, holder in [("One.", 0), ("Two.", 1), ("Three.", 2)]:
        await three[2].do(adding(text), ANN)
        if holder < 2:
            others = [
                each.do(adding(f"{text} {n}"), ANN) for n, each in enumerate(three[holder + 1 :])
            ]
            results = await asyncio.gather(three[holder].close(), *others)
            assert all(isinstance(each, Added) for each in results[1:])
            with pytest.raises(StoreClosedError, match="about to end"):
                await three[holder].do(asking("one"), ANN)

    found = contents(await three[2].do(asking("one two three"), ANN))
    assert found == {"One.", "One. 0", "One. 1", "Two.", "Two. 0", "Three."}


async def test_a_time_is_read_in_the_zone_of_the_process_that_asks(tmp_path: Path) -> None:
    zones = (shared(tmp_path / "memories", zone) for zone in ("UTC", "Asia/Tokyo"))
    async with started(*zones) as (in_utc, in_tokyo):
        evening = {"content": "Tea.", "created_at": "2024-03-04T20:00:00Z"}
        await in_utc.do(AddMemories(memories=[evening]), ANN)
        asked = RetrievePersonalMemory(query="tea", when="on 5 March 2024")

        assert contents(await in_utc.do(asked, ANN)) == set()
        assert contents(await in_tokyo.do(asked, ANN)) == {"Tea."}


async def test_what_a_process_requires_holds_for_its_clients_alone(tmp_path: Path) -> None:
    """Whoever holds the folder."""
    strict, other = (shared(tmp_path / "memories", require_scope=x) for x in (("user_id",), ()))
    for each in (strict, other):
        await each.start()
    await strict.do(adding("Tea."), ANN)

    for holder in (strict, other):
        for operation in (asking("tea"), adding("Rum."), ListMemories()):
            with pytest.raises(ScopeError, match="the scope must name user_id"):
                await strict.do(operation, Scope())
        assert contents(await strict.do(asking("tea"), ANN)) == {"Tea."}
        assert contents(await other.do(asking("tea"), Scope())) == {"Tea."}
        if holder is strict:
            await strict.close()
            await other.do(asking("tea"), Scope())  # it takes the place
            strict = shared(tmp_path / "memories", require_scope=("user_id",))
            await strict.start()
    for each in (strict, other):
        await each.close()


async def test_errors_are_those_of_the_holder(three: list[SharedFolder]) -> None:
    await three[0].do(AddMemories(memories=[{"id": "tea", "content": "Tea at four."}]), ANN)
    await three[0].do(SupersedeMemory(id="tea", content="Tea at five."), ANN)
    for each in three:
        with pytest.raises(SupersededError, match="is superseded; supersede") as refused:
            await each.do(SupersedeMemory(id="tea", content="Tea at six."), ANN)
        assert failure_of(refused.value).status_code == 409
        with pytest.raises(ScopeError, match="cannot be changed to 'bob'"):
            await each.do(RetrievePersonalMemory(query="tea", user_id="bob"), ANN)
        with pytest.raises(QueryError, match="no time is named by 'blue'"):
            await each.do(RetrievePersonalMemory(query="tea", when="blue"), ANN)


async def test_only_the_owner_can_read_the_key_and_strangers_get_no_answer(
    three: list[SharedFolder], tmp_path: Path
) -> None:
    folder = tmp_path / "memories"
    assert stat.S_IMODE((folder / ADDRESS).stat().st_mode) == 0o600
    address = Address.read(folder)
    assert address is not None
    message = {
        "place": ["memories", []],
        "operation": "RetrievePersonalMemory",
        "arguments": {"query": "tea"},
        "scope": {},
    }

    assert "result" in await ask(address, message)
    with pytest.raises(ConnectionError):
        await ask(Address(address.port, "0" * 64), message)
    reader, writer = await asyncio.open_connection("127.0.0.1", address.port)
    writer.write(b"POST / HTTP/1.1\r\nHost: localhost\r\n\r\n" + json.dumps(message).encode())
    writer.write_eof()
    assert await reader.read() == b""
    writer.close()


async def test_a_folder_that_hangs_is_an_error(
    three: list[SharedFolder], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_folder, "_WAIT_S", 0.2)
    (tmp_path / "memories" / ADDRESS).unlink()

    with pytest.raises(StoreUnavailableError, match="does not answer; end it, or try again"):
        await three[1].do(asking("tea"), ANN)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there a process is ended without a signal")
def test_ctrl_c_ends_a_server_once_the_folder_is_closed(tmp_path: Path) -> None:
    """As SIGTERM does; see tests/serve/test_slow_clients.py."""
    words = [sys.executable, "-m", "langchain_recall", "serve", str(tmp_path), "--port", "0"]
    # Tests that run in the background of a shell ignore Ctrl-C, and so would the server.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        try:
            signal.signal(signal.SIGINT, before)
            assert server.stdout is not None
            assert "Ctrl-C stops it" in server.stdout.readline()
            assert (tmp_path / ADDRESS).exists()
            server.send_signal(signal.SIGINT)

            assert server.wait(30) == 0
        finally:
            server.kill()
    assert not (tmp_path / ADDRESS).exists()


@pytest.mark.slow
async def test_two_servers_at_once_and_many_writes(tmp_path: Path) -> None:
    """The first one, which holds the folder, ends when it has written its part."""
    folder = tmp_path / "memories"
    program, words, environment = stdio_command(folder)
    environment["RECALL_USER_ID"] = "ann"
    parameters = StdioServerParameters(command=program, args=words, env=environment)
    texts = [f"Tea number {number}." for number in range(40)]
    all_are_up = asyncio.Barrier(2)

    async def session(mine: list[str]) -> None:
        async with Client(stdio_client(parameters)) as client:
            await all_are_up.wait()
            for text in mine:
                result = await client.call_tool("remember", {"content": text})
                assert not result.is_error, result

    await asyncio.gather(session(texts[:10]), session(texts[10:]))

    with RecallStore(folder) as store:
        assert sorted(each.content for each in store.memories()) == sorted(texts)
        assert {each.scope.user_id for each in store.memories()} == {"ann"}


async def test_a_store_in_which_chroma_has_failed_is_opened_anew(three: list[SharedFolder]) -> None:
    folder, poison = three[0]._folder, {"k": list(range(6_000))}  # more than Chroma can apply
    await three[0].do(adding("Tea."), ANN)
    with chromadb.PersistentClient(str(folder.resolve())) as client:
        rows = client.get_collection("memories", embedding_function=None)
        with pytest.raises(InternalError, match="apply logs"):
            rows.upsert(["x"], [[0.1] * 256], documents=["x"], metadatas=[poison])
    for each in three * 2:
        with pytest.raises(StoreUnavailableError) as raised:
            await each.do(adding("Rum."), ANN)
        assert failure_of(raised.value).status_code == 503
    take_out = "import sqlite3, sys; database = sqlite3.connect(sys.argv[1]); database.execute("
    take_out += "'DELETE FROM embeddings_queue WHERE id = ?', 'x'); database.commit()"
    subprocess.run([sys.executable, "-c", take_out, folder / "chroma.sqlite3"], check=True)
    for each in three:
        await each.do(adding("Rum."), ANN)
        assert contents(await each.do(asking("tea rum"), ANN)) == {"Tea.", "Rum."}


async def passed_on(question: bytes, address: Address) -> bytes:
    """What the holder answers to a line that somebody in between has read."""
    reader, writer = await asyncio.open_connection("127.0.0.1", address.port)
    writer.write(question)
    answer = await reader.readline()
    writer.close()
    return answer


@pytest.mark.parametrize("lies", ["the question itself", "an earlier answer"])
async def test_an_answer_that_was_not_made_for_the_question_is_refused(lies: str) -> None:
    """Whoever listens in between has no key, and can only send what others have signed."""

    async def true(_: Message) -> Message:
        return {"result": "tea"}

    holder = Listener(true)
    address = await holder.start()
    earlier: list[bytes] = []

    async def between(reader: StreamReader, writer: StreamWriter) -> None:
        question = await reader.readline()
        if not earlier:
            earlier.append(await passed_on(question, address))
            writer.write(earlier[0])
        else:
            writer.write(question if lies == "the question itself" else earlier[0])
        writer.close()

    async with await asyncio.start_server(between, "127.0.0.1", 0) as server:
        false = Address(server.sockets[0].getsockname()[1], address.key)
        assert (await ask(false, {}))["result"] == "tea"
        with pytest.raises(ConnectionError):
            await ask(false, {})
    await holder.close()


async def test_what_is_asked_for_twice_is_stored_once(tmp_path: Path) -> None:
    """The answer of the holder is lost, so the other process asks again."""
    folder = tmp_path / "memories"
    questions: list[bytes] = []

    async def between(reader: StreamReader, writer: StreamWriter) -> None:
        questions.append(await reader.readline())
        answer = await passed_on(questions[-1], address)
        if len(questions) > 1:
            writer.write(answer)
        writer.close()

    async with started(shared(folder), shared(folder)) as (holder, other):
        address = Address.read(folder)
        assert address is not None
        async with await asyncio.start_server(between, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            Address(port, address.key).write(folder)
            [stored] = Added.model_validate(await other.do(adding("Tea."), ANN)).ids
        page = Page.model_validate(await holder.do(ListMemories(), ANN))

    assert len(questions) == 2
    assert [each.id for each in page.memories] == [stored]
