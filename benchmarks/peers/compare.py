#!/usr/bin/env python3
"""Times the project beside PyTorch, oneDNN and LIBXSMM, and prints one table.

    python3 benchmarks/peers/compare.py --build build/benchmark --threads 1 --only 'lstm|mm_f32'

All programs run one after another in each round, because the speed of a machine drifts. A cell of a library is the median
over rounds of its time divided by the project's [the same of the best times]. The share is that of the limit measured in
the same rounds: of the peak of multiply-adds for cases with GFLOP/s, of the bandwidth to three arrays of that many
bytes for those with GB/s. What is not installed is named and left out.
"""
import argparse
import json
import math
import os
import platform
import re
import shlex
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
OUR_PROGRAMS = ["models_benchmark", "ops_benchmark", "gemm_benchmark", "tape_benchmark"]
OURS, LIMITS = "Retrace", "limits"


def parse_flags():
    flags = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--build", type=Path, default=Path("build/benchmark"), help="folder of the benchmark preset")
    flags.add_argument("--threads", type=int, default=1)
    flags.add_argument("--only", default="", metavar="REGEX", help="cases, by parts of their names")
    flags.add_argument("--rounds", type=int, default=5)
    flags.add_argument("--seconds", type=float, default=0.2, help="least time per case and round")
    flags.add_argument("--cpu-time", action="store_true",
                       help="compare processor time: one thread, on a machine that is used otherwise, too")
    flags.add_argument("--torch", default="python3", metavar="COMMAND", help="a Python that has PyTorch")
    flags.add_argument("--onednn", metavar="COMMAND", help="instead of onednn_cases of the build")
    flags.add_argument("--libxsmm", metavar="COMMAND", help="instead of libxsmm_cases of the build")
    flags.add_argument("--json", type=Path, metavar="FILE", help="write all numbers to a file")
    options = flags.parse_args()
    if options.cpu_time and options.threads > 1:
        flags.error("--cpu-time counts one thread")
    return options


def environment(threads, peer=False):
    """Of a program; a peer gets what makes it fast: wide kernels, large pages, and freed memory kept for reuse."""
    result = dict(os.environ, OMP_NUM_THREADS=str(threads))
    if threads > 1:
        result |= {"OMP_PROC_BIND": "true", "OMP_PLACES": "threads"}
    if peer:
        wide = "avx512f" in Path("/proc/cpuinfo").read_text()
        result |= {
            "ATEN_CPU_CAPABILITY": "avx512" if wide else "avx2",
            "OPENBLAS_CORETYPE": "SkylakeX" if wide else "Haswell",
            # The default build of OpenBLAS has threads of its own, which wait for those of OpenMP.
            "LD_LIBRARY_PATH": f"/usr/lib/{platform.machine()}-linux-gnu/openblas-openmp",
            "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
            "MALLOC_MMAP_THRESHOLD_": "4000000000",
            "MALLOC_TRIM_THRESHOLD_": "8000000000",
            "MALLOC_TOP_PAD_": "67108864",
        }
    return result


