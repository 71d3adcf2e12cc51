"""The page docs/measured.md, from what the benchmarks wrote with ``--json``.

    python -m benchmarks.measured [--results DIR] > docs/measured.md

Without ``--results`` it prints the page of the figures kept beside it, in ``figures.json``. With a
folder of results it keeps their figures there first, and the versions of what is installed here:
run it in the environment and right after the benchmarks, as ``make measured DATA=folder`` does. A
benchmark that left no file keeps its earlier figures. Only figures are kept: no text of any data
set. Each file is named like its benchmark: ``retrieval.json``, ``gate.json``, ...
"""
