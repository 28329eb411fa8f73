# SPDX-License-Identifier: MIT
# room: cli
# Error messages and their exit statuses.
try() {
	echo "\$ $*"
	"$@" 2>&1 | head -n 3
	echo "-> ${PIPESTATUS[0]}"
}
try coeval frobnicate
try coeval show
try coeval show --frobnicate x
try coeval show nothing
touch empty
try coeval import -o s empty
try coeval import -o s --format raw --channels 8 --rate 1M empty
try coeval import -o s --format frob empty
try coeval import -o s nothing
try coeval import -o empty/s empty
mkdir dir
try coeval import -o s dir
try coeval show dir
try coeval show empty
mkdir dir/trace
echo 'trace { major = 1;' >dir/trace/metadata
try coeval show dir
printf 'abcdefgh' >bytes
try coeval import -o s bytes
try coeval import -o s --format raw bytes
try coeval import -o s --channels 8 --rate 1M bytes
try coeval import -o dir bytes
try coeval sync s
try coeval sync s --match nothing
try coeval sync s --pulse D9:rise:1s
try coeval sync s --pulse D0:sideways:1s
try coeval sync s --reference nobody --pulse D0:rise:1s
try coeval sync s --estimator magic --pulse D0:rise:1s
try coeval sync s --estimator hull --pulse D0:rise:1us
try coeval show s --from soon
try coeval export s --to svg
try coeval export s
try coeval export s --to ctf
for verb in import sync info show export demo; do
	coeval $verb --help >/dev/null || echo "$verb --help fails"
done
for command in 'show s' 'show --json s' 'info s' 'info --json s' 'export --to csv s' 'export --to vcd s' 'help'; do
	coeval $command >/dev/full 2>message
	echo "$command to a full disk -> $?, $(cut -c 1-60 message)"
done
coeval show s | head -n 1
echo "a pipe closed early -> ${PIPESTATUS[0]}"
coeval import -o two "$SRC/examples/two-hosts" && coeval import -o two --channels 8 --rate 1M bytes
coeval sync two --match "$SRC/examples/rules/radio.yaml" | tail -n 3
echo "a clock that nothing ties -> ${PIPESTATUS[0]}"
