#!/usr/bin/python3
"""read_back.py FILE [FOLDER]: PyTorch loads what save_pytorch wrote, strictly, and computes the outputs of the example.

The example is beside this script, or in a folder. The comparison is in the dtype of the file.
"""
import pathlib
import sys

import torch

sys.dont_write_bytecode = True
from make_example import FOLDER, Layers, read
from make_stacks import Stacks


def errors_of(state_dict, folder):
    of_stacks = "head.0.weight" in state_dict
    dtype = next(iter(state_dict.values())).dtype
    module = (Stacks() if of_stacks else Layers()).to(dtype).eval()
    module.load_state_dict(state_dict, strict=True)
    example = read(folder / ("stacks_example.safetensors" if of_stacks else "example.safetensors"))
    inputs = {name[6:]: tensor for name, tensor in example.items() if name.startswith("input.")}
    converted = {name: tensor.to(dtype) if tensor.is_floating_point() else tensor for name, tensor in inputs.items()}
    kind = "f32." if dtype == torch.float32 else "f64."
    return {kind + name: error(y, example[kind + name]) for name, y in module(**converted).items()}


def error(y, expected):
    """The largest difference of two elements, as a part of the largest element where that is above 1."""
    return ((y - expected).abs().max() / max(1, expected.abs().max())).item()


def main(file, folder=FOLDER):
    errors = errors_of(read(file), pathlib.Path(folder))
    for name, error in errors.items():
        print(f"{name:28} {error:.1e}")
    limit = 1e-6 if next(iter(errors)).startswith("f32") else 1e-12
    equal = max(errors.values()) < limit
    print("equal" if equal else "different", f"(limit {limit})")
    return equal


if __name__ == "__main__":
    sys.exit(not main(*sys.argv[1:]))
