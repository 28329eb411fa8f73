#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the ```console blocks of Markdown files and compare what they print with what the text shows.

run_docs.py FILE...          compare; exit status 1 if something differs
run_docs.py --bless FILE...  put what is printed now into the files

Commands begin with "$ "; a line "..." in the text stands for any lines.
"""
import re
import subprocess
import sys


def run(command):
    done = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout.splitlines()


def same(shown, printed):
    if "..." not in shown:
        return shown == printed
    at = shown.index("...")
    rest = shown[at + 1:]
    return (printed[:at] == shown[:at] and len(printed) >= at + len(rest)
            and any(same(rest, printed[i:]) for i in range(at, len(printed) - len(rest) + 1)))


def run_block(block, where, bless):
    out, bad = [], 0
    parts = re.split(r"^\$ ", block, flags=re.M)
    for part in parts[1:]:
        command, *shown = part.splitlines()
        printed = run(command)
        if bless and "..." not in shown:
            shown = printed
        elif not same(shown, printed):
            bad += 1
            print(f"{where}: $ {command}\n--- the text shows\n" + "\n".join(shown)
                  + "\n--- it prints\n" + "\n".join(printed))
        out.append("\n".join(["$ " + command] + shown) + "\n")
    return "".join(out), bad


def main():
    args = sys.argv[1:]
    bless = args[:1] == ["--bless"]
    failed = blocks = 0
    for path in args[bless:]:
        text = open(path, encoding="utf-8").read()
        pieces = re.split(r"(^```console\n.*?^```$)", text, flags=re.M | re.S)
        for i, piece in enumerate(pieces):
            if not piece.startswith("```console"):
                continue
            blocks += 1
            body, bad = run_block(piece[len("```console\n"):-3], path, bless)
            failed += bad
            pieces[i] = "```console\n" + body + "```"
        if bless:
            open(path, "w", encoding="utf-8").write("".join(pieces))
    if not blocks:
        print("no examples found")
    return 1 if failed or not blocks else 0


sys.exit(main())
