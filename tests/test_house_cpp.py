"""The size and complexity of the core's C++ functions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

CPP = Path(__file__).resolve().parent.parent / "src" / "cpp"
FILES = sorted(path for path in CPP.rglob("*") if path.suffix in {".cc", ".h"})

MOST_LINES, MOST_PARAMETERS, MOST_COMPLEX = 80, 6, 25

_NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'|^#(?:[^\n]*\\\n)*[^\n]*',
    re.DOTALL | re.MULTILINE,
)
_NO_FUNCTION = re.compile(r"\b(?:if|for|while|switch|catch|return|else|do|struct|class|enum|union|namespace)\b")
_BRANCH = re.compile(r"\b(?:if|for|while|switch|catch)\b|\?|&&|\|\||[{}]|\belse\s+if\b")


class Function(NamedTuple):
    """A function with its body, without comments and texts."""

    name: str
    lines: int
    parameters: int
    body: str


def code(text: str) -> str:
    """The text of a file, in which comments, texts and directives are blanks; its lines stay where they are."""
    return _NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def functions(text: str) -> list[Function]:
    """Return the functions that a file defines, including methods and without lambdas."""
    text, found, start, at = code(text), [], 0, 0
    while (brace := re.compile(r"[{};]").search(text, at)) is not None:
        at = brace.end()
        if brace.group() == "{":
            head = text[start : brace.start()]
            end = _end(text, at)
            if (name := _name(head)) is not None:
                while text[end:].lstrip().startswith((",", "{")):  # another member in braces, and then the body
                    at = text.index("{", end) + 1
                    end = _end(text, at)
                first = start + len(head) - len(head.lstrip())
                found.append(Function(name, text.count("\n", first, end) + 1, _count(head), text[at : end - 1]))
                at = end
            elif not re.search(r"\b(?:namespace|class|struct|extern)\b", head) or "=" in head:
                at = end  # a list of values, or of words
                continue
        start = at
    return found


def _end(text: str, at: int) -> int:
    """Behind the brace that closes the one before `at`."""
    depth = 1
    while depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return at


def _name(head: str) -> str | None:
    """The name of the function that a head begins, if it is the head of one."""
    head = re.sub(r"\btemplate\s*<(?:[^<>]|<[^<>]*>)*>", "", head)
    head = re.sub(r"^(?:\s*(?:public|private|protected):)+", "", head)
    called = re.search(r"([\w:~]+|operator\S+?)\s*\(", head)
    if called is None or called.group(1).isupper() or _NO_FUNCTION.search(head) or "=" in head[: called.start()]:
        return None
    return called.group(1)


def _count(head: str) -> int:
    """How many parameters a head has."""
    head = re.sub(r"\btemplate\s*<(?:[^<>]|<[^<>]*>)*>|\boperator\s*\(\)", "", head)
    at = head.index("(") + 1
    depth, end = 1, at
    while depth and end < len(head):
        depth += {"(": 1, ")": -1}.get(head[end], 0)
        end += 1
    inner, outer = head[at : end - 1], None
    while inner != outer:  # what is in brackets has commas of its own
        inner, outer = re.sub(r"\([^()]*\)|<[^<>]*>|\{[^{}]*\}", "", inner), inner
    return inner.count(",") + 1 if inner.strip() else 0


def cognitive_complexity(body: str) -> int:
    """Return the complexity of a body: each branch counts one plus its nesting depth."""
    total, depths, last = 0, [0], None
    for found in _BRANCH.finditer(body):
        word = found.group()
        before, last = last, (word, found.end())
        if word == "{":
            depths.append(depths[-1] + _nests(body, found.start()))
        elif word == "}":
            depths.pop()
        elif word in ("&&", "||"):
            goes_on = before is not None and before[0] == word and ";" not in body[before[1] : found.start()]
            total += not goes_on  # a row of the same
        elif word.startswith("else"):
            total += 1
        else:
            total += 1 + depths[-1]
    return total


def _nests(body: str, at: int) -> int:
    """Whether a brace opens a block of a branch or of a lambda, and not a value."""
    before = body[:at].rstrip()
    return int(
        before.endswith((")", "else", "do", "const", "mutable")) or bool(re.search(r"\]$|->\s*[\w:<>]+$", before))
    )


ALL = [(path.relative_to(CPP).as_posix(), one) for path in FILES for one in functions(path.read_text(encoding="utf-8"))]


def test_functions_of_the_core_are_found():
    assert len(ALL) > 1000
    names = {one.name for _, one in ALL}
    assert {"FlavorAssigner::Assign", "Quota::Rebuild"} <= names


def test_functions_of_the_core_are_short_and_have_few_parameters():
    long = {(path, one.name, one.lines) for path, one in ALL if one.lines > MOST_LINES}
    wide = {(path, one.name, one.parameters) for path, one in ALL if one.parameters > MOST_PARAMETERS}
    assert long == set()
    assert wide == set()


def test_functions_of_the_core_are_easy_to_follow():
    hard = {(path, one.name, found) for path, one in ALL if (found := cognitive_complexity(one.body)) > MOST_COMPLEX}
    assert hard == set()


def spread_classes(files: dict[str, str]) -> set[str]:
    """Return the classes whose methods are defined in more than one `.cc` file."""
    where: dict[str, set[str]] = {}
    for path, text in files.items():
        for one in functions(text):
            if path.endswith(".cc") and "::" in one.name:
                where.setdefault(one.name.rsplit("::", 1)[0], set()).add(path)
    return {name for name, paths in where.items() if len(paths) > 1}


def test_spread_classes_are_found():
    files = {
        "a.h": "class Queue {\n  int Size() const { return 1; }\n};\n",
        "a.cc": "int Queue::Size() const { return 1; }\nvoid Heap::Pop() {}\n",
        "b.cc": "Queue::Queue(int size) : size_(size) {}\nvoid Push(Heap& heap) {}\n",
    }
    assert spread_classes(files) == {"Queue"}


def test_each_class_is_defined_in_one_file():
    files = {path.relative_to(CPP).as_posix(): path.read_text(encoding="utf-8") for path in FILES}
    assert spread_classes(files) == set()


MOST_METHODS = 25

LARGER_CLASSES = {
    "Forest": "the tree of all ClusterQueues and Cohorts, with short accessors of its nodes",
    "Paged": "a container with the interface of std::vector, and the copying and moving of its pages",
    "State": "all data of an engine, with short accessors of its tables",
}
"""Classes with more public methods, and why."""

_CLASS = re.compile(r"(?<!enum )\b(class|struct)\s+([\w:]+(?:<[^{};]*>)?)\s*(?:final\s*)?(?::[^{};]*)?\{")


def public_methods(text: str) -> dict[str, list[str]]:
    """Return the public methods that each class of a header declares, without deleted ones."""
    text, found = code(text), {}
    for head in _CLASS.finditer(text):
        body = text[head.end() : _end(text, head.end()) - 1]
        found.setdefault(head.group(2), []).extend(_methods(body, is_public=head.group(1) == "struct"))
    return found


def _methods(body: str, *, is_public: bool) -> list[str]:
    """The public methods in the body of a class."""
    found, start, at = [], 0, 0
    while (mark := re.compile(r"[{};]").search(body, at)) is not None:
        head, at = body[start : mark.start()], mark.end()
        if mark.group() == "{":
            at = _end(body, at)
            if head.count("(") > head.count(")"):
                continue  # a default argument
            while "(" in head and body[at:].lstrip().startswith((",", "{")):  # another member, and then the body
                at = _end(body, body.index("{", at) + 1)
        start = at
        for access in re.findall(r"\b(public|private|protected)\s*:(?!:)", head):
            is_public = access == "public"
        if is_public and (name := _declared(head)) is not None:
            found.append(name)
    return found


def _declared(head: str) -> str | None:
    """The name of the method that a member of a class declares, if it is one."""
    if re.search(r"=\s*delete\s*$|\b(?:friend|static_assert|typedef)\b", head):
        return None
    inner, outer = head, None
    while inner != outer:  # the parentheses of a function type are in angle brackets
        inner, outer = re.sub(r"<[^<>()]*(?:\([^()]*\)[^<>()]*)*>", "", inner), inner
    return _name(inner)


def test_public_methods_are_found():
    header = """
    class Queue : public Base<int> {
     public:
      using Use = std::function<void(int)>;
      explicit Queue(int size) : size_{size}, items_(size) {}
      Queue(const Queue&) = delete;
      virtual ~Queue() = default;
      template <typename T>
      void Add(T item, Options options = {}) { for (;;) {} }
      bool operator==(const Queue& other) const { return size_ == other.size_; }
      struct Item { int size() const; int value = 0; };
     private:
      std::function<int(int)> use_;
      void Grow();
     protected: int size_ = Of(1);
     public: static Queue Of(int size);
    };
    enum class Kind { kNone };
    """
    assert public_methods(header) == {"Queue": ["Queue", "~Queue", "Add", "operator==", "Of"], "Item": ["size"]}


def test_classes_have_few_public_methods():
    large = {
        name
        for path in FILES
        if path.suffix == ".h"
        for name, methods in public_methods(path.read_text(encoding="utf-8")).items()
        if len(methods) > MOST_METHODS
    }
    assert large == set(LARGER_CLASSES)


SAVED_ROOMS = ("model", "quantity", "queue", "quota", "state", "topology", "workload")
NOT_SAVED = {"As", "Metric", "Precedence", "Reason"}
"""Arguments and results of functions; and reasons, which a saved state knows by their names."""


def test_each_enumeration_that_is_saved_is_read_back_by_a_test():
    saved = set()
    for path in FILES:
        if path.parent.name in SAVED_ROOMS and path.suffix == ".h":
            saved |= set(re.findall(r"enum class (\w+)", code(path.read_text(encoding="utf-8"))))
    test = (CPP.parent.parent / "tests" / "cpp" / "persist_test.cc").read_text(encoding="utf-8")
    listed = re.search(r"ReadBackAll<([^;]*)>\(\);", test)
    assert listed is not None
    assert {name.split("::")[-1] for name in re.split(r",\s*", listed.group(1))} == saved - NOT_SAVED
