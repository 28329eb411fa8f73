# SPDX-License-Identifier: MIT
# room: store; full
# Foreign CTF traces: the same events as babeltrace2 shows; damage is reported with its place.
need babeltrace2
need python3

suite=$CAPTURES/ctf/babeltrace-suite
status=0

if [ ! -d "$suite" ]; then
	python3 "$SRC/tests/compare_babeltrace.py" "$CAPTURES"/ctf/*/*/ "$SRC/tests/data/sessions/foreign/traces/core"
	exit
fi

# meta-ctx-sequence makes some versions of babeltrace2 abort; the comparison says so
mapfile -t traces < <(find "$suite"/{succeed,intersection,packet-seq-num,live/split-metadata} \
	"$CAPTURES/ctf/cyg-profile" -name metadata -printf '%h\n' | sort)
[ ${#traces[@]} -ge 50 ] || { echo "only ${#traces[@]} traces found"; status=1; }
python3 "$SRC/tests/compare_babeltrace.py" "${traces[@]}" || status=1

for dir in "$suite"/fail/*/; do
	got=0
	coeval show "$dir" >out 2>err || got=$?
	[ "$got" -eq 3 ] || { echo "$dir: exit status $got"; status=1; }
	grep -q "^coeval: .*$dir.*:[0-9][0-9]*: " err || { echo "$dir: no place in: $(cat err)"; status=1; }
done

check_synctrace() {
	local got=0 events

	coeval show "$CAPTURES/ctf/synctraces/$1" >out 2>err || got=$?
	events=$(grep -vc '\] [^ ]* gap: ' out)
	[ "$got" -eq 0 ] && [ "$events" -eq "$2" ] || { echo "$1: $events events, exit status $got"; status=1; }
	# beyond these babeltrace2 stops at packets that overlap
	python3 "$SRC/tests/compare_babeltrace.py" --first 11000 "$CAPTURES/ctf/synctraces/$1" || status=1
}
check_synctrace scp_src 110771
check_synctrace scp_dest 85729

exit $status
