# SPDX-License-Identifier: MIT
# room: import; full
# A capture reads alike from sigrok's session file and from each CSV that sigrok-cli makes of it; and silence at its end is not its end.
need sigrok-cli

# 40000 samples of 700 kHz: bursts of changes, and none after the last.
awk 'BEGIN {
	srand(4)
	for (i = 0; i < 30000; i++) {
		if (rand() < (i % 5000 < 500 ? 0.5 : 0.002)) v = int(rand() * 4)
		printf "%c", 48 + v
	}
	for (; i < 40000; i++) printf "0"
}' | tr 0123 '\000\001\002\003' >raw
sigrok-cli -i raw -I binary:numchannels=3:samplerate=700000 -o cap.sr -O srzip
for options in csv csv:label=channel csv:label=off csv:time=true csv:time=true:label=channel csv:time=true:dedup=true; do
	sigrok-cli -i cap.sr -O $options -o $options.csv 2>/dev/null
done

edges() {
	rm -rf s
	coeval import -o s --node n "$@" > /dev/null
	coeval show s --select edge | sed 's/ [A-Za-z0-9]* = / = /g'
	coeval info s | awk '/^clocks/ { getline; getline; print "rate", $3, $4, "to", $NF }'
}

edges --format raw --channels 3 --rate 700k raw >want
wc -l <want
tail -n 1 want
for file in cap.sr csv*.csv; do
	edges "$file" >got
	cmp got want && echo "$file: the same"
done

# Its UART decoder reads the same bytes, but for the one of wrong parity.
text='Hello, 7-bit world: {~}'
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

wave 7 O 2 4 >raw
rm -rf s
coeval import -o s --format raw --channels 1 --rate 100k --uart D0:10k:7O2 raw > /dev/null
coeval show s --select uart --json | grep -o '"text":".*"' | cut -d'"' -f4 | tr -d '\n' | od -An -v -tx1 -w1 | tr -d ' ' >ours
sigrok-cli -i raw -I binary:numchannels=1:samplerate=100000 \
	-P uart:rx=0:baudrate=10000:data_bits=7:parity=odd:stop_bits=2 -A uart=rx-data:rx-parity-err |
	awk '/arity/ { n--; next } { v[n++] = tolower($NF) } END { for (i = 0; i < n; i++) print v[i] }' >theirs
wc -l <ours
cmp ours theirs && echo "sigrok's decoder: the same"
