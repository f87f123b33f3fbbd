#!/usr/bin/env python3
"""How time and memory of a training step grow: runs each case of scaling_benchmark alone, prints a table with the
exponents of time ~ size^exponent and memory ~ size^exponent between sizes, and draws both.

    python3 benchmarks/growth.py --build build/benchmark --svg benchmarks/growth.svg
"""
import argparse
import json
import math
import os
import subprocess
from pathlib import Path

FAMILIES = {
    "lstm_batch": "batch of an LSTM (64, 20 steps)",
    "lstm_length": "time steps of an LSTM (64, batch 32)",
    "lstm_hidden": "width of an LSTM (20 steps, batch 32)",
    "attention_length": "length of attention (batch 4, 64 features)",
    "memory_core_batch": "batch of a memory core (8 slots of 64, 8 steps)",
    "memory_core_slots": "slots of a memory core (of 64, batch 32)",
    "memory_core_slot_size": "width of 8 slots (batch 32)",
}
COLOURS = ["#1f6fb4", "#d1495b", "#2e8b57", "#8e5ea2", "#c77b0a", "#3aa6a6", "#7a7a7a"]
WIDTH, HEIGHT, LEFT, TOP, BOTTOM, LEGEND = 460, 380, 58, 34, 44, 300


def measure(program, seconds, rounds):
    """{family: [(size, milliseconds, megabytes)]}; the least time of the rounds."""
    names = subprocess.run([program, "--benchmark_list_tests"], capture_output=True, text=True, check=True).stdout
    families = {family: [] for family in FAMILIES}
    for name in names.splitlines():
        family, _, size = name.removesuffix("/real_time").partition(":")
        if family not in families:
            continue
        command = [program, f"--benchmark_filter=^{name}$", f"--benchmark_min_time={seconds}",
                   "--benchmark_format=json"]
        runs = []
        for _ in range(rounds):
            done = subprocess.run(command, env=dict(os.environ, OMP_NUM_THREADS="1"), capture_output=True, text=True,
                                  check=True)
            runs.append(json.loads(done.stdout)["benchmarks"][0])
        families[family].append((int(size), min(run["real_time"] for run in runs), runs[0]["growth_MB"]))
    return families


def exponents(points, what):
    return [math.log(b[what] / a[what]) / math.log(b[0] / a[0]) for a, b in zip(points, points[1:])]


def print_table(families):
    def listed(values, form="{:#.2g}"):
        return ", ".join(form.format(v) if v < 10 else f"{v:.0f}" for v in values)

    print("| what grows | sizes | milliseconds | exponents | MB | exponents |")
    print("| --- " * 6 + "|")
    for family, points in families.items():
        sizes, milliseconds, megabytes = zip(*points)
        print(f"| {FAMILIES[family]} | {', '.join(map(str, sizes))} | {listed(milliseconds)} | "
              f"{listed(exponents(points, 1), '{:.1f}')} | {listed(megabytes)} | "
              f"{listed(exponents(points, 2), '{:.1f}')} |")


class Axis:
    """Logarithmic, from `low` to `high`, over pixels."""

    def __init__(self, values, first, last):
        self.low, self.high = math.log10(min(values)), math.log10(max(values))
        self.first, self.last = first, last

    def pixel(self, value):
        return self.first + (math.log10(value) - self.low) / (self.high - self.low) * (self.last - self.first)

    def ticks(self):
        return [10.0 ** power for power in range(math.ceil(self.low), math.floor(self.high) + 1)]


def label(x, y, words, anchor="middle", style=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {style}>{words}</text>'


def plot(families, what, title, left):
    """One plot with logarithmic axes, whose lines have the exponents as slopes."""
    every = [point for points in families.values() for point in points]
    x = Axis([p[0] for p in every], left + LEFT, left + WIDTH - 14)
    y = Axis([p[what] for p in every], HEIGHT - BOTTOM, TOP)
    lines = [label(left + LEFT, 20, title, "start", 'font-size="13" font-weight="bold"'),
             label((x.first + x.last) / 2, HEIGHT - 8, "size")]
    for tick in y.ticks():
        lines.append(f'<path d="M{x.first} {y.pixel(tick):.1f}H{x.last}" stroke="#e4e4e4"/>')
        lines.append(label(x.first - 6, y.pixel(tick) + 4, f"{tick:g}", "end"))
    for tick in x.ticks():
        lines.append(label(x.pixel(tick), y.first + 16, f"{tick:g}"))
    lines.append(f'<path d="M{x.first} {y.last}V{y.first}H{x.last}" stroke="#555" fill="none"/>')
    for points, colour in zip(families.values(), COLOURS):
        places = [(x.pixel(p[0]), y.pixel(p[what])) for p in points]
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
        lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
        lines += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.5" fill="{colour}"/>' for a, b in places]
    return lines


def drawing(families):
    width = 2 * WIDTH + LEGEND
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" width="{width}" '
             f'height="{HEIGHT}" font-family="sans-serif" font-size="11">',
             '<rect width="100%" height="100%" fill="white"/>',
             *plot(families, 1, "milliseconds per training step", 0),
             *plot(families, 2, "growth of memory in MB", WIDTH)]
    for k, (family, colour) in enumerate(zip(families, COLOURS)):
        at = TOP + 14 + 18 * k
        lines.append(f'<path d="M{2 * WIDTH} {at - 4}h16" stroke="{colour}" stroke-width="4"/>')
        lines.append(label(2 * WIDTH + 22, at, FAMILIES[family], "start"))
    return "\n".join([*lines, "</svg>", ""])


def main():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--build", type=Path, default=Path("build/benchmark"), help="folder of the benchmark preset")
    flags.add_argument("--seconds", type=float, default=0.2, help="least time per case and round")
    flags.add_argument("--rounds", type=int, default=3)
    flags.add_argument("--svg", type=Path, metavar="FILE", help="draw the growth of time and memory")
    options = flags.parse_args()
    families = measure(str(options.build / "bin" / "scaling_benchmark"), options.seconds, options.rounds)
    print_table(families)
    if options.svg:
        options.svg.write_text(drawing(families))


if __name__ == "__main__":
    main()
