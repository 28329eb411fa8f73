# SPDX-License-Identifier: MIT
# room: cli
# Old names of commands and options work for one more version, with one note that gives the new name.
try() {
	echo "\$ coeval $*"
	coeval "$@" >out 2>err
	echo "-> $?"
	cat err
}
same() { # OLD... -- NEW...: both print the same
	local old=() status=0
	while [ "$1" != -- ]; do old+=("$1"); shift; done
	shift
	coeval "${old[@]}" >old.out 2>/dev/null || status=$?
	coeval "$@" >new.out 2>/dev/null
	[ $? -eq $status ] && cmp old.out new.out && echo "the same as coeval $*"
}
coeval import -o s "$SRC/examples/two-hosts" >/dev/null 2>&1
cat >rules.yaml <<'END'
- { name: few, count: any radio_send, at most: 1000, in: 1s }
END

try show s --from 1 --to 1.2
same show s --from 1 --to 1.2 -- show s --from 1 --until 1.2
same show s --to=1.2 -- show s --until=1.2
try check s rules.yaml --to 2
try calls s --to 2
try power s --power x --to 2
try export s --to csv --until 2
same export s --to csv --until 2 -- export s --to csv --until 2
try join s -o joined
coeval session join s -o again >/dev/null
coeval info joined | head -n 3
try devices --json
same devices --json -- doctor devices --json
try act s set ACT1 at 1
try help join
coeval join --help | head -n 1

echo "--- and what never was"
try jion s
try show s --unitl 2
try show s --2
try session jion s
try help sesion
try help import vdc
