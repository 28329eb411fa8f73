#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The Debian packages hold what they promise: tests/packages.sh [bytes] [SUITE...]
#
#   bytes             two builds, of different directories, masks, time zones and languages, give the same bytes
#   bookworm, trixie  the packages are built in a minimal tree of that release; in another one apt installs each by itself, it is
#                     tried, and removed without a trace
#
# Without arguments all of these. A release takes 3 GB below TMPDIR (/var/tmp) meanwhile, root's rights, and a mirror: the one that
# this machine uses, or COEVAL_MIRROR. Exit status 77: all was skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

scratch=$(mktemp -d -p "${TMPDIR:-/var/tmp}" coeval-packages.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
version=$(sed -n '1s/^coeval (\(.*\)) .*/\1/p' debian/changelog)
packages=$(sed -n 's/^Package: //p' debian/control)
passed=0 failed=0 skipped=0

pass() { passed=$((passed + 1)); echo "ok    $*"; }
fail() { failed=$((failed + 1)); echo "FAILED $*"; }
skip() { skipped=$((skipped + 1)); echo "SKIP $*"; }

bytes() {
	local one=$scratch/one other=$scratch/another/place deb n=0

	mkdir -p "$other"
	if ! (umask 022 && LC_ALL=C TZ=UTC scripts/deb "$one") >"$scratch/log" 2>&1 ||
		! (umask 002 && LC_ALL=C.UTF-8 TZ=Asia/Tokyo scripts/deb "$other") >"$scratch/log" 2>&1; then
		tail -n 60 "$scratch/log"
		fail "bytes: the packages cannot be built"
		return
	fi
	for deb in "$one"/*.deb "$one"/*.tar.*; do
		n=$((n + 1))
		cmp "$deb" "$other/${deb##*/}" || fail "bytes: ${deb##*/} depends on more than the sources"
	done
	pass "bytes: $n files compared"
	rm -rf "$one" "$other"
}

# in_tree TREE COMMAND...: mounts of its own, so that none remains
in_tree() {
	unshare --mount --pid --fork --kill-child bash -c 'mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" &&
		exec chroot "$0" env -i -C /root PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"' "$@"
}

# logged WHAT COMMAND...
logged() {
	local what=$1
	shift
	"$@" >"$scratch/log" 2>&1 </dev/null && return
	tail -n 40 "$scratch/log"
	fail "$what"
	return 1
}

# What trying a package takes besides.
tools() {
	case $1 in
	libcoeval-dev | coeval-firmware) echo gcc libc6-dev pkgconf ;;
	esac
}

