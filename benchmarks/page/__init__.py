"""The benchmarks page: speed, error, reconstruction and growth against peers and the floor, in one run.

    python -m benchmarks.page --output docs/benchmarks.md

Every peer is measured by the same script (`worker.py`) in a process of its own, in this Python if it is
installed here and otherwise in an environment made for it. A peer that does not install is in the results,
with the reason.
"""
