"""What a measurement was made on, and of which commit."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path


def describe_machine() -> str:
    """Processor, cores, memory, system and Python."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{processor()}, {os.cpu_count()} cores, {memory:.0f} GB of memory, {platform.system()} "
        f"{platform.machine()}, {platform.python_implementation()} {platform.python_version()}"
    )


def processor() -> str:
    """The processor's name, as the system gives it."""
    if sys.platform == "linux":
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.split(":")[1].strip()
    return platform.processor() or platform.machine()


def checked_out() -> str:
    """The commit that is checked out, with "-dirty" if files differ from it; unknown outside of a clone."""
    describe = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(describe, capture_output=True, text=True).stdout.strip() or "unknown"
