# SPDX-License-Identifier: MIT
# room: gateware; full
# The TraceLab observer's gateware, simulated: no warnings, and the output of the benches.
need verilator
need make
need c++

"$SRC/gateware/build" lint >build.log 2>&1 || { cat build.log; exit 1; }
"$SRC/gateware/build" sim >build.log 2>&1 || { cat build.log; exit 1; }
"$SRC/build/gateware/bench_observer"
"$SRC/build/gateware/bench_clock"
