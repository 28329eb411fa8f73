# SPDX-License-Identifier: MIT
# room: sync
# Worlds from files become sessions; the same seed makes the same world; invalid worlds are refused with the place.
ln -s "$SRC/examples" examples

run() {
	echo "\$ $*"
	# how many records a world has is its own affair
	"$@" 2>&1 | sed -E 's/[0-9,]+ records/N records/; s/"records":[0-9]+/"records":N/'
	echo "-> ${PIPESTATUS[0]}"
}

run coeval sim examples/worlds/nominal.yaml -o nominal --duration 20s
run coeval sim examples/worlds/gps-poor.yaml -o poor --duration 20s --seed 7
run coeval sim examples/worlds/messages-only.yaml -o messages --duration 20s --json
run coeval sim examples/worlds/tracelab.yaml -o tracelab --duration 3s
[ -s nominal/truth.json ] || echo "no truth"

coeval sim examples/worlds/nominal.yaml -o again --duration 20s >/dev/null
coeval sim examples/worlds/nominal.yaml -o other --duration 20s --seed 2 >/dev/null
for s in nominal again other; do coeval show $s --ticks >$s.txt; done
cmp nominal.txt again.txt && ! cmp -s nominal.txt other.txt && echo "the seed makes the world"

# Raw samples of one clock on request.
coeval sim examples/worlds/outage.yaml -o sampled --duration 2s --samples node3=node3.raw >/dev/null
[ -s node3.raw ] && echo "node3 was sampled"

printf 'clocks: [{ name: a, rate: 0 }]\n' >bad.yaml
run coeval sim bad.yaml -o bad
run coeval sim absent.yaml -o bad
run coeval sim examples/worlds/nominal.yaml -o nominal
run coeval sim examples/worlds/nominal.yaml
run coeval sim -o bad
run coeval sim examples/worlds/nominal.yaml -o bad --seed -1
run coeval sim examples/worlds/nominal.yaml -o bad --duration 0s
run coeval sim examples/worlds/nominal.yaml -o bad --duration 1ms
run coeval sim examples/worlds/nominal.yaml -o bad --samples node1
run coeval sim examples/worlds/nominal.yaml -o bad --samples node17=x
[ ! -e bad ] || echo "something was made"
