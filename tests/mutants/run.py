#!/usr/bin/env python3
"""Do the checks find a bug in the code of gradients, updates and schedules? Generates thousands of bugs (mutate.py) in one
build, plants one at a time, and runs the gradient checks and tests that reach it until one fails.

  tests/mutants/run.py --sample 300     a sample, in minutes after the build
  tests/mutants/run.py                  all, in some hours; goes on where it was stopped

Prints the share that was found and every survivor; build/mutants/survivors.txt keeps them."""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutate import mutate, mutated_files

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build/mutants"
TREE, BUILD = WORK / "tree", WORK / "build"
TESTED = ("tests/ops/", "tests/nn/", "tests/golden_test/", "tests/trust/", "tests/registration", "tests/results")
# Tests of the checks, and of files.
UNFIT = re.compile(r"Damaged|AllFloats|PublicSurface|Pytorch|File|Readers")


def copy_tree():
    """A copy of the files that git knows, with the tests that can tell of a gradient."""
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    mutated = {str(path.relative_to(ROOT)) for path in mutated_files(ROOT)}
    for name in filter(None, files):
        if name in mutated:
            continue
        if re.match(r"tests/.*/.*_test\.cpp", name) and not name.startswith(TESTED):
            (TREE / name).unlink(missing_ok=True)
            continue
        target, contents = TREE / name, (ROOT / name).read_bytes()
        # A switch between a product and a sum keeps them from being fused in one place and not in another, and tests that
        # compare the bits of two paths would fail.
        contents = contents.replace(b"-ffp-contract=fast", b"-ffp-contract=off")
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_bytes() != contents:
            target.write_bytes(contents)
            target.chmod((ROOT / name).stat().st_mode)


def build():
    """Builds all mutants that compile; returns these."""
    kept = WORK / "excluded.json"
    excluded = set(map(tuple, json.loads(kept.read_text()))) if kept.exists() else set()
    copy_tree()
    subprocess.run(["cmake", "-S", TREE, "-B", BUILD, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=",
                    "-DCMAKE_CXX_FLAGS=-O1 -w", "-DRETRACE_TESTS=ON", "-DRETRACE_ZOO=OFF", "-DRETRACE_BENCHMARKS=OFF"],
                   check=True, stdout=subprocess.DEVNULL)
    while True:
        mutants, sites = mutate(ROOT, TREE, excluded)
        run = subprocess.run(["cmake", "--build", BUILD, "--target", "retrace", "retrace_test", "golden_test", "--", "-k", "0"],
                             capture_output=True, text=True)
        if run.returncode == 0:
            return mutants
        before = len(excluded)
        excluded |= named_by_compiler(run.stdout, sites)
        print(f"{len(excluded)} places do not compile", file=sys.stderr)
        kept.write_text(json.dumps(sorted(excluded)))
        if len(excluded) == before:
            sys.exit(run.stdout[-4000:])


def named_by_compiler(output, sites):
    """The places of mutants on lines that a message of the compiler names, the first of each error."""
    places, above = set(), set()
    for match in re.finditer(rf"^(?:.*?){re.escape(str(TREE))}/([\w/.]+):(\d+):\d+:(.*)$|^.*mutant\.h:\d+:\d+:(.*)$", output, re.M):
        name, line, rest = match.group(1), match.group(2), match.group(3) or match.group(4) or ""
        here = {(name, place) for place in sites.get(name, {}).get(int(line), ())} if name else set()
        if "required from" in rest and here and not above:
            above = here  # the innermost place that a message of mutant.h was instantiated from
        if " error:" in rest:
            places |= here or above
            above = set()
    return places


def command_of(checker):
    kind, name = checker.split(" ", 1)
    if kind == "gradcheck":
        return [BUILD / "bin/retrace", "gradcheck", name]
    return [BUILD / "bin" / kind, "--gtest_brief=1", f"--gtest_filter={name}.*"]


