"""Makes losses_and_einsum.safetensors (see INDEX.md) with PyTorch 1.13 in float64: python3 losses_and_einsum.py"""

import json
import struct

import numpy
import torch
import torch.nn.functional as F

random = numpy.random.RandomState(20)
tensors, metadata, cases = {}, {}, []


def normal(*shape):
    """Numbers that are exact in float32."""
    return torch.tensor(numpy.array(random.randn(*shape), numpy.float32).astype(numpy.float64))


def positive(*shape):
    return torch.tensor(random.uniform(0.5, 2, shape).astype(numpy.float32).astype(numpy.float64))


def labels(classes, *shape):
    return torch.tensor(random.randint(0, classes, shape))


def put(name, x):
    tensors[name] = numpy.array(x.detach().numpy(), order="C")


def add(name, op, f, inputs, constants=None, exact=True, **attributes):
    """Stores f(**inputs, **constants), a random cotangent, and the gradients of the inputs."""
    name, constants = name.replace(".", "_"), constants or {}
    leaves = {key: x.clone().requires_grad_() for key, x in inputs.items()}
    y = f(**leaves, **constants)
    dy = normal(*y.shape)
    gradients = torch.autograd.grad(y, list(leaves.values()), dy)
    for key, x in inputs.items():
        put(f"{name}/in/{key}", x)
    for key, x in constants.items():
        put(f"{name}/const/{key}", x)
    put(f"{name}/out/y", y)
    put(f"{name}/grad_out/y", dy)
    for key, gradient in zip(leaves, gradients):
        assert bool(torch.isfinite(gradient).all()), name
        put(f"{name}/grad/{key}", gradient)
    metadata.update({f"{name}/op": op, f"{name}/rtol": "1e-9", f"{name}/atol": "1e-11"})
    metadata[f"{name}/f32_exact_inputs"] = "1" if exact else "0"
    for key, value in attributes.items():
        metadata[f"{name}/attr/{key}"] = str(value)
    cases.append(name)


def wide(*shape):
    """Small and large numbers of both signs."""
    return normal(*shape) * torch.tensor([0.01, 1.0, 8.0, 30.0]).double()


for alpha in (1.0, 0.25):
    add(f"elu_{alpha}", "elu", lambda x, a=alpha: F.elu(x, a), {"x": wide(5, 4)}, exact=False, alpha=alpha)
add("selu", "selu", lambda x: F.selu(x), {"x": wide(5, 4)}, exact=False)
add("mish", "mish", lambda x: F.mish(x), {"x": wide(5, 4)}, exact=False)
add("swiglu", "swiglu", lambda x: F.silu(x[..., :3]) * x[..., 3:], {"x": normal(2, 4, 6)})

for name, axes in (("all", None), ("0", (0,)), ("0,2", (0, 2)), ("1", (1,))):
    for correction in (0, 1):
        for op, f in (("std", torch.std), ("var", torch.var)):
            dims = axes if axes is not None else (0, 1, 2)
            add(f"{op}_{name.replace(',', '_')}_{correction}", f"{op}_corrected",
                lambda x, f=f, d=dims, c=correction: f(x, dim=d, unbiased=bool(c)), {"x": normal(3, 4, 2)},
                axes=name, correction=correction)

for reduction in ("mean", "sum", "none"):
    for beta in (1.0, 0.5, 0.0):
        add(f"smooth_l1_{reduction}_{beta}", "smooth_l1",
            lambda x, t, r=reduction, b=beta: F.smooth_l1_loss(x, t, reduction=r, beta=b),
            {"x": normal(4, 3), "t": normal(4, 3)}, reduction=reduction, beta=beta)
    add(f"huber_{reduction}", "huber", lambda x, t, r=reduction: F.huber_loss(x, t, reduction=r, delta=0.75),
        {"x": normal(4, 3), "t": normal(4, 3)}, reduction=reduction, delta=0.75)
    torch_reduction = "batchmean" if reduction == "mean" else reduction
    add(f"kl_divergence_{reduction}", "kl_divergence",
        lambda x, t, r=torch_reduction: F.kl_div(x, t, reduction=r),
        {"x": normal(4, 3), "t": positive(4, 3)}, reduction=reduction, log_target=0)
    add(f"kl_divergence_log_{reduction}", "kl_divergence",
        lambda x, t, r=torch_reduction: F.kl_div(x, t, reduction=r, log_target=True),
        {"x": normal(4, 3), "t": normal(4, 3)}, reduction=reduction, log_target=1)

