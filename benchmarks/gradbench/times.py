#!/usr/bin/env python3
"""times.py TOOL...: the times of tools that speak GradBench's protocol, side by side, on inputs of its evals.

Each tool is a command. The answers of all tools must agree to 1e-6; of several runs, the fastest counts.
"""
import json
import random
import subprocess
import sys

number = random.Random(1).random


def vector(n):
    return [number() for _ in range(n)]


def matrix(rows, columns):
    return [vector(columns) for _ in range(rows)]


def gmm(d, k, n=1000):
    return {"d": d, "k": k, "n": n, "m": 0, "gamma": 1.0, "x": matrix(n, d), "alpha": vector(k), "mu": matrix(k, d),
            "q": matrix(k, d), "l": matrix(k, d * (d - 1) // 2)}


def lstm(layers, letters, bits=14):
    return {"main_params": matrix(2 * layers, 4 * bits), "extra_params": matrix(3, bits),
            "state": matrix(2 * layers, bits), "sequence": matrix(letters, bits)}


CASES = [
    ("lse", "gradient", "n = 2500", lambda: {"x": vector(2500)}),
    ("lse", "gradient", "n = 640000", lambda: {"x": vector(640000)}),
    ("llsq", "gradient", "n = 64, m = 128", lambda: {"x": vector(128), "n": 64}),
    ("llsq", "gradient", "n = 4096, m = 128", lambda: {"x": vector(128), "n": 4096}),
    ("ode", "gradient", "n = 1000, s = 10", lambda: {"x": vector(1000), "s": 10}),
    ("ode", "gradient", "n = 10000, s = 100", lambda: {"x": vector(10000), "s": 100}),
    ("lstm", "jacobian", "2 layers, 1024 letters", lambda: lstm(2, 1024)),
    ("lstm", "jacobian", "4 layers, 4096 letters", lambda: lstm(4, 4096)),
    ("gmm", "jacobian", "d = 2, k = 5", lambda: gmm(2, 5)),
    ("gmm", "jacobian", "d = 10, k = 25", lambda: gmm(10, 25)),
    ("gmm", "jacobian", "d = 32, k = 50", lambda: gmm(32, 50)),
]


def evaluate(tool, module, function, value):
    """The answer, and the shortest of the times, in milliseconds."""
    message = json.dumps({"id": 0, "kind": "evaluate", "module": module, "function": function,
                          "input": value | {"min_runs": 3, "min_seconds": 0.5}})
    run = subprocess.run(tool, shell=True, input=message + "\n", text=True, stdout=subprocess.PIPE, check=True)
    response = json.loads(run.stdout)
    if not response["success"]:
        return None, None
    times = [timing["nanoseconds"] for timing in response["timings"] if timing["name"] == "evaluate"]
    return response["output"], min(times) * 1e-6


def numbers(answer):
    if isinstance(answer, dict):
        return [x for key in ("alpha", "mu", "q", "l") for x in numbers(answer[key])]
    return [x for part in answer for x in numbers(part)] if isinstance(answer, list) else [answer]


def main():
    tools = sys.argv[1:]
    print("| eval | input |", " | ".join(tools), "|")
    print("| --- | --- |" + " --- |" * len(tools))
    for module, function, title, make in CASES:
        value = make()
        results = [evaluate(tool, module, function, value) for tool in tools]
        answers = [numbers(answer) for answer, _ in results if answer is not None]
        for answer in answers:
            worst = max(abs(a - b) / max(1, abs(a)) for a, b in zip(answers[0], answer, strict=True))
            assert worst < 1e-6, f"{module}: the answers differ by {worst}"
        print(f"| {module} | {title} |", " | ".join("" if time is None else f"{time:.3g}" for _, time in results), "|",
              flush=True)


if __name__ == "__main__":
    main()
