# SPDX-License-Identifier: MIT
"""Where the events of the skewed clock stand on the timeline, against where they were: its clock and the other's are one machine's."""
import json
import sys

shown = [json.loads(line) for line in open(sys.argv[1])]
truth = json.load(open(sys.argv[2]))
plain = [r for r in shown if r["clock"] == "ask"]
skewed = [r for r in shown if r["clock"] == "answer"]

# the plain clock counts ns, as the timeline does: they are apart by a constant
apart = {r["t_ns"] - r["tick"] for r in plain}
assert len(apart) == 1, "the reference is no straight line"
apart = apart.pop()


def real_ns(tick):
    """When the skewed clock began to show this, on the plain one."""
    low, high = 0, 2 * (tick - truth["phase_ns"]) + 2
    while low < high:
        middle = (low + high) // 2
        if truth["phase_ns"] + middle + middle * truth["rate_ppb"] // 10**9 >= tick:
            high = middle
        else:
            low = middle + 1
    return truth["start_ns"] + low


errors = [(abs(r["t_ns"] - apart - real_ns(r["tick"])), r["bound_ns"]) for r in skewed]
outside = sum(error > bound + 1 for error, bound in errors)
errors.sort()
bounds = sorted(bound for _, bound in errors)
print(f"{len(errors)} events of the skewed clock; outside of their bound: {outside}")
print(f"off by {errors[len(errors) // 2][0]} ns in the middle, {errors[-1][0]} ns at worst; "
      f"bounds {bounds[len(bounds) // 2]} and {bounds[-1]} ns")
sys.exit(outside > 0 or not errors)