for reduction in ("mean", "sum", "none"):
    for smoothing in (0.0, 0.2):
        for weighted in (False, True):
            for ignored in ("none", 1):
                if smoothing == 0 and not weighted:
                    continue
                weights = {"w": positive(5)} if weighted else {}

                def entropy(x, t, w=None, r=reduction, s=smoothing, i=ignored):
                    rows, classes = t.reshape(-1), x.reshape(-1, 5)
                    if t.dtype == torch.float64:
                        rows = t.reshape(-1, 5)
                    index = -100 if i == "none" else i
                    y = F.cross_entropy(classes, rows, weight=w, ignore_index=index, reduction=r, label_smoothing=s)
                    return y.reshape(x.shape[:-1]) if r == "none" else y

                what = f"{reduction}_{smoothing}_{'weighted' if weighted else 'plain'}"
                attributes = {"reduction": reduction, "label_smoothing": smoothing}
                add(f"ce_{what}_{ignored}", "cross_entropy", entropy, {"x": normal(2, 3, 5)},
                    {"t": torch.tensor([[0, 1, 4], [2, 1, 3]]), **weights}, ignore_index=ignored, **attributes)
                if ignored == "none":
                    add(f"ce_soft_{what}", "cross_entropy", entropy, {"x": normal(2, 3, 5), "t": positive(2, 3, 5)},
                        weights, ignore_index="none", **attributes)
                if smoothing == 0:
                    index = -100 if ignored == "none" else ignored
                    add(f"nll_{what}_{ignored}", "nll",
                        lambda x, t, w, r=reduction, i=index: F.nll_loss(x, t, w, ignore_index=i, reduction=r),
                        {"x": normal(6, 5)}, {"t": torch.tensor([0, 1, 4, 2, 1, 3]), **weights},
                        ignore_index=ignored, **attributes)

equations = [
    ("ij,jk->ik", (3, 4), (4, 5)), ("ij,jk", (3, 4), (4, 5)), ("ba,cb", (3, 4), (5, 3)), ("ij->ji", (3, 4)),
    ("ij->", (3, 4)), ("ij->j", (3, 4)), ("ii->i", (4, 4)), ("ii", (4, 4)), ("iji->j", (3, 2, 3)),
    ("aiai->ia", (2, 3, 2, 3)), ("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4)),
    ("bhqk,bhkd->bqhd", (2, 2, 3, 5), (2, 2, 5, 4)), ("i,j->ij", (3,), (4,)), ("i,i->", (3,), (3,)),
    ("ij,ij->ij", (3, 4), (3, 4)), ("ij,kj,il->lk", (3, 4), (5, 4), (3, 2)),
    ("abc,cd,de,ebf->af", (2, 3, 4), (4, 5), (5, 2), (2, 3, 4)), ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)),
    ("...i,i", (2, 3, 4), (4,)), ("i...,j...->ij...", (2, 3, 1), (4, 1, 5)), ("i...->...", (3, 2, 4)),
    ("...,...->...", (3, 1), (4,)), (",ij->ij", (), (2, 3)), ("bij,bjk->ik", (3, 2, 4), (3, 4, 5)),
    ("kij,kjl->lki", (3, 2, 4), (3, 4, 5)), ("ijk,kjl->il", (2, 3, 4), (4, 3, 5)),
]
for number, (equation, *shapes) in enumerate(equations):
    inputs = {f"x{k}": normal(*shape) for k, shape in enumerate(shapes)}
    add(f"einsum_{number}", "einsum", lambda e=equation, **x: torch.einsum(e, *x.values()), inputs, equation=equation)

metadata["cases"] = ",".join(cases)
metadata["set"] = "public"
names = {"float64": "F64", "int64": "I64"}
header, data, offset = {"__metadata__": metadata}, [], 0
for name in sorted(tensors):
    x = tensors[name]
    header[name] = {"dtype": names[str(x.dtype)], "shape": list(x.shape), "data_offsets": [offset, offset + x.nbytes]}
    data.append(x.tobytes())
    offset += x.nbytes
text = json.dumps(header, separators=(",", ":")).encode()
text += b" " * (-len(text) % 8)
with open("losses_and_einsum.safetensors", "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + b"".join(data))
print(len(cases), "cases")
