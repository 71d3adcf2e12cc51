"""Forks: a child of this process and the store that its parent had open."""

import os
import re
from pathlib import Path

import pytest
from store.elsewhere import opens_elsewhere
from store.kit import python_process


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
class TestForks:
    """Chroma hangs in a fork; we say so instead."""

    def test_a_fork_cannot_use_a_store_and_the_parent_still_can(self, tmp_path: Path) -> None:
        script = """
            import os, signal, sys
            from recall_retrievers.core.stage import Search
            from recall_retrievers.store import RecallStore
            from store.kit import SmallEmbedding

            def told(use):
                try:
                    use()
                except Exception as error:
                    return f"{type(error).__name__}: {error}"
                return "no error"

            small = SmallEmbedding()
            stores = [RecallStore(where, embedding=small) for where in (None, sys.argv[1])]
            for store in stores:
                store.add(["tea"])
            read, write = os.pipe()
            if not os.fork():
                signal.alarm(20)
                lines = [
                    told(use)
                    for store in stores
                    for use in (
                        store.count,
                        lambda: store.add(["x"]),
                        lambda: store.find([Search("tea", 1)]),
                        lambda: store.get([]),
                    )
                ]
                lines.append(told(lambda: RecallStore(embedding=SmallEmbedding())))
                lines.append(told(lambda: RecallStore(sys.argv[1], embedding=SmallEmbedding())))
                for store in stores:
                    store.close()
                lines.append("closed")
                os.write(write, "\\n".join(lines).encode())
                os._exit(0)
            os.close(write)
            status = os.wait()[1]
            print(os.fdopen(read).read(), f"status {status}", sep="\\n")
            print(*(store.count() for store in stores), "end", sep="\\n", flush=True)
            sys.stdin.readline()
        """
        process = python_process(script, str(tmp_path))
        try:
            assert process.stdout is not None
            lines = [line.strip() for line in iter(process.stdout.readline, "end\n")]
            # Closing in the fork must not give the parent's path away.
            assert opens_elsewhere(tmp_path) == "StoreLockedError"
        finally:
            _, problems = process.communicate("\n", timeout=30)
        refused = [bool(re.match("StoreClosedError.*spawn", line)) for line in lines[:8]]
        assert all(refused), [*lines, problems]
        assert re.match("StoreError.*spawn", lines[8]), lines
        assert lines[9].startswith("StoreLockedError"), lines
        assert lines[10:] == ["closed", "status 0", "1", "1"]
