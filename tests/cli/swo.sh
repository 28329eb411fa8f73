# SPDX-License-Identifier: MIT
# room: import
# A real trace: SWO at 8 MBd in TPIU frames, beside two pins, by a 24 MHz analyzer; and the same bytes from a serial port.
need_shared
need python3
dir=$SHARED/sigrok/stm32f105-swo

echo "== from the samples"
coeval import -o s "$dir/trace_example.sr" --swo SWO:8M:tpiu --elf "$dir/trace_example.elf" 2>&1 || exit 1
coeval info s | grep SWO
coeval show s --json >s.json
python3 "$SRC/tests/compare_swo.py" "$dir/expected-stream1-packets.jsonl" s.json
coeval show s | sed -n 's/.*trace_example \([a-z_]*\): { half_width = [0-9]*, /\1 { /p' | sort | uniq -c |
	sort -k1,1nr -k2 | head -n 12

echo "== the pin first, then what the program prints of it, within what the framing lets one say"
python3 - <<'E'
import json
level, edges, prints = None, [], []
for line in open("s.json"):
    r = json.loads(line)
    if r["kind"] == "edge" and "PC8" in r["lines"]:
        if level is not None and r["lines"]["PC8"] != level:
            edges.append((r["tick"], r["lines"]["PC8"]))
        level = r["lines"]["PC8"]
    elif r["kind"] == "event" and r["name"] == "software" and r["fields"]["port"] == 0:
        prints.append((r["tick"] - r["fields"]["half_width"], chr(r["fields"]["value"])))
starts = [(t, prints[i + 1][1]) for i, (t, c) in enumerate(prints) if c == "O"]
assert len(starts) == len(edges), (len(starts), len(edges))
for (edge, on), (begin, letter) in zip(edges, starts):
    assert letter == ("n" if on else "f")
    assert 0 <= begin - edge < 288, (edge, begin)
print(len(edges), "changes of PC8, each followed by its print in less than 12 us")
E

echo "== the rate found by itself, and as bytes of a file"
coeval decode s --swo SWO:tpiu 2>&1
coeval import -o bytes --format swo "$dir/tpiu_uart.bin" 2>&1 | sed "s|$dir/||"
coeval info s | awk '/trace_example-SWO/ && /MHz/ { print $1, $6, "records,", $7, "gaps" }'
coeval show bytes --json >bytes.json
python3 "$SRC/tests/compare_swo.py" "$dir/expected-stream1-packets.jsonl" bytes.json

echo "== read wrongly"
for how in SWO:2M:tpiu SWO:8M:tpiu:inverted SWO:8M:manchester SWO:8M:tpiu:stream=5 NONE SWO:8M:odd SWO:0; do
	coeval decode s --swo "$how" 2>&1
	echo "$how: exit status $?"
done

echo "== what failed left nothing, and what was decoded again stands once"
coeval info s | awk '$1 ~ /-SWO/ && /MHz/ { print $1 }'
coeval import -o b "$SRC/examples/swo/board.vcd" --swo SWO --swo SWO > /dev/null
coeval sync b >/dev/null 2>&1
coeval decode b --swo SWO > /dev/null
ls b/traces
coeval task b | sed -n 1p

echo "== half the rate, and frames where there are none or where none are asked for"
coeval decode b --swo SWO:2M 2>&1
coeval decode b --swo SWO:stream=4294967297 2>&1 | head -n 1
coeval import -o unframed "$dir/trace_example.sr" --swo SWO 2>&1
coeval import -o none --format tpiu "$dir/trace_example.elf" 2>&1 | sed "s|$dir/||"

echo "== a line decoded when its clock is tied already is tied, too"
python3 - <<'E'
with open("tied.vcd", "w") as f:
    f.write("$timescale 1us $end\n$var wire 1 p PPS $end\n$var wire 1 u TX $end\n$enddefinitions $end\n#0\n0p\n1u\n")
    for k in range(12):
        t, level = int((k + .2) * 1.00005e6), 1
        f.write(f"#{t}\n1p\n#{t + 1000}\n0p\n")
        t += 300000
        for byte in b"tick\n":
            for bit in [0] + [byte >> i & 1 for i in range(8)] + [1]:
                if bit != level:
                    f.write(f"#{t}\n{bit}u\n")
                    level = bit
                t += 100
E
coeval import -o tied tied.vcd > /dev/null
coeval sync tied --pulse PPS:rise:1s >/dev/null
coeval decode tied --uart TX:10000 > /dev/null
coeval decode tied --uart TX:10000 > /dev/null
coeval show tied --select uart --bounds | tail -n 1
coeval info tied --json | grep -o '"verdict": *"[a-z]*"'

echo "== values that a session cannot hold, and names that it can"
printf '\300\144' >ts
coeval import -o t --format itm --ts-prescaler 3 ts 2>&1 | head -n 1
coeval import -o t --format itm --rate 18446744073709551615 ts 2>&1
cp "$SRC/examples/swo/board.vcd" a..b.vcd
coeval import -o t a..b.vcd --swo SWO > /dev/null
coeval info t | sed -n 1p

echo "== the program of another chip"
coeval import -o other --format tpiu --elf "$(command -v coeval)" "$dir/tpiu_uart.bin" 2>&1 | sed "s|$dir/||; s|[^ ]*/coeval:|coeval:|"

echo "== serial text"
coeval import -o u "$SHARED/uart-edges/uart_raw2.csv" --uart UART 2>&1
coeval show u | grep uart: | head -n 4
coeval show u | grep -c uart:
