"""PyTorch in the cases of models_benchmark, ops_benchmark, gemm_benchmark and tape_benchmark, as compare.py runs it.

A case is named CASE/VARIANT. Variants are ways of writing the same work: `eager` with the modules of torch.nn, `sdpa` with
scaled_dot_product_attention, `compile` by torch.compile. The result has the form of Google Benchmark's JSON: the mean
time of at least --seconds of repetitions. The number of threads is that of OMP_NUM_THREADS.
"""
import argparse
import gc
import json
import os
import re
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

CASES = {}  # by name: a function that returns the function to time


def case(name):
    def add(make):
        CASES[name] = make
        return make
    return add


# Models --------------------------------------------------------------------------------------------------------------


class Tagger(nn.Module):
    """A recurrent layer, and a linear layer applied to h of every step."""

    def __init__(self, layer, inputs, hidden):
        super().__init__()
        self.layer, self.out = layer(inputs, hidden, batch_first=True), nn.Linear(hidden, 16)

    def forward(self, x):
        return self.out(self.layer(x)[0])


def heads_of(qkv, heads, order):
    """q, k and v [batch, heads, rows, size] of one product's result."""
    batch, rows, width = qkv.shape
    if order == "by part":
        return qkv.view(batch, rows, 3, heads, width // heads // 3).permute(2, 0, 3, 1, 4).unbind(0)
    return qkv.view(batch, rows, heads, 3, width // heads // 3).permute(3, 0, 2, 1, 4).unbind(0)


def attention(q, k, v, mask=None):
    """softmax(q k^T / sqrt(size) + mask) v of each head; the heads side by side."""
    weights = (q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2)
    if mask is not None:
        weights = weights + mask
    return (weights.softmax(-1) @ v).transpose(1, 2).flatten(2)


class SelfAttention(nn.Module):
    def __init__(self, size, heads, rows, causal, fused):
        super().__init__()
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.heads, self.causal, self.fused = heads, causal, fused
        self.mask = torch.full((rows, rows), -torch.inf).triu(1) if causal else None

    def forward(self, x):
        q, k, v = heads_of(self.qkv(x), self.heads, "by part")
        if self.fused:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal).transpose(1, 2).flatten(2)
        else:
            y = attention(q, k, v, self.mask)
        return self.out(y)


class RelationalRNN(nn.Module):
    """An LSTM beside a memory of slots, written to and read from at every step (models/networks/relational_rnn.h)."""

    def __init__(self, inputs=32, size=64, outputs=16, slots=4, heads=2):
        super().__init__()
        self.size, self.slots, self.heads = size, slots, heads
        self.of_x, self.of_h = nn.Linear(inputs, 4 * size), nn.Linear(size, 4 * size, bias=False)
        self.qkv, self.project = nn.Linear(size, 3 * size, bias=False), nn.Linear(size, size, bias=False)
        self.update, self.gate = nn.Linear(size, size), nn.Linear(2 * size, size)
        self.read, self.combine, self.out = nn.Linear(size, size), nn.Linear(2 * size, size), nn.Linear(size, outputs)

    def forward(self, x):
        batch = x.shape[0]
        h = c = x.new_zeros(batch, self.size)
        memory = x.new_zeros(batch, self.slots, self.size)
        ys = []
        for gates in self.of_x(x).unbind(1):
            i, f, g, o = (gates + self.of_h(h)).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            rows = self.project(attention(*heads_of(self.qkv(memory), self.heads, "by part")))
            rows = torch.cat([rows[:, :1] + h.unsqueeze(1), rows[:, 1:]], 1)
            every_h = h.unsqueeze(1).expand(-1, self.slots, -1)
            gate = self.gate(torch.cat([rows, every_h], 2)).sigmoid()
            memory = gate * self.update(rows).tanh() + (1 - gate) * memory
            ys.append(self.combine(torch.cat([h, self.read(memory.mean(1))], 1)).tanh())
        return self.out(torch.stack(ys, 1))


class MemoryCore(nn.Module):
    """JointNormCore of benchmarks/memory_core.h, with its classifier."""

    def __init__(self, inputs=40, slots=8, heads=8, size=256, classes=8):
        super().__init__()
        self.slots, self.heads, self.size = slots, heads, size
        self.input, self.qkv = nn.Linear(inputs, size), nn.Linear(size, 3 * size)
        self.first, self.second = nn.Linear(size, size), nn.Linear(size, size)
        self.gate_of_input, self.gate_of_memory = nn.Linear(size, 2 * size), nn.Linear(size, 2 * size)
        self.qkv_norm = nn.LayerNorm([slots + 1, 3 * size])
        self.attention_norm, self.mlp_norm = nn.LayerNorm([slots + 1, size]), nn.LayerNorm([slots + 1, size])
        self.input_bias, self.forget_bias = nn.Parameter(torch.tensor(0.0)), nn.Parameter(torch.tensor(1.0))
        widths = [slots * size] + 4 * [256]
        hidden = [layer for a, b in zip(widths, widths[1:]) for layer in (nn.Linear(a, b), nn.ReLU())]
        self.head = nn.Sequential(*hidden, nn.Linear(256, classes))

    def forward(self, x):
        memory = torch.eye(self.slots, self.size).expand(x.shape[0], -1, -1)
        for row in self.input(x).unsqueeze(2).unbind(1):
            z = torch.cat([memory, row], 1)
            z = self.attention_norm(z + attention(*heads_of(self.qkv_norm(self.qkv(z)), self.heads, "by head")))
            z = self.mlp_norm(z + self.second(self.first(z).relu()).relu())
            i, f = (self.gate_of_memory(memory.tanh()) + self.gate_of_input(row)).chunk(2, 2)
            memory = (i + self.input_bias).sigmoid() * z[:, :-1].tanh() + (f + self.forget_bias).sigmoid() * memory
        return self.head(memory.flatten(1))


def training_step(model, x, loss, compiled=False):
    """Forward + backward + Adam on a fixed batch."""
    adam = torch.optim.Adam(model.parameters(), foreach=False)  # faster on a CPU than with lists of tensors
    if compiled:
        model = torch.compile(model, mode="max-autotune-no-cudagraphs")

    def step():
        adam.zero_grad(set_to_none=True)
        x.grad = None
        loss(model(x)).backward()
        adam.step()
    return step


def mse_step(model, x, outputs, compiled=False):
    target = torch.randn(*x.shape[:2], outputs)
    return training_step(model, x, lambda y: F.mse_loss(y, target), compiled)


def add_recurrent():
    layers = {"lstm_fused": nn.LSTM, "gru_fused": nn.GRU, "rnn_tanh": nn.RNN}
    for i, h, s, b in (32, 64, 20, 2), (32, 64, 20, 32), (128, 512, 35, 20), (256, 256, 50, 64), (64, 1024, 25, 64):
        for name, layer in layers.items():
            for dx in "", "_dx":
                @case(f"{name}_i{i}_h{h}_s{s}_b{b}{dx}/eager")
                def _(layer=layer, i=i, h=h, s=s, b=b, dx=dx):
                    return mse_step(Tagger(layer, i, h), torch.randn(b, s, i, requires_grad=bool(dx)), 16)


def add_attention():
    for b, s, d, n in (32, 64, 64, 4), (8, 256, 256, 8):
        for causal in "", "_causal":
            for variant in "eager", "compile", "sdpa", "sdpa_compile":
                @case(f"mha_hand_b{b}_s{s}_d{d}_h{n}{causal}/{variant}")
                def _(b=b, s=s, d=d, n=n, causal=bool(causal), variant=variant):
                    model = SelfAttention(d, n, s, causal, "sdpa" in variant)
                    return mse_step(model, torch.randn(b, s, d, requires_grad=True), d, "compile" in variant)


def add_memories():
    for variant in "eager", "compile":
        for b in 2, 32:
            @case(f"relrnn_i32_h64_slots4_s20_b{b}/{variant}")
            def _(b=b, variant=variant):
                return mse_step(RelationalRNN(), torch.randn(b, 20, 32), 16, variant == "compile")
        for b in 32, 256, 1600:
            @case(f"rmc_nth_b{b}/{variant}")
            def _(b=b, variant=variant):
                labels = torch.randint(8, (b,))
                x = torch.rand(b, 8, 40) * 2 - 1
                return training_step(MemoryCore(), x, lambda y: F.cross_entropy(y, labels), variant == "compile")


# Single ops and products ---------------------------------------------------------------------------------------------


def add_op(name, shapes, op):
    @case(f"op_{name}/eager")
    def _():
        inputs = [torch.randn(shape, requires_grad=True) for shape in shapes]
        cotangent = torch.randn_like(op(*inputs))

        def step():
            for x in inputs:
                x.grad = None
            op(*inputs).backward(cotangent)
        return step


def add_ops():
    maps = {"sigmoid": torch.sigmoid, "tanh": torch.tanh, "exp": torch.exp, "gelu_erf": F.gelu, "softplus": F.softplus,
            "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "relu": torch.relu}
    for name, function in maps.items():
        add_op(f"{name}_1M", [(1 << 20,)], function)
        add_op(f"{name}_16K", [(1 << 14,)], function)
    for n in 64, 1024:
        add_op(f"softmax_4096x{n}", [(4096, n)], lambda x: x.softmax(-1))
        add_op(f"layer_norm_4096x{n}", [(4096, n), (n,), (n,)], lambda x, w, b: F.layer_norm(x, w.shape, w, b))
    labels, ids = torch.randint(1000, (4096,)), torch.randint(10000, (8192,))
    add_op("cross_entropy_4096x1000", [(4096, 1000)], lambda x: F.cross_entropy(x, labels))
    add_op("embedding_10000x256_8192", [(10000, 256)], lambda table: F.embedding(ids, table))
    add_op("add_1M", [(1 << 20,), (1 << 20,)], torch.add)
    add_op("mul_1M", [(1 << 20,), (1 << 20,)], torch.mul)
    add_op("bias_add_4096x256", [(4096, 256), (256,)], torch.add)


def add_product(name, m, n, k, batch=(), transpose_a=False, transpose_b=False, dtype=torch.float32):
    @case(f"{name}/eager")
    def _():
        a = torch.randn(*batch, k, m, dtype=dtype).mT if transpose_a else torch.randn(*batch, m, k, dtype=dtype)
        b = torch.randn(*batch, n, k, dtype=dtype).mT if transpose_b else torch.randn(*batch, k, n, dtype=dtype)
        c = torch.empty(*batch, m, n, dtype=dtype)
        return lambda: torch.matmul(a, b, out=c)


def add_products():
    for size in 64, 128, 256, 512, 1024, 2048:
        add_product(f"mm_f32_{size}", size, size, size)
        add_product(f"mm_f64_{size}", size, size, size, dtype=torch.float64)
    for m, n, k in (32, 256, 64), (32, 1024, 256), (128, 768, 256), (1600, 256, 256), (14400, 768, 256):
        add_product(f"mm_NN_{m}x{n}x{k}", m, n, k)
        add_product(f"mm_NT_{m}x{k}x{n}", m, k, n, transpose_b=True)
        add_product(f"mm_TN_{k}x{n}x{m}", k, n, m, transpose_a=True)
    for rows, heads in (9, 512), (64, 256):
        add_product(f"bmm_attn{rows}_qkt", rows, rows, 32, (heads,), transpose_b=True)
        add_product(f"bmm_attn{rows}_pv", rows, 32, rows, (heads,))
        add_product(f"bmm_attn{rows}_dv", rows, 32, rows, (heads,), transpose_a=True)


def add_chains():
    ops = {"add": torch.add, "mul": torch.mul, "tanh": lambda y, k: torch.tanh(y)}
    for name, op in ops.items():
        @case(f"overhead_chain1000_{name}/eager")
        def _(op=op):
            x, k, cotangent = torch.randn(4, requires_grad=True), torch.full((4,), 0.999), torch.ones(4)

            def step():
                x.grad = None
                y = x
                for _ in range(1000):
                    y = op(y, k)
                y.backward(cotangent)
            return step


# -----------------------------------------------------------------------------------------------------------------------


def mean_milliseconds(step, seconds):
    """Means of the time that passed, and of the processor's."""
    warm = time.perf_counter()
    step()
    step()  # the first step compiles, and allocates
    while time.perf_counter() - warm < seconds / 4:
        step()
    count, start, cpu = 0, time.perf_counter(), time.process_time()
    while count == 0 or time.perf_counter() - start < seconds:
        step()
        count += 1
    return 1e3 * (time.perf_counter() - start) / count, 1e3 * (time.process_time() - cpu) / count


def main():
    flags = argparse.ArgumentParser(description=__doc__)
    flags.add_argument("--filter", default="", help="regular expression of CASE/VARIANT")
    flags.add_argument("--seconds", type=float, default=0.2)
    options = flags.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    gc.disable()
    for add in add_recurrent, add_attention, add_memories, add_ops, add_products, add_chains:
        add()
    results = []
    for name, make in CASES.items():
        if not re.search(options.filter, name):
            continue
        torch.manual_seed(1)
        try:
            real, cpu = mean_milliseconds(make(), options.seconds)
            results.append({"name": name, "real_time": real, "cpu_time": cpu, "time_unit": "ms"})
        except Exception as error:  # torch.compile needs a compiler
            print(f"{name}: {type(error).__name__}: {str(error)[:200]}", file=sys.stderr)
        torch.compiler.reset()
        gc.collect()
    json.dump({"context": {"library": "PyTorch " + torch.__version__.partition("+")[0]}, "benchmarks": results}, sys.stdout)


main()
