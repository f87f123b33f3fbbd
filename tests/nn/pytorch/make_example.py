#!/usr/bin/python3
"""make_example.py [FOLDER [SEED]]: state_dict.safetensors and example.safetensors, of random weights.

What PyTorch computes with single layers; beside this script, or in a folder. Needs python3 and torch (Debian:
python3-torch). The weights are f32; the outputs are computed from them in f32 and f64.
"""
import json
import pathlib
import struct
import sys

import torch
from torch import nn

FOLDER = pathlib.Path(__file__).parent
DTYPES = {"F32": torch.float32, "F64": torch.float64, "I64": torch.int64}


def write(path, tensors):
    header, data = {}, b""
    for name, tensor in sorted(tensors.items()):
        values = tensor.detach().contiguous().numpy().tobytes()
        dtype = next(key for key, known in DTYPES.items() if known == tensor.dtype)
        offsets = [len(data), len(data) + len(values)]
        header[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": offsets}
        data += values
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def read(path):
    content = pathlib.Path(path).read_bytes()
    start = 8 + struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:start])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values = torch.frombuffer(bytearray(content[start + begin : start + end]), dtype=DTYPES[entry["dtype"]])
        tensors[name] = values.reshape(entry["shape"])
    return tensors


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.ModuleDict({"embed": nn.Embedding(7, 4), "lstm": nn.LSTM(4, 5, batch_first=True)})
        self.gru = nn.GRU(4, 5, batch_first=True)
        self.rnn = nn.RNN(4, 5, batch_first=True)
        self.gru_cell, self.lstm_cell, self.rnn_cell = nn.GRUCell(4, 5), nn.LSTMCell(4, 5), nn.RNNCell(4, 5)
        self.attention = nn.MultiheadAttention(6, 2, batch_first=True)
        self.attention_without_bias = nn.MultiheadAttention(6, 3, bias=False, batch_first=True)
        self.blocks = nn.ModuleList([nn.Linear(4, 3), nn.Linear(3, 2, bias=False)])
        self.norm = nn.LayerNorm(4)

    def forward(self, ids, x, h, c, query, key, value):
        y = {"embed": self.encoder.embed(ids), "norm": self.norm(x), "blocks": self.blocks[1](self.blocks[0](x))}
        y["gru"], y["rnn"] = self.gru(x, h[None])[0], self.rnn(x, h[None])[0]
        y["lstm"], (y["lstm_h"], y["lstm_c"]) = self.encoder.lstm(x)
        y["lstm_h"], y["lstm_c"] = y["lstm_h"][0], y["lstm_c"][0]
        y["gru_cell"], y["rnn_cell"] = self.gru_cell(x[:, 0], h), self.rnn_cell(x[:, 0], h)
        y["lstm_cell_h"], y["lstm_cell_c"] = self.lstm_cell(x[:, 0], (h, c))
        options = {"average_attn_weights": False}
        y["attention"], y["attention_weights"] = self.attention(query, key, value, **options)
        y["attention_without_bias"], _ = self.attention_without_bias(query, key, value, **options)
        return y


def main(folder=FOLDER, seed=1):
    torch.manual_seed(int(seed))
    layers = Layers()
    for weight in layers.parameters():
        nn.init.normal_(weight, std=0.5)
    shapes = {"x": (2, 3, 4), "h": (2, 5), "c": (2, 5), "query": (2, 3, 6), "key": (2, 4, 6), "value": (2, 4, 6)}
    inputs = {"ids": torch.randint(7, (2, 3)), **{name: torch.randn(shape) for name, shape in shapes.items()}}
    write(pathlib.Path(folder) / "state_dict.safetensors", layers.state_dict())
    example = {"input." + name: tensor for name, tensor in inputs.items()}
    example.update({"f32." + name: tensor for name, tensor in layers(**inputs).items()})
    in_doubles = {name: tensor.double() if tensor.is_floating_point() else tensor for name, tensor in inputs.items()}
    example.update({"f64." + name: tensor for name, tensor in layers.double()(**in_doubles).items()})
    write(pathlib.Path(folder) / "example.safetensors", example)


if __name__ == "__main__":
    main(*sys.argv[1:])
