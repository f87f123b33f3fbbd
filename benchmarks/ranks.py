#!/usr/bin/env python3
"""The efficiency to be expected of training on many ranks (models/mpi/README.md), from constants of one machine: prints
a table and draws it.

    python3 benchmarks/ranks.py --svg models/mpi/efficiency.svg
"""
import argparse
import math
from pathlib import Path

# Seconds of one core for a step in 8 shards and for the update in it, and bytes of the gradients.
MODELS = {
    "RMC of the paper, batch 1,600": (0.206, 0.0001, 495_648),
    "LSTM of 512, batch 128": (0.045, 0.0005, 4_386_856),
    "Transformer of 512, batch 128": (0.256, 0.0049, 25_301_032),
}
NETWORKS = {"10 Gb/s, 50 µs": (50e-6, 1.25e9), "100 Gb/s, 2 µs": (2e-6, 12.5e9)}  # seconds, bytes a second
RANKS = [2 ** k for k in range(1, 11)]
COLOURS = ["#1f6fb4", "#d1495b", "#2e8b57"]
DASHES = ["4 3", "none"]
LEFT, RIGHT, TOP, BOTTOM, WIDTH, HEIGHT = 50, 440, 34, 320, 700, 360


def efficiency(model, network, ranks):
    """The part of N-fold speed that is left; every rank updates all weights."""
    step, update, size = model
    latency, bandwidth = network
    messages = 2 * math.log2(ranks) * latency + 2 * (ranks - 1) / ranks * size / bandwidth
    return step / ranks / ((step - update) / ranks + update + messages)


def lines_of():
    """(name, model's number, network's number, efficiency of each number of ranks)"""
    for m, (model, constants) in enumerate(MODELS.items()):
        for n, (network, speeds) in enumerate(NETWORKS.items()):
            yield f"{model}, {network}", m, n, [efficiency(constants, speeds, ranks) for ranks in RANKS]


def table():
    rows = ["| ranks | " + " | ".join(map(str, RANKS)) + " |", "| --- |" + " --- |" * len(RANKS)]
    rows += [f"| {name} | " + " | ".join(f"{100 * each:.0f}" for each in values) + " |" for name, _, _, values in lines_of()]
    return "\n".join(rows)


def label(x, y, words, anchor="middle", style=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {style}>{words}</text>'


def drawing():
    x = [LEFT + k * (RIGHT - LEFT) / (len(RANKS) - 1) for k in range(len(RANKS))]
    height = BOTTOM - TOP
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
             f'height="{HEIGHT}" font-family="sans-serif" font-size="11">',
             '<rect width="100%" height="100%" fill="white"/>',
             label(LEFT, 20, "part of N-fold speed that is left on N ranks, in % (a prediction)", "start",
                   'font-size="13" font-weight="bold"'),
             label((LEFT + RIGHT) / 2, HEIGHT - 8, "ranks")]
    for percent in range(0, 101, 25):
        y = BOTTOM - height * percent / 100
        lines += [f'<path d="M{LEFT} {y:.1f}H{RIGHT}" stroke="#e4e4e4"/>', label(LEFT - 6, y + 4, percent, "end")]
    lines += [label(at, BOTTOM + 16, ranks) for at, ranks in zip(x, RANKS)]
    for k, (name, model, network, values) in enumerate(lines_of()):
        stroke = f'stroke="{COLOURS[model]}" stroke-width="1.8" stroke-dasharray="{DASHES[network]}"'
        places = " ".join(f"{at:.1f},{BOTTOM - height * value:.1f}" for at, value in zip(x, values))
        at = TOP + 14 + 18 * k
        lines += [f'<polyline points="{places}" fill="none" {stroke}/>', f'<path d="M{RIGHT + 12} {at - 4}h22" {stroke}/>',
                  label(RIGHT + 40, at, name, "start", 'font-size="10"')]
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--svg", type=Path, metavar="FILE", help="draw the efficiency")
    options = flags.parse_args()
    print(table())
    if options.svg:
        options.svg.write_text(drawing())
