#!/usr/bin/env python3
"""Checks every #include between folders against ARCHITECTURE.md's tables.

A layer, a folder of src/, may include the layers its row names and, in turn,
what those may include; `kernels` and `runtime` never meet. A room, a folder of
a layer, may include the rooms of its layer that its row names and what those
may include; what lies beside the rooms may include all of them, and no room
includes that. Tests may include anything, for they stand on top of the library.
Exits 1 after naming each offending line.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NEVER = {("kernels", "runtime"), ("runtime", "kernels")}
ROW = re.compile(r"^\|\s*`([a-z_/]+)/`[^|]*\|[^|]*\|([^|]*)\|\s*$")
PUBLIC = re.compile(r"^\|\s*`(headrace/[a-z_/]+\.h)`\s*\|\s*`([a-z_/]+)/`")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
TEST = re.compile(r"_test(lib)?\.(cc|h)$")


def read_table():
    """Returns {layer or layer/room: [layers or layer/rooms its row names]}."""
    table = {}
    for line in (ROOT / "ARCHITECTURE.md").read_text().splitlines():
        row = ROW.match(line)
        if row:
            named = [name.strip(" `/") for name in row[2].split(",")]
            layer, slash, _ = row[1].partition("/")
            table[row[1]] = [layer + slash + n if slash else n
                             for n in named if n]
    return table


def read_public():
    """Returns {"headrace/x.h": "folder/x.h"}: where a public header belongs."""
    rows = map(PUBLIC.match,
               (ROOT / "ARCHITECTURE.md").read_text().splitlines())
    return {row[1]: row[2] + row[1].removeprefix("headrace")
            for row in rows if row}


def rooms(table):
    return [name for name in table if "/" in name]


def find_cycle(edges):
    """Returns the first circle found in {folder: folders}, or None."""
    done, path = set(), []

    def visit(layer):
        if layer in path:
            return path[path.index(layer):] + [layer]
        if layer in done:
            return None
        path.append(layer)
        for below in sorted(edges.get(layer, ())):
            cycle = visit(below)
            if cycle:
                return cycle
        done.add(path.pop())
        return None

    return next(filter(None, map(visit, sorted(edges))), None)


def closure(table, layer):
    """Returns all that `layer` may include, itself too."""
    allowed, todo = {layer}, [layer]
    while todo:
        for below in table.get(todo.pop(), ()):
            if below not in allowed and (layer, below) not in NEVER:
                allowed.add(below)
                todo.append(below)
    return allowed


def sources(public):
    """Yields (layer, file, its path in the layers) for all C++ of the layers."""
    for name, path in sorted(public.items()):
        yield path.split("/")[0], ROOT / "include" / name, path
    for folder in sorted((ROOT / "src").iterdir()):
        if folder.is_dir():
            for file in sorted(folder.rglob("*")):
                if file.suffix in (".cc", ".h", ".cu"):
                    yield (folder.name, file,
                           file.relative_to(ROOT / "src").as_posix())
    for file in sorted((ROOT / "python" / "ext").glob("**/*")):
        if file.suffix in (".cc", ".h"):
            yield "python", file, "python/" + file.name


def layer_of(include, table):
    """Returns the layer an include path belongs to, or None if to none."""
    if include.endswith(".pb.h"):
        return "proto" if include.startswith("headrace/") else None
    first = include.split("/")[0]
    return first if "/" in include and first in table else None


def room_of(path, table):
    """Returns "layer/room" for a path relative to src/, or None if its layer
    has no rooms. What lies beside the rooms has the room "layer/"."""
    parts = path.split("/")
    if not any(name.startswith(parts[0] + "/") for name in table):
        return None
    return parts[0] + "/" + (parts[1] if len(parts) > 2 else "")


def check_room(room, other, allowed, include):
    """Returns what is wrong with an include from one room to another."""
    if room == other or room.endswith("/"):
        return None
    if room not in allowed:
        return f"folder {room}/ has no row in ARCHITECTURE.md"
    if other in allowed[room]:
        return None
    may = ", ".join(sorted(allowed[room] - {room})) or "none"
    return (f"{room}/ may not include {other.rstrip('/')}/ (\"{include}\"); "
            f"it may: {may}")


def main():
    table, public = read_table(), read_public()
    if not table:
        sys.exit("check_layers: ARCHITECTURE.md has no table of layers")
    problems = []
    for layer, named in table.items():
        for name in named:
            if name not in table:
                problems.append(f"ARCHITECTURE.md: {layer}/ names {name}/, "
                                "which has no row")
        if not (ROOT / "src" / layer).is_dir() and layer in rooms(table):
            problems.append(f"ARCHITECTURE.md: there is no folder {layer}/")
    allowed = {layer: closure(table, layer) for layer in table}
    used = {}
    count = 0
    for file in sorted((ROOT / "include" / "headrace").rglob("*.h")):
        name = file.relative_to(ROOT / "include").as_posix()
        if name not in public:
            problems.append(f"include/{name}: has no row among "
                            "ARCHITECTURE.md's public headers")
    for layer, file, path in sources(public):
        where = file.relative_to(ROOT)
        if layer not in table:
            problems.append(f"{where}: folder {layer}/ has no row in "
                            "ARCHITECTURE.md")
            continue
        for number, line in enumerate(
                file.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            count += 1
            included = public.get(match[1], match[1])
            if "include" in file.parts and included == match[1] and \
                    layer_of(included, table) not in (None, "proto"):
                problems.append(f"{where}:{number}: a public header includes "
                                f"\"{match[1]}\", which is none")
            if (layer != "python" and "/" not in match[1]
                    and (file.parent / match[1]).exists()):
                problems.append(f"{where}:{number}: write \"{match[1]}\" "
                                "relative to src/")
            other = layer_of(included, table)
            if other is None or TEST.search(file.name):
                continue
            if other == layer:
                room = layer != "python" and room_of(path, table)
                if room:
                    inner = room_of(included, table)
                    if inner != room:
                        used.setdefault(room, set()).add(inner)
                    wrong = check_room(room, inner, allowed, match[1])
                    if wrong:
                        problems.append(f"{where}:{number}: {wrong}")
                continue
            used.setdefault(layer, set()).add(other)
            if other not in allowed[layer]:
                problems.append(
                    f"{where}:{number}: {layer}/ may not include {other}/ "
                    f"(\"{match[1]}\"); it may: "
                    f"{', '.join(sorted(allowed[layer] - {layer})) or 'none'}")
    for name, edges in (("ARCHITECTURE.md", table), ("src/", used)):
        cycle = find_cycle(edges)
        if cycle:
            problems.append(f"{name}: folders in a circle: "
                            + " -> ".join(cycle))
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"check_layers: {count} includes, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