class Program:
    """A command that prints the JSON of Google Benchmark. The script of PyTorch goes to its standard input, so that
    the command may run in another root."""

    def __init__(self, label, command, options, peer=True, script=None):
        self.label, self.command, self.options, self.script = label, command, options, script
        self.environment = environment(options.threads, peer)

    def run(self, names):
        """The results of the cases that it has of these, by name (of PyTorch: NAME/VARIANT)."""
        pattern = f"^({'|'.join(names)})(/|$)"
        if self.script:
            arguments = ["-", "--filter", pattern, "--seconds", str(self.options.seconds)]
        else:
            arguments = [f"--benchmark_filter={pattern}", f"--benchmark_min_time={self.options.seconds}",
                         "--benchmark_format=json"]
        done = subprocess.run([*self.command, *arguments], env=self.environment, capture_output=True, text=True,
                              input=self.script)
        if done.returncode != 0:
            sys.exit(f"{shlex.join(self.command)} failed:\n{done.stderr[-2000:]}")
        # A Google Benchmark program without a case of these prints nothing.
        document = json.loads(done.stdout[done.stdout.index("{"):] if "{" in done.stdout else '{"benchmarks": []}')
        self.label = document.get("context", {}).get("library", self.label)
        return {re.sub("/(real|manual)_time$", "", r["name"]): self.result(r) for r in document["benchmarks"]
                if "error_message" not in r}

    def result(self, raw):
        """Milliseconds, and billions of operations or bytes."""
        scale = {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}[raw["time_unit"]]
        real = raw["real_time"] * scale
        return {"ms": raw["cpu_time"] * scale if self.options.cpu_time else real,
                "gflop": raw.get("GFLOPS", 0) * real * 1e-3, "gb": raw.get("GBs", 0) * real * 1e-3}


def our_programs(options):
    """Those with cases that are asked for, and the names of these."""
    programs = {}
    for name in OUR_PROGRAMS:
        path = options.build / "bin" / name
        if not path.exists():
            sys.exit(f"{path} is missing: cmake --preset benchmark && cmake --build --preset benchmark")
        listed = subprocess.run([path, "--benchmark_list_tests"], capture_output=True, text=True, check=True).stdout
        cases = [re.sub("/(real|manual)_time$", "", line) for line in listed.splitlines()]
        chosen = [case for case in cases if re.search(options.only, case)]
        if chosen:
            programs[Program(OURS, [str(path)], options, peer=False)] = chosen
    if not programs:
        sys.exit(f"no case has a name with '{options.only}'")
    return programs


def installed_peers(options):
    peers = []
    torch = shlex.split(options.torch)
    try:
        found = subprocess.run([*torch, "-c", "import torch"], capture_output=True).returncode == 0
    except FileNotFoundError:
        found = False
    if found:
        peers.append(Program("PyTorch", torch, options, script=(HERE / "torch_cases.py").read_text()))
    else:
        print(f"PyTorch is left out: '{options.torch}' has none (apt-get install python3-torch)", file=sys.stderr)
    for label, program, package in ("oneDNN", "onednn_cases", "libdnnl-dev"), ("LIBXSMM", "libxsmm_cases", "libxsmm-dev"):
        path = options.build / "bin" / program
        command = getattr(options, label.lower())
        if label == "LIBXSMM" and options.threads > 1:
            print("LIBXSMM is left out: its cases use one thread", file=sys.stderr)
        elif command or path.exists():
            peers.append(Program(label, shlex.split(command) if command else [str(path)], options))
        else:
            print(f"{label} is left out: {path} was not built (apt-get install {package}, and build again)",
                  file=sys.stderr)
    return peers


def keep_fast_variants(names, results):
    """Of PyTorch's ways to write a case, those that took less than 1.3 times the best one's time in the first round."""
    least = {}
    for name, result in results.items():
        case = name.split("/")[0]
        least[case] = min(least.get(case, math.inf), result["ms"])
    return [name for name, result in results.items() if result["ms"] < 1.3 * least[name.split("/")[0]]] or names


def measure(options):
    """Programs, and their results per round: {program: [{case: result}]}."""
    ours, peers = our_programs(options), installed_peers(options)
    limits = Program(LIMITS, [str(options.build / "bin" / "peak")], options)
    names = [name for cases in ours.values() for name in cases]
    chosen = {limits: [".*"]} | ours | {peer: names for peer in peers}
    rounds = {program: [] for program in chosen}
    for k in range(options.rounds):
        for program in chosen:
            print(f"round {k + 1} of {options.rounds}: {program.label}", file=sys.stderr)
            results = program.run(chosen[program])
            if k == 0 and program.script:
                chosen[program] = keep_fast_variants(names, results)
            rounds[program].append(results)
    return limits, ours, peers, rounds