# What a package is for, as commands for its tree. The sources are in /srv/source.
attempt() {
	echo 'export multiarch=$(dpkg --print-architecture); mkdir /srv/try; cd /srv/try'
	case $1 in
	coeval)
		echo "[ \"\$(coeval --version)\" = \"coeval $version\" ]"
		cat <<-'END'
			coeval demo -o demo --seconds 8 | grep 'Bounds that hold the true time'
			cd /usr/share/doc/coeval
			coeval import -o /srv/try/lab examples/two-analyzers/*.vcd --start 2026-03-01T09:30:00+-200ms
			coeval sync /srv/try/lab --pulse PPS:rise:1s | grep good
			for page in coeval coeval-export coeval-session-verify; do gzip -t /usr/share/man/man1/$page.1.gz; done
			bash -c '. /usr/share/bash-completion/completions/coeval; complete -p coeval'
			id coeval | grep plugdev
			[ -e /usr/lib/udev/rules.d/60-coeval.rules ]
			grep 'ExecStart=/usr/bin/coeval capture' /usr/lib/systemd/system/coeval-capture@.service
			for other in 'task bench none.json' 'demo --testbed'; do { coeval $other || :; } 2>&1 | grep 'install the package coeval-'; done
		END
		;;
	python3-coeval)
		cat <<-'END'
			python3 -c 'import coeval
			s = coeval.simulate("/srv/source/examples/notebooks/world.yaml", "s")
			assert {v.verdict for v in s.sync().values()} == {"good"} and len(s.edges().rows()) > 100'
		END
		;;
	libcoeval0 | libcoeval-sim0)
		echo "ldd /usr/lib/*/${1%0}.so.0 | tee libs"
		echo '[ -s libs ]; ! grep "not found" libs'
		;;
	libcoeval-dev)
		cat <<-'END'
			cp /srv/source/examples/library/merged.c /srv/source/tests/boundary/world.c .
			cc merged.c -o merged $(pkg-config --cflags --libs coeval)
			cc world.c -o world $(pkg-config --cflags --libs coeval-sim)
			ldd ./merged | grep libcoeval.so.0
			./world /srv/source/examples/worlds/nominal.yaml session
			./merged session >records
			[ "$(wc -l <records)" -gt 500 ]
			private="$(pkg-config --libs $(pkg-config --print-requires-private coeval)) -lm -pthread"
			cc merged.c -o merged-static $(pkg-config --cflags coeval) -Wl,--gc-sections /usr/lib/*/libcoeval.a $private
			./merged-static session | cmp records -
		END
		;;
	coeval-firmware)
		cat <<-'END'
			firmware=$(pkg-config --variable=firmwaredir coeval-firmware)
			[ -s "$firmware/apps/fx2/fx2.ihx" ]
			echo '#include <wire/trace_ring.h>' | cc -x c - -fsyntax-only $(pkg-config --cflags coeval-firmware)
			cc -c "$firmware/lib/tracer/tracer.c" -o tracer.o $(pkg-config --cflags coeval-firmware)
			[ "$multiarch" != amd64 ] || { "$firmware/build" ett ett && [ -s ett/ett.img ]; }
		END
		;;
	coeval-lab)
		cat <<-'END'
			/usr/libexec/coeval/coeval-lab --help
			coeval task bench /usr/share/doc/coeval/examples/taskbench/nucleo-l476.json --dry-run
		END
		;;
	coeval-simbed)
		cat <<-'END'
			/usr/libexec/coeval/coeval-simbed --devices 2 --loaded -- coeval doctor devices
			coeval demo --testbed --nodes 2 --seconds 8 -o bed
			coeval info bed/joined
		END
		;;
	*) echo "echo nothing is known of $1; false" ;;
	esac
}

# The packages of a release, built where only minbase and what scripts/install-deps names is: TREE DEBS
build() {
	scripts/deb --source "$1/srv/source"
	logged "$suite: build" in_tree "$1" bash -euc 'apt-get update -q; apt-get install -q -y make; cd /srv/source; make deb' || return
	mkdir "$2"
	cp "$1"/srv/source/build/deb/*.deb "$2"
	in_tree "$1" bash -euc 'cd /srv/source/build/deb; dpkg-scanpackages -m . 2>/dev/null' >"$2/Packages"
	pass "$suite: built, and lintian finds nothing"
}

# Each package alone: TREE
install_each() {
	local package left

	for package in $packages; do
		rm -rf "$1/srv/try"
		in_tree "$1" dpkg-query -W >"$scratch/before"
		logged "$suite: $package: install" in_tree "$1" apt-get install -q -y "$package" $(tools "$package") || return 0
		if logged "$suite: $package: try" in_tree "$1" bash -euxo pipefail -c "$(attempt "$package")"; then
			pass "$suite: $package: works"
		fi
		logged "$suite: $package: remove" in_tree "$1" apt-get purge -q -y --autoremove "$package" $(tools "$package") || return 0
		rm -rf "$1/srv/try"
		in_tree "$1" dpkg-query -W >"$scratch/after"
		left=$(find "$1" -xdev -path "$1/srv" -prune -o -name '*coeval*' -print)
		if [ "$left" ] || ! diff "$scratch/before" "$scratch/after"; then
			fail "$suite: $package: left behind: $left"
		fi
	done
}

release() {
	local suite=$1 mirror tree=$scratch/tree

	[ "$(id -u)" -eq 0 ] || { skip "$suite: a tree takes root's rights"; return; }
	command -v debootstrap >/dev/null || { skip "$suite: debootstrap is not installed; apt-get install debootstrap"; return; }
	mirror=${COEVAL_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' | head -n 1)}
	mirror=${mirror:-http://deb.debian.org/debian} mirror=${mirror%/}
	if ! /usr/lib/apt/apt-helper download-file "$mirror/dists/$suite/InRelease" "$scratch/InRelease" >"$scratch/log" 2>&1; then
		skip "$suite: $mirror/dists/$suite cannot be reached: $(tail -n 1 "$scratch/log")"
		return
	fi
	eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
	export http_proxy=${http_proxy-}
	logged "$suite: debootstrap" debootstrap --variant=minbase "$suite" "$tree" "$mirror" || return 0
	apt-config dump | grep -E '^Acquire::(http|https|Check|Retries)' >"$tree/etc/apt/apt.conf.d/90host" || :
	printf '%s "false";\n' APT::Install-Recommends APT::AutoRemove::RecommendsImportant APT::AutoRemove::SuggestsImportant \
		>>"$tree/etc/apt/apt.conf.d/90host"
	cp -a "$tree" "$tree-build"
	if build "$tree-build" "$tree/srv/packages"; then
		rm -rf "$tree-build"
		scripts/deb --source "$tree/srv/source"
		echo 'deb [trusted=yes] file:/srv/packages ./' >"$tree/etc/apt/sources.list.d/here.list"
		if logged "$suite: apt-get update" in_tree "$tree" apt-get update -q; then
			install_each "$tree"
		fi
	fi
	rm -rf "$tree" "$tree-build"
}

[ $# -gt 0 ] || set -- bytes bookworm trixie
for part; do
	case $part in
	bytes) bytes ;;
	*) release "$part" ;;
	esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] || exit 1
[ "$passed" -gt 0 ] || exit 77
