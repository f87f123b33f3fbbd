#!/usr/bin/python3
"""read_back.py FILE: PyTorch loads what save_pytorch wrote, strictly, and computes the outputs of the example.

The comparison is in the dtype of the file.
"""
import sys

import torch

sys.dont_write_bytecode = True
from make_example import FOLDER, Layers, read

state_dict = read(sys.argv[1])
dtype = state_dict["norm.weight"].dtype
kind, limit = ("f32.", 1e-6) if dtype == torch.float32 else ("f64.", 1e-12)
layers = Layers().to(dtype)
layers.load_state_dict(state_dict, strict=True)
example = read(FOLDER / "example.safetensors")
inputs = {name[6:]: tensor for name, tensor in example.items() if name.startswith("input.")}
converted = {name: tensor.to(dtype) if tensor.is_floating_point() else tensor for name, tensor in inputs.items()}
errors = {name: (y - example[kind + name]).abs().max().item() for name, y in layers(**converted).items()}
for name, error in errors.items():
    print(f"{kind}{name:24} {error:.1e}")
equal = max(errors.values()) < limit
print("equal" if equal else "different", f"(limit {limit})")
sys.exit(not equal)
