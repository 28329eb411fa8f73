# SPDX-License-Identifier: MIT
# room: import
# Serial text with any frame; a byte of wrong parity counts as lost, and sigrok's decoder sees the same bytes.
text='Hello, 7-bit world: {~}'

# Samples of a line, 10 a bit: the text with a frame, byte number `wrong` with a wrong parity bit.
wave() {
	awk -v text="$text" -v data="$1" -v parity="$2" -v stop="$3" -v wrong="${4:-0}" '
	function put(level, bits, i) { for (i = 0; i < 10 * bits; i++) printf "%s", level ? "b" : "a" }
	BEGIN {
		for (i = 32; i < 127; i++) code[sprintf("%c", i)] = i
		put(1, 30)
		for (i = 1; i <= length(text); i++) {
			v = code[substr(text, i, 1)]; odd = 0
			put(0, 1)
			for (k = 0; k < data; k++) { put(v % 2, 1); odd = (odd + v % 2) % 2; v = int(v / 2) }
			if (parity != "N") put((odd + (parity == "O") + (i == wrong)) % 2, 1)
			put(1, stop)
		}
		put(1, 30)
	}' | tr ab '\000\001'
}

for frame in 8N1 8E1 8O2 7E1 7O1; do
	wave ${frame:0:1} ${frame:1:1} ${frame:2:1} >raw
	rm -rf s
	coeval import -o s --format raw --channels 1 --rate 100k --uart D0:10k:$frame raw > /dev/null
	coeval show s --select uart | sed "s/.*text/$frame/"
done

echo "--- wrong parity"
wave 8 E 1 5 >raw
rm -rf s
coeval import -o s --format raw --channels 1 --rate 100k --uart D0:8E1 raw > /dev/null
coeval show s | grep -v edge
coeval decode s --uart D0:10k:8O1 > /dev/null
echo "-> $?"
coeval decode s --uart D0:10k:9E1 2>&1 | head -n 1
coeval decode s --uart D0:10k:8X1 2>&1 | head -n 1

# A line of a VCD whose level is unknown for a while: a byte in it is lost, and nothing is made up.
echo "--- an unknown level"
wave 8 N 12 | od -An -v -tu1 -w1 | awk 'BEGIN {
	print "$timescale 10 us $end $var wire 1 t tx $end $var wire 1 o other $end $enddefinitions $end"
	print "#0 1t 0o"; last = 1
}
NR >= 800 && NR < 920 { if (NR == 800) { print "#" NR " xt"; last = -1 } next }
$1 != last { print "#" NR " " $1 "t"; last = $1 }
END { print "#" NR }' >wave.vcd
rm -rf s
coeval import -o s --uart tx:10k wave.vcd > /dev/null
coeval show s | grep -e uart -e gap -e " = x"
