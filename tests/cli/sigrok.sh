# SPDX-License-Identifier: MIT
# A capture reads alike from sigrok's session file and from each CSV that sigrok-cli makes of it; and a silence at its end is no end.
need sigrok-cli

# 40000 samples of 700 kHz: bursts of changes, and nothing behind the last.
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
	coeval import -o s --node n "$@"
	coeval show s --event edge | sed 's/ [A-Za-z0-9]* = / = /g'
	coeval info s | awk '/^clocks/ { getline; getline; print "rate", $3, $4, "to", $NF }'
}

edges --format raw --channels 3 --rate 700k raw >want
wc -l <want
tail -n 1 want
for file in cap.sr csv*.csv; do
	edges "$file" >got
	cmp got want && echo "$file: the same"
done
