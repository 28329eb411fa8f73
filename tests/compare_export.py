#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What an export as CTF keeps: import, export, import.

  compare_export.py TRACE...

Each as CTF 1.8 and as CTF 2.
Each trace, and its export, is shown by coeval as JSON and as text, where the groups of fields are the scopes, and by
babeltrace2 if it is installed. Records must be the same, and so must the number of streams. What differs on purpose: ticks, and so
until when a gap lasts in them; fields called coeval_...; the names of clocks. Exit status 1 when a trace differs.
"""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile


def run(*command):
    process = subprocess.run(command, capture_output=True, text=True, errors='surrogateescape',
                             check=False)
    return process.stdout.splitlines(), process.returncode, process.stderr


def by_name(path):
    """Whether only times and names of events can be the same: CTF 1.8 has no booleans, flags and optional fields."""
    with open(os.path.join(path, 'metadata'), 'rb') as f:
        metadata = f.read()
    return any(b'"' + word in metadata for word in (b'optional"', b'fixed-length-boolean"', b'fixed-length-bit-map"'))


def as_json(session):
    lines, status, said = run('coeval', 'show', '--json', session)
    records = [json.loads(line) for line in lines]
    first = min((r['t_ns'] for r in records), default=0)
    for r in records:
        r['t_ns'] -= first
        for name in ('tick', 'clock', 'node', 'to_tick'):
            r.pop(name, None)
    return collections.Counter(json.dumps(r, sort_keys=True) for r in records), status, said


def as_text(session):
    lines, _, _ = run('coeval', 'show', session)
    return collections.Counter(re.sub(r'^(\[[^]]*\]) \S+ ', r'\1 ', line) for line in lines)


def by_babeltrace(path):
    """Time, name and fields; what is ours is taken out, and the node before the name."""
    lines, status, said = run('babeltrace2', '--clock-seconds', '--no-delta', path)
    records = []
    for line in lines:
        line = re.sub(r'\{ coeval_clock = \( [^)]*\) \}, ', '', line)
        line = re.sub(r'coeval_clock = \( [^)]*\), ', '', line)
        line = re.sub(r'\{ coeval_bound_ns = -?\d+ \}(, )?', '', line)
        line = re.sub(r'coeval_\w+ = [^,]*, ', '', line)
        time, head, fields = re.match(r'^(\[[^]]*\] )?([^{]*)(.*)$', line).groups()
        name = head.split()[-1]
        if name != 'gap:':
            ns = int(re.sub(r'\D', '', time)) if time else None
            records.append((ns, f'{name} {fields}'.rstrip(', ')))
    return records, status, said


def from_zero(records):
    """Times count from the first, as in the other checks."""
    first = min((ns for ns, _ in records), default=0)
    return collections.Counter(f'[{ns - first}] {text}' for ns, text in records)


def without_times(records):
    return collections.Counter(text for _, text in records)


def blank(records):
    """babeltrace2 2.0 shows what an earlier string left behind where one is empty."""
    return collections.Counter(re.sub(r'"[^"]*"', '""', line) for line in records.elements())


def streams(session):
    count = 0
    for top, dirs, files in os.walk(session, followlinks=True):
        dirs[:] = [d for d in dirs if d != 'index' and d[0] != '.']
        if 'metadata' in files:
            count += sum(f != 'metadata' and f[0] != '.' for f in files)
    return count


def differ(before, after):
    missing, extra = before - after, after - before
    if not missing and not extra:
        return None
    text = f'{sum(before.values())} and {sum(after.values())} records'
    for name, some in (('before', missing), ('after', extra)):
        for record in sorted(some)[:2]:
            text += f'\n  only {name}: {record[:300]}'
    return text


def compare(path, scratch):
    first, out, second = (os.path.join(scratch, name) for name in ('first', 'out', 'second'))
    for command in (('import', '-o', first, path), ('export', first, '--to', 'ctf', '-o', out),
                    ('import', '-o', second, out)):
        _, status, said = run('coeval', *command)
        if status not in (0, 3):
            return f'coeval {command[0]}: exit status {status}: {said}', False
    before, _, _ = as_json(first)
    after, status, said = as_json(second)
    if status or said:
        return f'the export is not read well: exit status {status}: {said}', False
    if by_name(path):
        before, after = (collections.Counter(re.sub(r'"fields": .*, "kind"', '"kind"', line) for line in some.elements())
                         for some in (before, after))
        wrong = differ(before, after)
    else:
        wrong = differ(before, after) or differ(as_text(first), as_text(second))
    if wrong:
        return wrong, False
    second_version, third = (os.path.join(scratch, name) for name in ('out2', 'third'))
    for command in (('export', first, '--to', 'ctf', '--ctf-version', '2', '-o', second_version),
                    ('import', '-o', third, second_version)):
        _, status, said = run('coeval', *command)
        if status not in (0, 3):
            return f'CTF 2: coeval {command[0]}: exit status {status}: {said}', False
    again, status, said = as_json(third)
    if status or said:
        return f'the export as CTF 2 is not read well: exit status {status}: {said}', False
    again, text = as_json(second)[0], again
    wrong = differ(again, text)
    if wrong:
        return 'CTF 2: ' + wrong, False
    if streams(path) != streams(out):
        return f'{streams(path)} and {streams(out)} streams', False
    text = f'{sum(before.values())} records'
    if shutil.which('babeltrace2'):
        before, status, _ = by_babeltrace(path)
        after, again, said = by_babeltrace(out)
        if again:
            return f'babeltrace2 cannot read the export: {said}', False
        if status:
            return text + ', of which babeltrace2 could not read the original', True
        view = without_times if any(ns is None for ns, _ in before) else from_zero
        before, after = view(before), view(after)
        wrong = differ(blank(before - after), blank(after - before))
        if wrong:
            return 'babeltrace2: ' + wrong, False
    return text, True


def main(paths):
    good = bool(paths)
    for path in paths:
        with tempfile.TemporaryDirectory() as scratch:
            text, same = compare(path, scratch)
        print(f'{path}: {text}')
        good = good and same
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
