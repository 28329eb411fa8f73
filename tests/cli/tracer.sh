# SPDX-License-Identifier: MIT
# room: firmware
# The tracer as built into a program: every option gives the same events, disabled ones produce no code, and invalid ones are refused.
need cc
tracer=$SRC/firmware/lib/tracer
flags=(-std=c99 -pedantic -Wall -Wextra -Wshadow -Wconversion -Werror -I"$SRC/firmware/lib" -I"$SRC/firmware/boards" -I"$SRC/examples/tracer" -I.)
sources=("$tracer"/tracer.c "$tracer"/drain.c "$tracer"/metadata.c)

# program OPTION...: what it traces, shown
shown() {
	rm -rf trace && mkdir trace
	cc "${flags[@]}" "$@" "$SRC/examples/tracer/blink.c" "${sources[@]}" -o blink && ./blink trace && coeval show trace
}
shown -O2 >plain
wc -l <plain
grep -c tracer_clock plain
for option in -O0 -DTRACER_SMALL -DTRACER_SWITCHES=1 -DTRACER_PACKET_BYTES=256; do
	shown -O2 "$option" | cmp - plain || echo "$option: other events"
done

# whole times: no clock event is needed
grep -v tracer_clock plain | sed 's/^[^]]*\] //' >events
clock='-DTRACER_CLOCK(t)=(UINT64_C(0x1234500000000)+(uint32_t)(*(t)->platform.counter+0x100000u))'
for option in -O2 "$clock"; do
	shown -O2 -DTRACER_STAMP_BITS=64 "$option" | sed 's/^[^]]*\] //' | cmp - events && echo 'the same with whole times'
done

# four of nine events are left
shown -O2 -DTRACER_OFF_led -DTRACER_OFF_started | grep -v tracer_clock | sed 's/^[^]]*\] blink \([a-z]*\):.*/\1/' | sort | uniq -c | sed 's/^ *//'
shown -O2 -DTRACER_OFF | wc -l

# an event that no packet holds
shown -O2 -DTRACER_PACKET_BYTES=64 >refused 2>&1 && echo 'it fits?'
grep -c 'tracer_event_fits_a_packet_measured' refused | sed 's/^[1-9].*/refused/'

# what is off is a return and nothing else
cat >off.c <<'END'
#define TRACER_OFF_led 1
#define TRACER_POINTS "blink_points.h"
#include "tracer/points.h"
void off(struct tracer *t);
void nothing(struct tracer *t);
void off(struct tracer *t)
{
	trace_led(t, trace_level_high);
}
void nothing(struct tracer *t)
{
	(void)t;
}
END
cc "${flags[@]}" -O2 -fcf-protection=none -S off.c -o - 2>/dev/null | awk '/^[a-z]+:/ { name = $1 } /^\t[a-z]/ && !/cfi/ { size[name] = size[name] " " $1 }
	END { print (size["off:"] == size["nothing:"] && size["off:"] != "" ? "off costs nothing" : "off costs" size["off:"]) }'

# the cores whose compilers are here; on the one that is measured against others, the limit
"$tracer/sizes" sizes >sizes.out 2>&1 || [ $? -eq 77 ] || cat sizes.out
awk '$1 == "m4" && $2 + $4 >= 1300 { print "Cortex-M4: " $2 + $4 " bytes" } $8 == "unbounded" { print }' sizes.out
