#!/usr/bin/python3
"""make_stacks.py [FOLDER [SEED]]: stacks.safetensors and stacks_example.safetensors, of random weights.

What PyTorch computes with layers of several cells, keys of other sizes and Transformers; beside this script, or in a
folder. Needs python3 and torch (Debian: python3-torch).
"""
import pathlib
import sys

import torch
from torch import nn

sys.dont_write_bytecode = True
from make_example import FOLDER, write


def encoder_layer(**options):
    return nn.TransformerEncoderLayer(6, 2, dim_feedforward=5, dropout=0.1, batch_first=True, **options)


def decoder_layer(**options):
    return nn.TransformerDecoderLayer(6, 2, dim_feedforward=5, dropout=0.1, batch_first=True, **options)


class Stacks(nn.Module):
    def __init__(self):
        super().__init__()
        both = {"num_layers": 2, "bidirectional": True, "batch_first": True}
        self.lstm, self.gru, self.rnn = nn.LSTM(6, 3, **both), nn.GRU(6, 3, **both), nn.RNN(6, 3, **both)
        self.relu_rnn = nn.RNN(6, 3, num_layers=3, nonlinearity="relu", batch_first=True)
        self.attention = nn.MultiheadAttention(6, 2, kdim=4, vdim=5, batch_first=True)
        self.encoder_layer = encoder_layer(activation="gelu")
        self.decoder_layer = decoder_layer(norm_first=True)
        self.encoder = nn.TransformerEncoder(encoder_layer(norm_first=True), 2, nn.LayerNorm(6), enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(decoder_layer(activation="gelu"), 2, nn.LayerNorm(6))
        self.head = nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Dropout(0.5), nn.LayerNorm(4), nn.Linear(4, 2))

    def recurrent(self, x, h, c, lengths):
        """The outputs behind a sample's length are not those of ours, which repeats the state; they are not compared."""
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        y = {}
        for name, state in {"lstm": (h, c), "gru": h, "rnn": h}.items():
            layer = getattr(self, name)
            y[name], last = layer(x, state)
            padded, last_of_lengths = layer(packed, state)
            y[name + "_of_lengths"], _ = nn.utils.rnn.pad_packed_sequence(padded, batch_first=True)
            y[name + "_h"], y[name + "_h_of_lengths"] = (last[0], last_of_lengths[0]) if name == "lstm" else (last, last_of_lengths)
        y["lstm_c"], y["lstm_c_of_lengths"] = self.lstm(x, (h, c))[1][1], self.lstm(packed, (h, c))[1][1]
        y["relu_rnn"], y["relu_rnn_h"] = self.relu_rnn(x)
        return y

    def forward(self, x, h, c, key, value, memory, lengths):
        y = self.recurrent(x, h, c, lengths)
        time, keys = x.shape[1], memory.shape[1]
        causal = torch.full((time, time), float("-inf"), dtype=x.dtype).triu(1)
        padding = torch.arange(time)[None] >= lengths[:, None]
        y["attention"], y["attention_weights"] = self.attention(x, key, value, average_attn_weights=False)
        y["encoder_layer"] = self.encoder_layer(x, src_mask=causal)
        y["decoder_layer"] = self.decoder_layer(x, memory, tgt_mask=causal)
        y["encoder"] = self.encoder(x, src_key_padding_mask=padding)
        of_memory = torch.arange(keys)[None] >= (lengths - 1)[:, None]
        y["decoder"] = self.decoder(x, memory, tgt_mask=causal, memory_key_padding_mask=of_memory)
        y["head"] = self.head(x)
        return y


def main(folder=FOLDER, seed=2):
    torch.manual_seed(int(seed))
    stacks = Stacks().eval()
    for weight in stacks.parameters():
        nn.init.normal_(weight, std=0.5)
    shapes = {"x": (2, 4, 6), "h": (4, 2, 3), "c": (4, 2, 3), "key": (2, 3, 4), "value": (2, 3, 5), "memory": (2, 3, 6)}
    inputs = {"lengths": torch.tensor([2, 4]), **{name: torch.randn(shape) for name, shape in shapes.items()}}
    write(pathlib.Path(folder) / "stacks.safetensors", stacks.state_dict())
    example = {"input." + name: tensor for name, tensor in inputs.items()}
    example.update({"f32." + name: tensor for name, tensor in stacks(**inputs).items()})
    in_doubles = {name: tensor.double() if tensor.is_floating_point() else tensor for name, tensor in inputs.items()}
    example.update({"f64." + name: tensor for name, tensor in stacks.double()(**in_doubles).items()})
    write(pathlib.Path(folder) / "stacks_example.safetensors", example)


if __name__ == "__main__":
    main(*sys.argv[1:])
