# SPDX-License-Identifier: MIT
# room: view
# A capture is watched while it is made.
source "$SRC/tests/view/start.bash"
need_browser
python3 -c '
import sys, time
for k in range(120):
    sys.stdout.buffer.write(b"".join(bytes([n % 4]) * 400 for n in range(25)))
    sys.stdout.buffer.flush()
    time.sleep(0.1)
' | coeval capture --driver pipe --rate 100kHz --lines 2 --name desk -o s > captured 2>&1 &
until [ -s s/traces/desk/stream ]; do sleep 0.1; done
start_view s
printf 'Time [s],A\n0.1,0\n0.2,1\n0.7,0\n' > late.csv
timeout 100 node "$SRC/tests/view/live.mjs" "$(cat address)" "$PWD/npm" | while read -r line; do
	if [ "$line" = next ]; then
		# as soon as the capture has ended
		(until coeval import -o s late.csv > imported 2>&1; do sleep 0.3; done) &
	else
		echo "$line"
	fi
done
kill $viewer
wait
