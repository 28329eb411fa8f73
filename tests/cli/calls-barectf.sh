# SPDX-License-Identifier: MIT
# room: analysis
# A program that barectf traces, with events that its author named, by rules for them.
need barectf
need gcc
mkdir trace
barectf generate -m trace "$SRC/tests/calls/barectf.yaml" && gcc -O1 -I. -o main "$SRC/tests/calls/barectf_main.c" barectf.c || exit 1
./main || exit 1
coeval calls trace --rules "$SRC/examples/rules/barectf.yaml"
