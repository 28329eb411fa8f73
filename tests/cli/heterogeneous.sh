# SPDX-License-Identifier: MIT
# room: sync; full
# Eight emulated cores, Cortex-M4 and RISC-V, and a Linux process filter images together, traced into one session. The example itself fails
# if a result is wrong, a time is further from the truth than its bound, or a message came before it was sent: here that it ran, and what
# goes wrong when asked to.
need qemu-system-arm
need qemu-system-riscv32
need arm-none-eabi-gcc
need riscv64-unknown-elf-gcc
need python3
COEVAL_BINARY=$(command -v coeval)
export COEVAL_BINARY
example=$SRC/examples/heterogeneous
"$example/build" images

# Both sides of the exchange are C99 for any core.
compile() {
	for side in slave master; do
		"$@" -O2 -ffreestanding -std=c99 -pedantic -Wall -Wextra -Wshadow -Wconversion -Werror -I"$SRC/firmware/lib" -I"$SRC/firmware/boards" \
			-c "$SRC/firmware/lib/tracersync/$side.c" -o core.o || exit 1
	done
}
for core in cortex-m0plus cortex-m3 cortex-m33; do
	compile arm-none-eabi-gcc -mcpu=$core -mthumb
done
compile riscv64-unknown-elf-gcc -march=rv32imc -misa-spec=2.2 -mabi=ilp32
compile riscv64-unknown-elf-gcc -march=rv64imac -misa-spec=2.2 -mabi=lp64

try() {
	status=0
	"$example/run" "$@" images=images >log 2>&1 || status=$?
}

worked() {
	[ "$status" -eq 0 ] || { cat log ./*/*.log; exit 1; }
}

said() {
	grep -q -e "$1" log || { echo "nothing says: $1"; cat log; exit 1; }
}

try all frames=5 busy=3 rate=10
worked
[ "$(grep -c '^.* 0 contradictions' log)" = 2 ] || { cat log; exit 1; }
[ "$(grep -c ' good .* proven' log)" -ge 18 ] || { cat log; exit 1; }
# the urgent task took the processor from the filter of slaves 1 and 2, and they talked meanwhile; no other slave was disturbed
coeval show all/session --json | python3 -c '
import json, sys
filtering, preempted, words = set(), {}, 0
for r in map(json.loads, sys.stdin):
    who, name, f = r["clock"], r["name"] if r["kind"] == "event" else "", r.get("fields", {})
    if name == "filter_begin":
        filtering.add(who)
    elif name == "filter_end":
        filtering.discard(who)
    elif name == "task_switch" and f["next"]["labels"] == ["urgent"] and who in filtering:
        preempted[who] = preempted.get(who, 0) + 1
    elif name == "message_send" and f["queue"] % 4 == 3:
        words += 1
print(*sorted(preempted), "were preempted,", "and spoke" if words > 1 else words)
' >preempted
echo 'm4-1 m4-2 were preempted, and spoke' | diff - preempted || exit 1
# and that is what the tool says of it
said 'm4-[12].*: filter preempted by task urgent for '
[ -s all/calls.html ] || exit 1

# One begins again: another clock from then on. One dies in the middle of an event: what it wrote before is there.
try bad m4=3 rv32=1 frames=2 busy=0 reset=3 die=2
worked
said '^slave 3: began again, and its clock with it'
said 'rv32-3: its processor was reset; what follows is the epoch rv32-3#2'
said '^slave 2: does not answer: given up until it begins again'
said 'm4-2: it stopped in the middle of an event'
said '^rv32-3#2 .* good '
said '^m4-2 .* good '

# Two with one number: said, and the other slave is tied. Which of the two is heard depends on which began first.
try twin m4=3 rv32=0 frames=0 twin=1
said '^slave 2: has not begun'
said '^slave 1: two slaves have this id'
said '^m4-0 .* good '
