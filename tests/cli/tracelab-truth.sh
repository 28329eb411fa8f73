# SPDX-License-Identifier: MIT
# room: gateware; full
# Verilated gateware -> its SPI bytes -> driver -> session -> sync -> timeline, against the true times, with a crystal that is 50 ppm off:
# each edge is where it was, within its bound, in both modes, and still when bytes of SPI are missing.
need verilator
need c++
need make
"$SRC/gateware/build" sim >make.log 2>&1 &&
	cc -std=gnu11 -O2 -Wall -Wextra -Werror -I"$SRC/firmware/lib" -I"$SRC/firmware/boards" -I"$SRC/gateware/tb" -c "$SRC/tests/tracelab_truth.c" -o truth.o >>make.log 2>&1 &&
	c++ truth.o "$SRC/build/gateware/libtracelab_sim.a" -lpthread -lm -o truth >>make.log 2>&1 || { cat make.log; exit 1; }
for mode in fine paper; do ./truth $mode 3.15 7 $mode.spi >$mode.true & done
wait

# The PPS is 50 ms after each true second; on the timeline it is a whole second of UTC.
compare() {
	epoch=$(grep -oE '"epoch_unix_ns": [0-9]+' "$1/sync.json" | grep -oE '[0-9]{9}$')
	coeval show "$1" --select edge --json | sed -nE 's/.*"t_ns":(-?[0-9]+),"bound_ns":([0-9]+),.*"T1":[01].*/\1 \2/p' >$1.shown
	awk -v epoch="$epoch" -v mode="$1" -v error_most="$3" -v bound_most="$4" '
		function off(shown, truth) { d = shown + epoch - (truth - 50000000); d -= int(d / 1e9) * 1e9
			return d > 5e8 ? d - 1e9 : d < -5e8 ? d + 1e9 : d }
		NR == FNR { truth[++n] = $1; next }
		# what is missing is behind a gap: the next that fits within 1 ms
		{ i++; while (i < n && (off($1, truth[i]) > 1e6 || off($1, truth[i]) < -1e6)) { i++; lost++ }
		  e = off($1, truth[i]); e = e < 0 ? -e : e; seen++
		  if (e > $2) outside++; if (e > worst) worst = e; if ($2 > widest) widest = $2 }
		END { print mode ": " (seen > 300 ? "hundreds" : seen) " of edges, " outside + 0 " outside of their bounds"
		      print "  largest error " (worst <= error_most ? "at most " error_most : worst) " ns, widest bound " \
			(widest <= bound_most ? "at most " bound_most : widest) " ns" (lost ? "; " lost " are missing" : "")
		      if (i != n) print "  " n - i " at the end are missing" }' "$2" "$1.shown"
}
for mode in fine paper; do
	coeval capture --driver tracelab --device $mode.spi --mode $mode --name obs -o $mode | sed -E 's/[0-9,]+ records/N records/'
	coeval sync $mode --pulse PPS:rise:1s | sed -nE 's/^(obs +[a-z]+) .*/\1/p; s/^obs: ./&/p'
	coeval show $mode --select pulse --ticks | wc -l
done
compare fine fine.true 40 20000
compare paper paper.true 300 20000

echo "== a byte is lost in the middle of a block"
at=$(($(wc -c <paper.spi) / 2))
{ head -c $at paper.spi; tail -c +$((at + 2)) paper.spi; } >cut.spi
coeval capture --driver tracelab --device cut.spi --mode paper --name obs -o cut | sed -E 's/[0-9,]+ records/N records/'
coeval show cut | grep -oE 'why = [a-z]*'
coeval sync cut --pulse PPS:rise:1s >/dev/null
compare cut paper.true 300 20000
