"""Writes more_ops.safetensors, in the format of INDEX.md, with the values and gradients of PyTorch 1.13 in float64.

Usage, from the root of the repository, where PyTorch is installed (python3-torch of Debian 12):
    python3 tests/golden/make_more_ops.py
"""
import json
import pathlib
import struct

import torch

torch.manual_seed(20)
tensors, metadata, cases = {}, {}, []


def exact(x):
    """The nearest numbers that f32 can hold, too."""
    return x.float().double() if x.is_floating_point() else x


def normal(*shape):
    return exact(torch.randn(shape, dtype=torch.float64))


def numbers(*values):
    return exact(torch.tensor(values, dtype=torch.float64))


def add(case, op, function, inputs=None, constants=None, **attributes):
    """A case: function(**inputs, **constants) gives the outputs by name, or y alone."""
    assert case not in cases, case
    cases.append(case)
    leaves = {name: exact(x).clone().requires_grad_() for name, x in (inputs or {}).items()}
    given = {name: exact(x) for name, x in (constants or {}).items()}
    outputs = function(**leaves, **given)
    outputs = outputs if isinstance(outputs, dict) else {"y": outputs}
    loss = 0
    for name, y in outputs.items():
        tensors[f"{case}/out/{name}"] = y.detach() if y.is_floating_point() else y.long()
        if y.requires_grad:
            cotangent = normal(*y.shape)
            tensors[f"{case}/grad_out/{name}"] = cotangent
            loss = loss + (cotangent * y).sum()
    for name, x in leaves.items():
        tensors[f"{case}/in/{name}"] = x.detach()
        tensors[f"{case}/grad/{name}"] = torch.autograd.grad(loss, x, retain_graph=True)[0]
    for name, x in given.items():
        tensors[f"{case}/const/{name}"] = x
    metadata.update({f"{case}/op": op, f"{case}/rtol": "1e-9", f"{case}/atol": "1e-11", f"{case}/f32_exact_inputs": "1"})
    metadata.update({f"{case}/attr/{key}": str(value) for key, value in attributes.items()})


def elementwise():
    spread = numbers(-6, -2.5, -1, -1e-3, -1e-9, 0, 1e-12, 1e-4, 0.3, 1, 2.5, 5, 7)
    add("erf", "erf", torch.erf, {"x": spread})
    add("expm1", "expm1", torch.expm1, {"x": torch.cat([spread, numbers(-40, 30)])})
    add("log1p", "log1p", torch.log1p, {"x": numbers(-0.999, -0.5, -1e-9, 0, 1e-12, 1e-4, 0.3, 1, 10, 1e6)})
    steps = numbers(-2.7, -2.5, -1.5, -0.5, -0.2, 0.5, 1.5, 2.5, 2.51, 3.49, 1e9)
    for name in ["sign", "floor", "ceil", "round"]:
        add(name, name, getattr(torch, name), {"x": torch.cat([steps, numbers(0)])})


def comparisons():
    special = numbers(-1, 0, 1, 1, float("inf"), float("nan"), float("nan"), -float("inf"))
    others = numbers(1, -0.0, 1, 2, float("inf"), float("nan"), 0, float("inf"))
    whole = torch.tensor([[3, -1, 0], [2, 2, 7]])
    for kind, function in {"equal": torch.eq, "not_equal": torch.ne, "less": torch.lt, "less_equal": torch.le,
                           "greater": torch.gt, "greater_equal": torch.ge}.items():
        add(f"{kind}_special", kind, lambda a, b: function(a, b), {}, {"a": special, "b": others})
        add(f"{kind}_broadcast", kind, lambda a, b: function(a, b), {},
            {"a": torch.round(2 * normal(2, 1, 4)), "b": torch.round(2 * normal(3, 1))})
        add(f"{kind}_i64", kind, lambda a, b: function(a, b), {}, {"a": whole, "b": torch.tensor([2, -1, 0])})
        add(f"{kind}_number", kind, lambda a: function(a, 1), {}, {"a": special}, number=1)
        add(f"{kind}_i64_number", kind, lambda a: function(a, 1.5), {}, {"a": whole}, number=1.5)
    masks = {"a": torch.tensor([[0, 1], [5, 0]]), "b": torch.tensor([[1, 0]])}
    for kind in ["logical_and", "logical_or", "logical_xor"]:
        add(kind, kind, lambda a, b: getattr(torch, kind)(a, b), {}, masks)
    add("logical_not", "logical_not", lambda a: torch.logical_not(a), {}, {"a": masks["a"]})


def reductions():
    add("cumprod_middle", "cumprod", lambda x: torch.cumprod(x, 1), {"x": normal(2, 4, 3)}, axis=1)
    zeros = numbers(*[1.5, 0, 2, -1], *[0, 3, 0, 2], *[1, 2, 3, 0]).reshape(3, 4)
    add("cumprod_zeros", "cumprod", lambda x: torch.cumprod(x, -1), {"x": zeros}, axis=-1)
    x = normal(3, 4, 2)
    for axis in [0, 1, -1]:
        add(f"argmin_{axis}".replace("-", "m"), "argmin", lambda x: torch.argmin(x, axis), {}, {"x": x}, axis=axis)
    add("argmin_nan", "argmin", lambda x: torch.argmin(x, 0), {}, {"x": numbers(3, -1, float("nan"), -5)}, axis=0)


