# SPDX-License-Identifier: MIT
# room: export; full
# LTTng's and others' CTF traces as Perfetto traces: cores, tasks, functions, and the arrows of TCP segments.
need protoc
need python3
. "$SRC/tests/perfetto.bash"

coeval import -o hosts "$CAPTURES/ctf/synctraces/scp_src" "$CAPTURES/ctf/synctraces/scp_dest" >/dev/null 2>&1
coeval sync hosts --match lttng-tcp >/dev/null 2>&1
compare hosts 16 18
tracks VM
for trace in "$CAPTURES"/ctf/cyg-profile/*/; do
	ln -sfn "$trace" functions
	compare functions
	tracks ''
done
for name in sequence multi-domains ev-disc-no-ts-begin-end meta-variant-one-underscore lttng-crash; do
	[ -d "$CAPTURES/ctf/babeltrace-suite" ] || continue
	ln -s "$CAPTURES/ctf/babeltrace-suite/succeed/$name" .
	compare "$name"
done
