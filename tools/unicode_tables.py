#!/usr/bin/env python3
"""Writes src/base/unicode_tables.inc from the ICU library of this machine.

Used when Unicode grows; the result is kept in the tree.
"""
import ctypes
import ctypes.util
import pathlib
import re
import sys

SCRIPT, CASED, IGNORABLE = 0x100A, 49, 50  # of ICU's enum UProperty


def main():
    name = ctypes.util.find_library("icuuc")
    if not name:
        sys.exit("libicuuc is not installed")
    icu = ctypes.CDLL(name)
    version = re.search(r"\.so\.(\d+)", name).group(1)
    value = getattr(icu, "u_getIntPropertyValue_" + version)
    has = getattr(icu, "u_hasBinaryProperty_" + version)

    def full_case(function, c):
        convert = getattr(icu, function + "_" + version)
        text = chr(c).encode("utf-16-le")
        out, code = ctypes.create_string_buffer(64), ctypes.c_int(0)
        n = convert(out, 32, text, len(text) // 2, b"", ctypes.byref(code))
        return [ord(x) for x in out.raw[:2 * n].decode("utf-16-le")]

    chars = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]

    def ranges(of):
        """(first, last, value) where of(c) is constant and not None."""
        out = []
        for c in range(0x110000):
            v = of(c)
            if v is None:
                continue
            if out and out[-1][2] == v and out[-1][1] == c - 1:
                out[-1][1] = c
            else:
                out.append([c, c, v])
        return out

    def mappings(function):
        """Single code points as runs (first, last, step, delta), the others
        as (code point, up to three code points)."""
        runs, special = [], []
        for c in chars:
            to = full_case(function, c)
            if to == [c]:
                continue
            if len(to) > 1:
                special.append((c, to))
                continue
            delta, last = to[0] - c, runs[-1] if runs else None
            if last and last[3] == delta:
                step = c - last[1]
                if step <= 2 and (last[0] == last[1] or last[2] == step):
                    last[1], last[2] = c, step
                    continue
            runs.append([c, c, 1, delta])
        return runs, special

    lines = ["// Written by tools/unicode_tables.py from ICU %s." % version]

    def emit(kind, name, rows):
        lines.append("constexpr %s %s[] = {" % (kind, name))
        line = "   "
        for row in rows:
            item = " {" + ", ".join(
                hex(x) if i < 2 and kind != "Special" else str(x)
                for i, x in enumerate(row)) + "},"
            if len(line) + len(item) > 80:
                lines.append(line)
                line = "   "
            line += item
        lines.extend([line, "};"])

    for what, function in (("Lower", "u_strToLower"),
                           ("Upper", "u_strToUpper")):
        runs, special = mappings(function)
        emit("CaseRun", "k%sRuns" % what, runs)
        emit("Special", "k%sSpecial" % what,
             [[c] + (to + [0, 0])[:3] for c, to in special])
    for what, prop in (("Cased", CASED), ("CaseIgnorable", IGNORABLE)):
        emit("Range", "k" + what,
             [r[:2] for r in ranges(lambda c: 1 if has(c, prop) else None)])
    scripts = ranges(lambda c: value(c, SCRIPT) if value(c, SCRIPT) != 103
                     else None)
    emit("ScriptRange", "kScripts", scripts)
    path = pathlib.Path(__file__).parent.parent / "src/base/unicode_tables.inc"
    path.write_text("\n".join(lines) + "\n")
    print(path, len(lines), "lines")


if __name__ == "__main__":
    main()
