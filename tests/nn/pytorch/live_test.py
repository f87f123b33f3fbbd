#!/usr/bin/python3
"""live_test.py RETRACE_TEST: exchanges new random weights with the PyTorch of this machine, in both directions.

Exits with 77 where python3 has no torch.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import torch  # noqa: F401
except ImportError:
    print("skipped: python3 has no torch (Debian: python3-torch)")
    sys.exit(77)
sys.dont_write_bytecode = True
import make_example
import make_stacks
import read_back


def main(tests):
    with tempfile.TemporaryDirectory() as folder:
        make_example.main(folder, seed=11)
        make_stacks.main(folder, seed=12)
        places = {"RETRACE_PYTORCH_EXAMPLES": folder, "RETRACE_PYTORCH_FILES": folder + "/ours_"}
        subprocess.run([tests, "--gtest_filter=Pytorch*"], env={**os.environ, **places}, check=True)
        written = sorted(pathlib.Path(folder).glob("ours_*.safetensors"))
        equal = [read_back.main(path, folder) for path in written]
    return len(written) == 4 and all(equal)


if __name__ == "__main__":
    sys.exit(not main(sys.argv[1]))
