# SPDX-License-Identifier: MIT
# room: sync
# An analyzer's clock, 514.9 ppm fast, against a radio's second pulses. The real one has been compared with them over 1800 s (standard error 0.4).
for seconds in 20 120 480; do
	coeval import -o "g$seconds" "$CAPTURES/sigrok/dcf77/dcf77_${seconds}s.sr" > /dev/null || exit 1
	coeval sync "g$seconds" --pulse DATA:rise:1s --json >"$seconds.json" || exit 1
	rate=$(grep -o '"rate_ppb":[-0-9.]*' "$seconds.json" | cut -d: -f2)
	bound=$(grep -o '"rate_bound_ppb":[0-9.]*' "$seconds.json" | cut -d: -f2)
	awk -v r="$rate" -v b="$bound" -v s="$seconds" 'BEGIN {
		off = r - 514900; if (off < 0) off = -off;
		printf "%d s: %s\n", s, off <= b ? "within its own bound" : "not within its own bound";
		if (s == 480) print b < 200000 ? "and better than 200 ppm" : "but worse than 200 ppm" }'
done
coeval export g480 --to vcd -o g.vcd && grep -c '^#' g.vcd
