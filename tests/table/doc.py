#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The columns of docs/tables.md, from the library: compare, or with --bless write them.

doc.py [--bless] SESSION FILE
"""
import sys

import coeval

session, path = sys.argv[-2:]
s = coeval.open(session)
needs = {"power": {"watts": "x"}}
parts = []
for name, what in s.tables().items():
    if name.startswith("event_"):
        continue
    parts.append(f"### `{name}`\n\n{what[0].upper()}{what[1:]}.\n\n| column | holds | NULL | |\n|---|---|---|---|\n"
                 + "".join(f"| `{column}` | {kind} | {'yes' if nullable else ''} | {about} |\n"
                           for column, kind, nullable, about in s.table(name, **needs.get(name, {})).describe()))
text = open(path).read()
head, mark, rest = text.partition("<!-- columns: written by tests/table/doc.py --bless -->\n")
end = "<!-- end of columns -->"
now = head + mark + "\n" + "\n".join(parts) + "\n" + end + rest.partition(end)[2]
if "--bless" in sys.argv:
    open(path, "w").write(now)
elif now != text:
    sys.exit(f"{path} does not show the columns that there are: run tests/table/doc.py --bless")
