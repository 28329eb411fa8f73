# SPDX-License-Identifier: MIT
"""What a collector has is what its nodes have, byte for byte: printed in lines that are the same in every run."""
import json, subprocess


def must_end(name, proc, log, early):
    """A capture whose input was closed ends by itself, without an error. @early: how it had ended before, or None."""
    try:
        code = proc.wait(timeout=90)
    except subprocess.TimeoutExpired:
        code = "not at all"
    if early is not None or code != 0:
        log.seek(0)
        raise SystemExit(f"{name}: the capture ended {'too early: ' if early is not None else ''}{code}\n{log.read()[-3000:]}")


def compare(coeval, nodes, collected="all"):
    """@nodes: the sessions' names. Returns how many packets there are."""
    lost = wrong = packets = more = 0
    here = json.load(open(f"{collected}/session.json"))["clocks"]
    traces = {c["name"]: c["trace"] for c in here}
    more = len(here)
    for node in nodes:
        for c in json.load(open(f"{node}/session.json"))["clocks"]:
            a = open(f"{node}/{c['trace']}/stream", "rb").read()
            b = open(f"{collected}/{traces[c['name']]}/stream", "rb").read() if c["name"] in traces else b""
            packets += a.count(b"\xc1\x1f\xfc\xc1")
            lost += max(0, len(a) - len(b))
            wrong += a[:len(b)] != b or len(b) > len(a)
            more -= 1
    print(f"{lost} bytes lost, {wrong} streams wrong, {more} clocks more")
    print(f"unfinished: {' '.join(c['name'] for c in here if not c['finished']) or 'none'}")
    verify = subprocess.run([coeval, "session", "verify", collected], capture_output=True, text=True)
    print("verified" if verify.returncode == 0 else verify.stdout + verify.stderr)
    return packets
