"""Puts mutants into a copy of the sources: each operator, comparison, sign, condition, literal and statement of the code
that computes gradients, parameter updates and schedules, behind a switch (mutant.h)."""

import re
from dataclasses import dataclass
from pathlib import Path

FILES = ["ops/**/*.cpp", "ops/**/*.h", "nn/optim/*.cpp", "nn/optim/*.h"]
GRADIENT_NAMES = re.compile(r"backward|slope|gradient|context|ties|split_of|kink|mix_rows|adam|^d[abtxy]$|^give|^put", re.I)
GRADIENT_PARAMETERS = re.compile(r"Gradient|Backward|Adam")
NOT_OF_OPTIMIZERS = re.compile(r"check|name|rule|candidate|begin|text|describe|refuse", re.I)

ARITHMETIC = {"+": "sum", "-": "difference", "*": "product", "/": "quotient"}
OTHER_ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*"}
COMPARISONS = {"<": "less", ">": "greater", "<=": "less_equal", ">=": "greater_equal", "==": "equal", "!=": "not_equal"}
CONTRARY = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "==": "!=", "!=": "=="}
OTHER = {"<": "<=", ">": ">=", "<=": "<", ">=": ">"}
ASSIGNMENTS = {"+=": ["=", "-="], "-=": ["= -", "+="], "*=": ["=", "left out"], "/=": ["*=", "left out"]}


@dataclass
class Mutant:
    number: int
    file: str
    line: int
    what: str


def without_text(source):
    """The source with blanks for comments, strings, characters and lines of the preprocessor."""
    texts = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^[ ]*#(?:[^\n]*\\\n)*[^\n]*'
    return re.sub(texts, lambda match: re.sub(r"[^\n]", " ", match.group()), source, flags=re.S | re.M)


def closing(code, start):
    """The place of the bracket that closes the one at start, or -1."""
    depth = 0
    for place in range(start, len(code)):
        depth += (code[place] in "({[") - (code[place] in ")}]")
        if depth == 0:
            return place
    return -1


def opening(code, end):
    """The place of the bracket that the one at end closes."""
    depth = 0
    for place in range(end, -1, -1):
        depth += (code[place] in ")}]") - (code[place] in "({[")
        if depth == 0:
            return place
    return 0


def bodies(code, file):
    """The bodies (start, end) of functions that compute gradients or updates."""
    end_of_last = -1
    for match in re.finditer(r"([A-Za-z_]\w*)\(", code):
        name, start = match.group(1), match.end() - 1
        if start < end_of_last or name in ("if", "for", "while", "switch", "return", "sizeof", "catch", "decltype"):
            continue
        end = closing(code, start)
        head = re.match(r"\)(\s*(const|noexcept|override))*\s*\{", code[end:]) if end > 0 else None
        if head is None:
            continue
        if file.startswith("nn/optim"):
            chosen = not NOT_OF_OPTIMIZERS.search(name)
        else:
            chosen = GRADIENT_NAMES.search(name) or GRADIENT_PARAMETERS.search(code[start:end])
        if not chosen or "formula" in name or "attribute" in name:
            continue
        body = end + head.end() - 1
        end_of_last = closing(code, body)
        yield body + 1, end_of_last


class File:
    """The mutants of one file, found in its code and written into its source."""

    def __init__(self, path, name, first_number, excluded):
        self.source, self.name, self.number, self.excluded = path.read_text(), name, first_number, excluded
        self.code = without_text(self.source)
        self.mutants, self.edits = [], []
        for start, end in bodies(self.code, name):
            self.mutate(start, end)

    def take(self, place, kinds):
        """Numbers for mutants at a place, or None if they do not compile. (Others keep their numbers.)"""
        first = self.number
        self.number += len(kinds)
        if (self.name, place) in self.excluded:
            return None
        line = self.source.count("\n", 0, place) + 1
        self.mutants += [Mutant(first + k, self.name, line, what) for k, what in enumerate(kinds)]
        return first

    def edit(self, place, length, text, site):
        self.edits.append((place, length, text, site))

    def mutate(self, start, end):
        code = self.code
        for match in re.compile(r"(?<= )([-+*/])(?=[ \n])").finditer(code, start, end):
            operator, place = match.group(1), match.start()
            if (first := self.take(place, [f"{operator} becomes {OTHER_ARITHMETIC[operator]}",
                                           f"the right side of {operator} is left out (one more, of a pointer)",
                                           f"the left side of {operator} is left out (one less, of a pointer)"])) is not None:
                self.edit(place, 1, f"{operator} mutant::{ARITHMETIC[operator]}<{first}> {operator}", place)
        for match in re.compile(r"(?<= )(<=|>=|==|!=|<|>)(?=[ \n])").finditer(code, start, end):
            operator, place = match.group(1), match.start()
            kinds = [f"{operator} becomes {CONTRARY[operator]}"]
            if operator in OTHER:
                kinds.append(f"{operator} becomes {OTHER[operator]}")
            if (first := self.take(place, kinds)) is not None:
                self.edit(place, len(operator), f"{operator} mutant::{COMPARISONS[operator]}<{first}> {operator}", place)
        for match in re.compile(r"(?<= )([-+*/]=)(?=[ \n])").finditer(code, start, end):
            place = match.start()
            left = self.left_of_assignment(place)
            if left is None:
                continue
            kinds = [f"{match.group(1)} becomes {kind}" for kind in ASSIGNMENTS[match.group(1)]]
            if (first := self.take(place, kinds)) is not None:
                self.edit(left, 0, f"mutant::to<{first}>(", place)
                self.edit(place - 1, 0, ")", place)
        for match in re.compile(r"(?<=[(=?:,\[{ ])-(?=[\w(])").finditer(code, start, end):
            place = match.start()
            before = code[:place].rstrip()
            if not (before[-1] in "(=?:,[{" or before.endswith("return")):
                continue
            if (first := self.take(place, ["the sign is left out"])) is not None:
                self.edit(place, 1, f"mutant::negation<{first}>->*", place)
        for match in re.compile(r" \?(?=[ \n])").finditer(code, start, end):
            place = match.start()
            if (first := self.take(place, ["the condition holds", "the condition does not hold"])) is not None:
                self.edit(place, 2, f" && !mutant::on({first + 1}) || mutant::on({first}) ?", place)
        for match in re.compile(r"\bif \(").finditer(code, start, end):
            place = match.end()
            last = closing(code, place - 1)
            if ";" in code[place:last]:
                continue
            if (first := self.take(place, ["the condition holds", "the condition does not hold"])) is not None:
                self.edit(place, 0, "((", -place)
                self.edit(last, 0, f") || mutant::on({first})) && !mutant::on({first + 1})", place)
        for match in re.compile(r"(?<=[\w\[( ])(?<![\w.])\d+(\.\d+)?(?![\w.])").finditer(code, start, end):
            place = match.start()
            if (first := self.take(place, ["one more"])) is not None:
                self.edit(place, len(match.group()), f"mutant::literal<{first}>({match.group()})", place)
        statement = r"^ *(?!return|throw|using|case|default|else|delete)((?:[a-z_*][\w.>\-*:]*)(?:[\[(.]| [-+*/]?= )|(?:continue|break);)"
        for match in re.compile(statement, re.M).finditer(code, start, end):
            place = match.start(1)
            last = self.end_of_statement(place, end)
            if last is None or not self.begins_statement(place):
                continue
            if (first := self.take(place, ["the statement is left out"])) is not None:
                self.edit(place, 0, f"{{ if (!mutant::on({first})) {{ ", -place)
                self.edit(last + 1, 0, " } }", -place)

    def left_of_assignment(self, place):
        """Where the left side of an assignment begins: names, members and brackets."""
        code, left = self.code, place - 1
        while left > 0 and (code[left - 1] in "])" or re.match(r"[\w.>]|-(?=>)", code[left - 1:left + 1])):
            left = opening(code, left - 1) if code[left - 1] in "])" else left - 1
        while code[left - 1] == "*":
            left -= 1
        return left if left < place - 1 else None

    def begins_statement(self, place):
        before = self.code[:place].rstrip()
        return before[-1] in ";{})" or before.endswith("else")

    def end_of_statement(self, place, end):
        depth = 0
        for at in range(place, end):
            depth += (self.code[at] in "({[") - (self.code[at] in ")}]")
            if depth < 0:
                return None
            if depth == 0 and self.code[at] == ";":
                return at
        return None

    def written(self, header):
        """The source with all mutants, each on a line of its own, and the places of the mutants by these lines."""
        text, sites = f'#include "{header}"\n', {}
        line, last = 2, 0
        for place, length, new, site in sorted(self.edits, key=lambda edit: (edit[0], edit[3])):
            kept = self.source[last:place]
            text += kept + new + "\n"
            line += kept.count("\n")
            sites.setdefault(line, set()).add(abs(site))
            line += 1
            last = place + length
        return text + self.source[last:], sites


def mutated_files(root):
    return sorted({path for pattern in FILES for path in root.glob(pattern)})


def mutate(root, into, excluded):
    """Writes all files with mutants; returns the mutants, and their places by the files and lines that a compiler names."""
    mutants, sites, number = [], {}, 0
    for path in mutated_files(root):
        name = str(path.relative_to(root))
        file = File(path, name, number, excluded)
        mutants, number = mutants + file.mutants, file.number
        text, sites[name] = file.written(Path(__file__).with_name("mutant.h"))
        target = into / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text() != text:
            target.write_text(text)
    return mutants, sites
