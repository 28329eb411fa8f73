#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the code cells of a notebook one after the other, as Jupyter would: notebook.py FILE.ipynb"""
import ast
import json
import os
import sys

path = sys.argv[1]
os.environ.setdefault("MPLBACKEND", "Agg")
names = {"__name__": "__main__"}
here = os.path.dirname(os.path.abspath(path))
cells = json.load(open(path))["cells"]
os.chdir(here)
for number, cell in enumerate(cells):
    if cell["cell_type"] != "code":
        continue
    source = "".join(cell["source"])
    tree = ast.parse(source, f"{path}, cell {number}")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, f"{path}, cell {number}", "exec"), names)
    if last:
        shown = eval(compile(ast.Expression(last.value), f"{path}, cell {number}", "eval"), names)
        if shown is not None:
            print(shown)
