#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare what babeltrace2 and coeval show of CTF traces.

  compare_babeltrace.py [--first N] TRACE...

Both give one line an event. They are compared as sets of (ticks, text behind the node's name):
where times are equal the two may choose another order. Gaps, which only coeval shows, are left
out. With --first, only the N events that babeltrace2 shows first are looked for. Exit status 1
when a trace differs.
"""
import collections
import re
import subprocess
import sys


def lines_of(command, limit=None):
    """Lines of the standard output, the exit status, and what was said besides."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               errors='surrogateescape')
    if limit is None:
        out, err = process.communicate()
        return out.splitlines(), process.returncode, err
    lines = [line.rstrip('\n') for _, line in zip(range(limit), process.stdout)]
    process.kill()
    process.communicate()
    return lines, 0, ''


def from_babeltrace(line):
    """[00000012345] host:domain event: ... -> (12345, rest)"""
    match = re.match(r'^\[0*(\d+)\] (.*)$', line)
    ticks, rest = match.groups() if match else ('0', line)
    return ticks, re.sub(r"\\([?'])", r'\1', rest)


def from_coeval(line):
    """[12345] node event: ... -> (12345, rest)"""
    return re.match(r'^\[(\d+)\] \S+ (.*)$', line).groups()


def is_gap(line):
    return re.match(r'^\[\d+\] \S+ gap: ', line)


def pair(theirs, ours):
    """Events that only one has. The node before the text is written otherwise by each."""
    left = collections.Counter(ours)
    missing = []
    for ticks, rest in theirs:
        # node names have no fixed form: try the text from each word on
        for at in [0] + [m.end() for m in re.finditer(' ', rest)][:8]:
            key = (ticks, rest[at:])
            if left[key] > 0:
                left[key] -= 1
                break
        else:
            missing.append((ticks, rest))
    return missing, +left


def compare(path, first):
    theirs, status, said = lines_of(['babeltrace2', '--clock-cycles', '--no-delta', path], first)
    if status < 0:
        return f'SKIP babeltrace2 died of signal {-status}', True
    ours, _, _ = lines_of(['coeval', 'show', '--ticks', path])
    ours = [from_coeval(line) for line in ours if not is_gap(line)]
    theirs = [from_babeltrace(line) for line in theirs]
    missing, extra = pair(theirs, ours)
    if first is not None:
        agree = len(theirs) - len(missing)
        return f'{agree} of {len(theirs)} events agree', bool(theirs) and not missing
    if missing or extra:
        text = f'babeltrace2 has {len(theirs)} events (exit status {status}), coeval {len(ours)}'
        for event in missing[:3]:
            text += f'\n  only babeltrace2: {event}'
        for event in list(extra)[:3]:
            text += f'\n  only coeval: {event}'
        return text + '\n' + said[:300], False
    return f'{len(ours)} events', True


def main(args):
    first = None
    if args[:1] == ['--first']:
        first, args = int(args[1]), args[2:]
    good = bool(args)
    for path in args:
        text, same = compare(path, first)
        print('ok  ' if same else 'DIFF', path, text)
        good = good and same
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