def shapes():
    for name in ["tril", "triu"]:
        for case, shape, k in [("", (3, 4), 0), ("_up", (2, 4, 3), 1), ("_down", (4, 5), -2), ("_far", (2, 2), 5)]:
            add(name + case, name, lambda x: getattr(torch, name)(x, k), {"x": normal(*shape)}, diagonal=k)
    for case, shape, k in [("", (3, 4), 0), ("_up", (2, 4, 3), 2), ("_down", (5, 3), -3)]:
        add("diagonal" + case, "diagonal", lambda x: torch.diagonal(x, k, -2, -1), {"x": normal(*shape)}, offset=k)
    for case, shape, k in [("", (3,), 0), ("_up", (2, 3), 1), ("_down", (2, 1, 2), -2)]:
        add("diag_embed" + case, "diag_embed", lambda x: torch.diag_embed(x, k), {"x": normal(*shape)}, offset=k)
    for case, shape, k in [("_vector", (3,), -1), ("_matrix", (3, 4), 1)]:
        add("diag" + case, "diag", lambda x: torch.diag(x, k), {"x": normal(*shape)}, offset=k)
    for case, shape, counts in [("", (2, 3), (2, 2)), ("_new_axes", (2, 3), (2, 1, 3)), ("_0d", (), (3,)),
                                ("_never", (2, 3), (0, 2))]:
        add("repeat" + case, "repeat", lambda x: x.repeat(*counts), {"x": normal(*shape)},
            counts=",".join(map(str, counts)))
    for case, shift, axis in [("", 1, 1), ("_back", -2, 0), ("_around", 11, -1)]:
        add("roll" + case, "roll", lambda x: torch.roll(x, shift, axis), {"x": normal(3, 4, 2)}, shift=shift, axis=axis)


def named(result):
    return {"values": result[0], "indices": result[1]}


def sorting():
    ties = numbers(*[2, 1, 2, 1, 0], *[3, 3, -1, 3, -1]).reshape(2, 5)
    holes = numbers(2, float("nan"), -1, float("inf"), float("nan"), -float("inf"), 2)
    for descending in [0, 1]:
        way = {"descending": bool(descending), "stable": True}
        add(f"sort_{descending}", "sort", lambda x: named(torch.sort(x, dim=1, **way)), {"x": normal(2, 5, 3)}, axis=1,
            descending=descending)
        add(f"sort_ties_{descending}", "sort", lambda x: named(torch.sort(x, dim=-1, **way)), {"x": ties}, axis=-1,
            descending=descending)
        add(f"argsort_nan_{descending}", "argsort", lambda x: torch.sort(x, dim=0, **way)[1], {}, {"x": holes}, axis=0,
            descending=descending)
    for largest in [0, 1]:
        add(f"topk_{largest}", "topk", lambda x: named(torch.topk(x, 3, 1, largest=bool(largest))),
            {"x": normal(2, 5, 3)}, k=3, axis=1, largest=largest)
        add(f"topk_all_{largest}", "topk", lambda x: named(torch.topk(x, 4, largest=bool(largest))), {"x": normal(3, 4)},
            k=4, axis=-1, largest=largest)
    add("topk_none", "topk", lambda x: named(torch.topk(x, 0)), {"x": normal(3, 4)}, k=0, axis=-1, largest=1)
    mask = torch.tensor([[1, 0, 1, 1], [0, 0, 3, 0]])
    add("nonzero", "nonzero", lambda x: torch.nonzero(x), {}, {"x": mask})
    add("nonzero_real", "nonzero", lambda x: torch.nonzero(x), {}, {"x": numbers(0, -0.0, 1e-30, float("nan"), 2)})
    add("masked_select", "masked_select", lambda x, mask: torch.masked_select(x, mask != 0), {"x": normal(2, 4)},
        {"mask": mask})
    add("masked_select_rows", "masked_select", lambda x, mask: torch.masked_select(x, mask != 0), {"x": normal(4)},
        {"mask": torch.tensor([[1], [0], [1]])})
    add("where_number", "where_number", lambda x, mask: torch.where(mask != 0, x, 0.5), {"x": normal(2, 1)},
        {"mask": mask}, number=0.5)


def write(path):
    metadata["cases"] = ",".join(cases)
    metadata["set"] = "more ops"
    header, data = {"__metadata__": dict(sorted(metadata.items()))}, b""
    for name, x in sorted(tensors.items()):
        values = x.contiguous().numpy().tobytes()
        kind = "F64" if x.dtype == torch.float64 else "I64"
        header[name] = {"dtype": kind, "shape": list(x.shape), "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    print(f"{path}: {len(cases)} cases, {len(text) + len(data) + 8} bytes")


elementwise()
comparisons()
reductions()
shapes()
sorting()
write(pathlib.Path(__file__).with_name("more_ops.safetensors"))