def run_checker(checker, seconds, **environment):
    """Whether a checker passed, and how long it took."""
    began = time.monotonic()
    try:
        status = subprocess.run(list(map(str, command_of(checker))), timeout=seconds, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, cwd=WORK,
                                env=os.environ | {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "PASSIVE"} | environment).returncode
    except subprocess.TimeoutExpired:
        status = 1
    return status == 0, time.monotonic() - began


def checkers():
    names = subprocess.run([BUILD / "bin/retrace", "gradcheck", "--list"], capture_output=True, text=True, check=True).stdout
    for line in names.splitlines():
        if re.match(r"\s*[a-z]\w*", line):
            yield f"gradcheck {line.split()[0]}"
    for program in ("retrace_test", "golden_test"):
        suites = subprocess.run([BUILD / "bin" / program, "--gtest_list_tests"], capture_output=True, text=True).stdout
        for suite in re.findall(r"^([\w/]+)\.", suites, re.M):
            if not UNFIT.search(suite):
                yield f"{program} {suite}"


def kept_since_build(file):
    """What an earlier run with the same build wrote to a file; empty if there is none."""
    is_kept = file.exists() and file.stat().st_mtime > (BUILD / "bin/retrace_test").stat().st_mtime
    return json.loads(file.read_text()) if is_kept else {}


def reach():
    """For each checker that passes by itself, its time and the mutants that it reaches."""
    kept = WORK / "reached.json"
    if result := kept_since_build(kept):
        return result

    def measured(checker):
        file = WORK / f"reached.{abs(hash(checker))}"
        file.unlink(missing_ok=True)
        passed, seconds = run_checker(checker, 300, RETRACE_REACHED=str(file))
        numbers = sorted(set(map(int, file.read_text().split()))) if file.exists() else []
        file.unlink(missing_ok=True)
        if not passed:
            print(f"{checker} fails without a mutant, and is left out", file=sys.stderr)
        return checker, seconds, numbers if passed else []

    with ThreadPoolExecutor(2) as pool:
        result = {checker: [seconds, numbers] for checker, seconds, numbers in pool.map(measured, list(checkers()))}
    kept.write_text(json.dumps(result))
    return result


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sample", type=int, help="number of mutants, drawn at random")
    options.add_argument("--seed", type=int, default=1, help="seed of the sample")
    options.add_argument("--file", help="only mutants of files whose name contains this")
    options = options.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    mutants = build()
    reaching = reach()
    by_mutant = {}
    for checker, (seconds, numbers) in reaching.items():
        for number in numbers:
            by_mutant.setdefault(number, []).append((seconds, checker))
    chosen = [mutant for mutant in mutants if not options.file or options.file in mutant.file]
    if options.sample and options.sample < len(chosen):
        chosen = random.Random(options.seed).sample(chosen, options.sample)

    done = WORK / "done.json"
    results = kept_since_build(done)

    def found(mutant):
        key = str(mutant.number)
        if key not in results:
            results[key] = ""
            for seconds, checker in sorted(by_mutant.get(mutant.number, [])):
                if not run_checker(checker, 10 * seconds + 10, RETRACE_MUTANT=key)[0]:
                    results[key] = checker
                    break
            if len(results) % 50 == 0:
                done.write_text(json.dumps(dict(results)))
        return results[key]

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(found, chosen))
    done.write_text(json.dumps(results))
    survivors = [mutant for mutant, checker in zip(chosen, outcomes) if not checker]
    lines = [f"{mutant.file}:{mutant.line}: {mutant.what}" + ("" if mutant.number in by_mutant else " (not reached)")
             for mutant in survivors]
    (WORK / "survivors.txt").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    by_gradcheck = sum(checker.startswith("gradcheck") for checker in outcomes)
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutants were found "
          f"({100 * (1 - len(survivors) / max(1, len(chosen))):.1f} %), {by_gradcheck} of them by the gradient checks; "
          f"{len(mutants)} compile")


if __name__ == "__main__":
    main()
