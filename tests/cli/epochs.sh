# SPDX-License-Identifier: MIT
# room: store
# A clock that was reset is one clock of several epochs.
source "$SRC/tests/perfetto.bash"
cat >w.yaml <<'END'
name: resets
duration: 200s
clocks:
  - { name: node, count: 2, oscillator: { offset_sd_ppm: 30 } }
beacons:
  - receiver: { normal_ns: 500 }
faults:
  - { kind: reset, who: node2, at: 100s, for: 500ms }
END
coeval sim w.yaml -o s >/dev/null
coeval info s | head -n 9
coeval sync s | head -n 6 | cut -c 1-16
for node in node2 'node2#2' 'nod*' node2-2; do
	coeval show s --node "$node" 2>&1 | grep -c beacon
done
coeval show s --node node2 --json | grep beacon | cut -d, -f 5-8 | uniq -c
coeval export s --to csv -o - --node node2 | cut -d, -f 4,5 | sort | uniq -c
echo "$(coeval export s --to perfetto -o t.pftrace && expand <t.pftrace | strings | grep -c 'node2')" tracks name it
coeval export s --to ctf -o ctf && coeval show ctf | grep -c beacon
cat >rules.yaml <<'END'
- { name: both-hear, after: node1.beacon, then: node2.beacon, within: 1ms }
END
coeval check s rules.yaml | head -n 5
echo "== counts are kept, and can be made again"
coeval info s >first
coeval info s | cmp - first && ls s/derived | grep -c .
touch s/traces/node1/stream
coeval info s | cmp - first
coeval session clean --derived s
coeval sync s >/dev/null && coeval info s | cmp - first
python3 - <<'END'
import json
j = json.load(open("s/derived/counts.json"))
j["clocks"][0]["counts"][0] = 7
json.dump(j, open("s/derived/counts.json", "w"))
END
coeval info s | cmp - first
