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
CONDITION = ["the condition holds", "the condition does not hold"]
ASSIGNMENTS = {"+=": ["=", "-="], "-=": ["= -", "+="], "*=": ["=", "left out"], "/=": ["*=", "left out"]}
AROUND, INSIDE = 0, 1  # of two edits at one place, which is written first


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
            for pattern, rule in self.RULES:
                for match in pattern.finditer(self.code, start, end):
                    rule(self, match)

    def plant(self, place, kinds, edits):
        """Mutants at a place. edits(number of the first): what is written where, as (place, length, text, order)."""
        first = self.number
        self.number += len(kinds)  # also for those that do not compile, so that others keep their numbers
        if (self.name, place) in self.excluded:
            return
        line = self.source.count("\n", 0, place) + 1
        self.mutants += [Mutant(first + k, self.name, line, what) for k, what in enumerate(kinds)]
        self.edits += [(at, order, length, text, place) for at, length, text, order in edits(first)]

    def arithmetic(self, match):
        operator, place = match.group(), match.start()
        kinds = [f"{operator} becomes {OTHER_ARITHMETIC[operator]}",
                 f"the right side of {operator} is left out (one more, of a pointer)",
                 f"the left side of {operator} is left out (one less, of a pointer)"]
        self.plant(place, kinds, lambda first: [
            (place, 1, f"{operator} mutant::{ARITHMETIC[operator]}<{first}> {operator}", INSIDE)])

    def comparison(self, match):
        operator, place = match.group(), match.start()
        kinds = [f"{operator} becomes {other[operator]}" for other in (CONTRARY, OTHER) if operator in other]
        self.plant(place, kinds, lambda first: [
            (place, len(operator), f"{operator} mutant::{COMPARISONS[operator]}<{first}> {operator}", INSIDE)])

    def assignment(self, match):
        operator, place = match.group(), match.start()
        left = self.left_of_assignment(place)
        if left is not None:
            kinds = [f"{operator} becomes {kind}" for kind in ASSIGNMENTS[operator]]
            self.plant(place, kinds, lambda first: [
                (left, 0, f"mutant::to<{first}>(", INSIDE), (place - 1, 0, ")", INSIDE)])

    def sign(self, match):
        before = self.code[:match.start()].rstrip()
        if before[-1] in "(=?:,[{" or before.endswith("return"):
            self.plant(match.start(), ["the sign is left out"], lambda first: [
                (match.start(), 1, f"mutant::negation<{first}>->*", INSIDE)])

    def choice(self, match):
        self.plant(match.start(), CONDITION, lambda first: [
            (match.start(), 2, f" && !mutant::on({first + 1}) || mutant::on({first}) ?", INSIDE)])

    def condition(self, match):
        place = match.end()
        last = closing(self.code, place - 1)
        if ";" not in self.code[place:last]:
            self.plant(place, CONDITION, lambda first: [
                (place, 0, "((", AROUND), (last, 0, f") || mutant::on({first})) && !mutant::on({first + 1})", INSIDE)])

    def literal(self, match):
        self.plant(match.start(), ["one more"], lambda first: [
            (match.start(), len(match.group()), f"mutant::literal<{first}>({match.group()})", INSIDE)])

    def statement(self, match):
        place = match.start(1)
        last = self.end_of_statement(place)
        if last is not None and self.begins_statement(place):
            self.plant(place, ["the statement is left out"], lambda first: [
                (place, 0, f"{{ if (!mutant::on({first})) {{ ", AROUND), (last + 1, 0, " } }", AROUND)])

    RULES = [
        (re.compile(r"(?<= )[-+*/](?=[ \n])"), arithmetic),
        (re.compile(r"(?<= )(<=|>=|==|!=|<|>)(?=[ \n])"), comparison),
        (re.compile(r"(?<= )[-+*/]=(?=[ \n])"), assignment),
        (re.compile(r"(?<=[(=?:,\[{ ])-(?=[\w(])"), sign),
        (re.compile(r" \?(?=[ \n])"), choice),
        (re.compile(r"\bif \("), condition),
        (re.compile(r"(?<=[\w\[( ])(?<![\w.])\d+(\.\d+)?(?![\w.])"), literal),
        (re.compile(r"^ *(?!return|throw|using|case|default|else|delete)"
                    r"((?:[a-z_*][\w.>\-*:]*)(?:[\[(.]| [-+*/]?= )|(?:continue|break);)", re.M), statement),
    ]

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

    def end_of_statement(self, place):
        depth = 0
        for at in range(place, len(self.code)):
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
        for place, _, length, new, site in sorted(self.edits, key=lambda edit: edit[:2]):
            kept = self.source[last:place]
            text += kept + new + "\n"
            line += kept.count("\n")
            sites.setdefault(line, set()).add(site)
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
