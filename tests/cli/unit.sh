# SPDX-License-Identifier: MIT
# room: core
# The systemd unit of an observer gives a capture what it needs, and little else.
command -v systemd-analyze >/dev/null || skip "systemd-analyze is not installed; apt-get install systemd"
systemd-analyze security --help 2>/dev/null | grep -q -e --offline || skip "systemd-analyze is too old to look at a unit that is not loaded"

unit=$PWD/coeval-capture@.service
sed "s|@CMAKE_INSTALL_FULL_BINDIR@|$(dirname "$(command -v coeval)")|" "$SRC/systemd/coeval-capture@.service.in" >"$unit"
failed=0

systemd-analyze verify "$unit" 2>&1 | grep -v 'man coeval' && failed=1
figure=$(systemd-analyze security --offline=true "$unit" 2>&1 | sed -n 's/.*exposure level.*: \([0-9.]*\) .*/\1/p')
echo "exposure: $figure"
awk -v f="$figure" 'BEGIN { exit !(f != "" && f < 4.0) }' || { echo "it should be below 4.0"; failed=1; }

# What a capture calls is allowed.
if ! strace -o /dev/null true 2>/dev/null; then
	echo "SKIP $NAME: strace is not installed (apt-get install strace), or may not trace: the system calls of a capture were not compared with the filter" >&3
else
	head -c 50000 /dev/zero >samples.raw
	# a sanitizer that looks for leaks does not go with strace
	ASAN_OPTIONS=detect_leaks=0 timeout 60 strace -f -qq -o calls coeval capture -d file --device samples.raw --rate 10k --lines 8 --name a -o s \
		--control control --metrics metrics >/dev/null || { echo "the capture failed"; failed=1; }
	list() { # a set of systemd's with those that it is made of
		systemd-analyze syscall-filter "$1" | sed '1d; s/^ *//; /^#/d; /^$/d' | while read -r name; do
			case $name in @*) list "$name" ;; *) echo "$name" ;; esac
		done
	}
	list @system-service | sort -u >allowed
	printf '%s\n' adjtimex clock_adjtime | sort -u >asked
	list @privileged | sort -u >denied
	grep -oE '^[0-9]+ +[a-z0-9_]+\(' calls | sed -E 's/^[0-9]+ +//; s/\($//' | sort -u | grep -v '^execve$' |
		comm -23 - <(comm -23 allowed denied | sort -u - asked) >refused
	[ ! -s refused ] || { echo "the filter refuses: $(tr '\n' ' ' <refused)"; failed=1; }
	[ "$(wc -l <allowed)" -gt 100 ] || { echo "the filter could not be read"; failed=1; }
fi
exit $failed