def times(rounds, case):
    """Per round, milliseconds of the fastest variant and its name."""
    result = []
    for results in rounds:
        found = [(r["ms"], name) for name, r in results.items() if name == case or name.startswith(case + "/")]
        if found:
            result.append(min(found))
    return result


def limit_of(limits, case, result):
    """Median over rounds of what the machine can do per second, in the case's billions of operations or bytes."""
    def rate(name, quantity):
        return statistics.median(results[name][quantity] / results[name]["ms"] * 1e3 for results in limits)
    if result["gflop"]:
        return rate("peak_fma_f64" if "f64" in case else "peak_fma_f32", "gflop")
    sizes = [(abs(math.log(result["gb"] * 1e9 / 1024 / int(name.split("/")[1]))), name)
             for name in limits[0] if name.startswith("peak_bandwidth/")]
    return rate(min(sizes)[1], "gb")


def summary(limits, ours, peers, rounds):
    """A list of cases, as it is written to the file."""
    cases = []
    for program, names in ours.items():
        for name in names:
            own = [ms for ms, _ in times(rounds[program], name)]
            if not own:
                continue
            case = {"case": name, "ms": statistics.median(own), "best_ms": min(own), "peers": {}}
            first = rounds[program][0][name]
            if first["gflop"] or first["gb"]:
                speed = (first["gflop"] or first["gb"]) / case["ms"] * 1e3
                case |= {"gflops" if first["gflop"] else "gbs": speed,
                         "share": speed / limit_of(rounds[limits], name, first)}
            for peer in peers:
                theirs = times(rounds[peer], name)
                if theirs:
                    best, variant = min(theirs)
                    case["peers"][peer.label] = {
                        "ms": statistics.median(ms for ms, _ in theirs), "best_ms": best,
                        "variant": variant.partition("/")[2],
                        "ratio": statistics.median(ms / us for (ms, _), us in zip(theirs, own)),
                        "best_ratio": best / min(own)}
            cases.append(case)
    return cases


def print_table(cases, peers):
    def digits(value):
        return f"{value:#.3g}".rstrip(".") if value < 100 else f"{value:.0f}"

    def cell(peer):
        if peer is None:
            return ""
        variant = "" if peer["variant"] in ("", "eager") else f" ({peer['variant'].replace('_', ' ')})"
        return f"{digits(peer['ratio'])} [{digits(peer['best_ratio'])}]{variant}"

    labels = [peer.label for peer in peers]
    print("| " + " | ".join(["case", "ms", "GFLOP/s or GB/s", "share", *labels]) + " |")
    print("| --- " * (4 + len(labels)) + "|")
    for case in cases:
        speed = f"{case['gflops']:.0f}" if "gflops" in case else f"{case['gbs']:.0f} GB/s" if "gbs" in case else ""
        share = f"{100 * case['share']:.0f} %" if "share" in case else ""
        print("| " + " | ".join([case["case"], digits(case["ms"]), speed, share,
                                 *(cell(case["peers"].get(label)) for label in labels)]) + " |")


def main():
    options = parse_flags()
    limits, ours, peers, rounds = measure(options)
    cases = summary(limits, ours, peers, rounds)
    print_table(cases, peers)
    peaks = {name: {"gflops": statistics.median(r[name]["gflop"] / r[name]["ms"] * 1e3 for r in rounds[limits]),
                    "gbs": statistics.median(r[name]["gb"] / r[name]["ms"] * 1e3 for r in rounds[limits])}
             for name in rounds[limits][0]}
    print(f"\nThe peak is {peaks['peak_fma_f32']['gflops']:.0f} GFLOP/s in f32 with {options.threads} thread(s).")
    if options.json:
        options.json.write_text(json.dumps({"threads": options.threads, "limits": peaks, "cases": cases}, indent=1))


if __name__ == "__main__":
    main()
