#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is installed suffices: programs outside of the source tree are built against it by pkg-config, shared and static, and say what
# `coeval show` says.
set -euo pipefail

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
cd "$root"
DESTDIR=$root cmake --install "$BUILD" >install.log 2>&1 || { cat install.log; exit 1; }
coeval=$(find "$root" -path '*/bin/coeval')
prefix=${coeval%/bin/coeval}
pc=$(dirname "$(find "$prefix" -name coeval.pc)")
libs=$(dirname "$pc")
export PKG_CONFIG_PATH=$pc:$prefix/share/pkgconfig LD_LIBRARY_PATH=$libs

# The tree
for file in include/coeval/timeline.h include/coeval/sim.h libexec/coeval/coeval-lab share/coeval/docs/design.md \
	share/coeval/examples/library/merged.c share/man/man1/coeval.1; do
	[ -e "$prefix/$file" ] || { echo "$file is not installed"; exit 1; }
done
[ "$(cd "$SRC" && git ls-files firmware | wc -l)" -eq "$(find "$prefix/share/coeval/firmware" -type f | wc -l)" ] ||
	[ ! -e "$SRC/.git" ] || { echo "other files of firmware/ are installed than are there"; exit 1; }
firmware=$(pkg-config --variable=firmwaredir coeval-firmware)
[ -e "$firmware/lib/wire/trace_ring.h" ] || { echo "coeval-firmware: nothing is in $firmware"; exit 1; }
[[ $("$prefix/bin/coeval" task bench --help) == *'usage: coeval task bench'* ]] || { echo "coeval-lab is not found"; exit 1; }

# The command alone says what it lacks.
cp "$prefix/bin/coeval" alone
status=0
./alone task bench x.json 2>lacks || status=$?
[ $status -eq 4 ] && grep -q 'coeval-lab is not installed' lacks || { echo "exit status $status: $(cat lacks)"; exit 1; }

# The programs
examples=$prefix/share/coeval/examples/library
warn=(-std=c11 -D_DEFAULT_SOURCE -Wall -Wextra -Werror)
private="$(pkg-config --libs $(pkg-config --print-requires-private coeval)) -lm -pthread"
for name in merged server; do
	lines=$(wc -l <"$examples/$name.c")
	[ "$lines" -le 100 ] || { echo "$name.c has $lines lines"; exit 1; }
	"$CC" "${warn[@]}" ${SANITIZE-} "$examples/$name.c" -o $name $(pkg-config --cflags --libs coeval)
done
"$CC" "${warn[@]}" ${SANITIZE-} -Wl,--gc-sections "$examples/merged.c" -o merged-static $(pkg-config --cflags coeval) "$libs/libcoeval.a" \
	$private
world=$prefix/share/coeval/examples/worlds/nominal.yaml
"$CC" "${warn[@]}" ${SANITIZE-} "$SRC/tests/boundary/world.c" -o world $(pkg-config --cflags --libs coeval-sim)
"$CC" "${warn[@]}" ${SANITIZE-} "$SRC/tests/boundary/world.c" -o world-static $(pkg-config --cflags coeval-sim) "$libs/libcoeval-sim.a" "$libs/libcoeval.a" \
	$private
for name in merged world; do
	[[ $(ldd ./$name) == *libcoeval* ]] || { echo "$name is static"; exit 1; }
	[[ $(ldd ./$name-static) != *libcoeval* ]] || { echo "$name-static is shared"; exit 1; }
done

# One session by the command and by either library
"$coeval" sim "$world" -o s --duration 20s >/dev/null
./world "$world" s-shared
./world-static "$world" s-static
"$coeval" sync s >/dev/null
for other in s-shared s-static; do
	"$coeval" sync $other >/dev/null
	cmp <("$coeval" show s --json) <("$coeval" show $other --json) || { echo "$other differs"; exit 1; }
done

# What `coeval show` says
python3 - <(exec "$coeval" show s --json) >shown <<'END'
import json, sys
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["name"] != "levels":
        print(r["t_ns"], "unknown" if r["bound_ns"] is None else r["bound_ns"], r["node"], r["kind"])
END
[ "$(wc -l <shown)" -gt 500 ] || { echo "show: $(wc -l <shown) records"; exit 1; }
./merged s >merged.out
./merged-static s >merged-static.out
cmp shown merged.out
cmp shown merged-static.out
if [ ! "${SANITIZE-}" ]; then
	python3 "$examples/merged.py" s >merged-py.out
	cmp shown merged-py.out
fi

# The server: a range, errors, and one that is cancelled
printf '%s\n' 'range 0 1' "open $root/s" 'range 2000000000 3000000000' 'range 0 9223372036854775807' cancel 'dance' "open $root/none" |
	./server >server.out
awk '$1 >= 2000000000 && $1 <= 3000000000' shown >range
sed -n '/^ok/,$p' server.out | sed -e 1d | sed '/^ok/,$d' | sed 's/ 9223372036854775807 / unknown /' >server.range
# a range begins with the levels that hold there
grep -v '^2000000000 .* edge$' server.range | cmp range - || { echo "server: another range"; exit 1; }
answers=$(grep -E '^(ok|error)' server.out | sed 's/:.*//' | paste -sd,)
[ "$answers" = 'error usage,ok,ok,error cancelled,ok,error usage,error missing' ] || { echo "server: $answers"; exit 1; }

# A session that has ended, followed: what it holds once another follower has kept what it found
"$coeval" sync --follow s >/dev/null
./merged s | sort >settled
printf '%s\n' "follow $root/s" | ./server | sed 's/ 9223372036854775807 / unknown /' | sort >followed
grep -qx ok followed || { echo "server: follow: $(grep error followed)"; exit 1; }
comm -23 settled followed | head | sed 's/^/not followed: /' | grep . && exit 1
# restated levels are edges, too
comm -13 settled followed | grep -v -e ' edge$' -e '^ok$' | head | sed 's/^/followed, and not there: /' | grep . && exit 1
exit 0
