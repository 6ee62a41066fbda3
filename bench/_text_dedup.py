"""text-dedup's own MinHash command, in an environment of its own: it needs older versions of what others here need.

The environment is made on first use, inside that of Crivello.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

PACKAGE = "text-dedup==0.4.0"
_STAGES = ("MinHashing", "Clustering", "Filtering")


def seconds(texts: list[str], threshold: float, size: int, bins: int) -> float:
    """The seconds from texts that are loaded to the documents that stay, with a process for each core, as it reports them."""
    python = _environment() / "bin" / "python"
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "in.jsonl")
        encode = msgspec.json.Encoder().encode
        with source.open("wb") as lines:
            lines.writelines(encode({"text": text}) + b"\n" for text in texts)
        flags = {
            "path": "json",
            "data_files": source,
            "split": "train",
            "cache_dir": Path(folder, "cache"),
            "output": Path(folder, "out"),
            "column": "text",
            "threshold": threshold,
            "ngram": size,
            "num_perm": bins,
            "hash_func": "xxh3",
            "num_proc": os.cpu_count(),
        }
        command = [str(python), "-m", "text_dedup.minhash"]
        command += [word for name, value in flags.items() for word in (f"--{name}", str(value))]
        environment = {**os.environ, "COLUMNS": "200", "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"text-dedup ended with {done.returncode}: {done.stderr[-500:]}")
    told = dict(re.findall(r"(\w+) *: ([\d.]+)s", done.stdout + done.stderr))
    return sum(float(told[stage]) for stage in _STAGES)


def _environment() -> Path:
    folder = Path(sys.prefix, "text-dedup")
    if not Path(folder, "made").exists():
        uv = [str(Path(sys.prefix, "bin", "uv"))]
        subprocess.run([*uv, "venv", "--quiet", "--clear", str(folder)], check=True)
        python = str(folder / "bin" / "python")
        subprocess.run([*uv, "pip", "install", "--quiet", "--python", python, PACKAGE], check=True)
        Path(folder, "made").touch()
    return folder
