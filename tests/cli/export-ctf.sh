# SPDX-License-Identifier: MIT
# room: export
# A trace is the same after export as CTF: records, fields, scopes, streams, gaps.
need python3

# Fields that refer to headers, or change from packet to packet; contexts that a gap has no values for.
python3 - <<'PYTHON'
import os
import struct

METADATA = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 16; align = 8; } := u16;
typealias integer { size = 32; align = 8; } := u32;
typealias integer { size = 64; align = 8; map = clock.c.value; } := t64;
typealias integer { size = 8; align = 8; encoding = UTF8; } := ch;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u8 stream_id; u8 shared; }; };
clock { name = c; freq = 1000000000; offset_s = 1500000000; };
stream {
	id = 0;
	packet.context := struct {
		u32 content_size; u32 packet_size; t64 timestamp_begin; t64 timestamp_end; u32 events_discarded;
		integer { size = 3; align = 8; signed = true; base = 10; } level;
		integer { size = 5; align = 1; base = 2; } flags;
		ch name[4];
		integer { size = 8; align = 8; signed = true; } packet_seq_num;
	};
	event.header := struct { u8 id; t64 timestamp; u8 count; enum : u8 { small = 0, big = 1 ... 9, } size; };
	event.context := struct { u16 tid; ch comm[4]; u8 depth; u16 stack[depth]; };
};
event {
	name = refers; id = 0; stream_id = 0;
	context := struct { u8 n; };
	fields := struct {
		u8 before[stream.event.header.count];
		variant <stream.event.header.size> { u8 small; u32 big; } v;
		u8 after[event.context.n];
		u8 shared[trace.packet.header.shared];
		struct { u8 len; u16 in[len]; } pairs[2];
		u8 grid[2][3];
		ch text[event.context.n];
		ch lines[2][3];
		enum : u8 { "a b" = 1, c = 2 ... 4, } e;
		variant <e> { struct { u8 x; u8 many[count]; } c; } w;
	};
};
event { name = gap; id = 1; stream_id = 0; fields := struct { u8 id; }; };
event { name = nothing; id = 2; stream_id = 0; };
"""

def event(number, time, size, count, body):
    context = struct.pack('<H4sB', 7 + time % 3, b'ab\0\0', 2) + struct.pack('<HH', 5, 6)
    return struct.pack('<BQBB', number, time, count, size) + context + body

def refers(time, size):
    body = b'\3' + b'xy' + (struct.pack('<I', 70000) if size else b'\4') + b'123' + b'S' * 2
    body += b'\1\7\0' + b'\0' + bytes(range(6)) + b'ab\0' + b'one' + b'tw\0' + b'\3' + b'\11' + b'mn'
    return event(0, time, size, 2, body)

def packet(begin, end, discarded, level, flags, events):
    body = b''.join(events)
    n = 4 + 2 + 28 + 1 + 4 + 1 + len(body)
    head = struct.pack('<IBBIIQQI', 0xc1fc1fc1, 0, 2, n * 8, n * 8, begin, end, discarded)
    return head + bytes([level & 7 | flags << 3]) + b'dev\0\xff' + body

def trace(name, packets):
    os.mkdir(name)
    with open(name + '/metadata', 'w') as f:
        f.write(METADATA)
    with open(name + '/stream', 'wb') as f:
        f.write(b''.join(packets))
    open(name + '/other', 'wb').close()

whole = [packet(100, 200, 0, -3, 17, [refers(110, 0), refers(120, 5), event(1, 130, 0, 2, b'\5')]),
         packet(300, 400, 4, 2, 3, [event(2, 310, 1, 2, b'')]),
         packet(500, 600, 9, 2, 3, [])]
trace('odd', whole)
trace('damaged', whole + [packet(700, 800, 9, 2, 3, [refers(710, 0), event(9, 720, 0, 2, b'')]), b'no packet'])
PYTHON
coeval show damaged 2>/dev/null
traces=(odd damaged)

if [ -n "$SHARED" ]; then
	need xz
	mkdir unpacked
	for archive in "$SHARED"/traces2/{kernel,ros2}/*.tar.xz; do tar -C unpacked -xf "$archive"; done
	mapfile -t found < <(find "$SHARED"/ctf "$SHARED"/traces2/{ctf1-babeltrace,probes,ctf2-babeltrace,ctf2-rc7-tracecompass} unpacked -name metadata -printf '%h\n' |
		grep -v -e /fail/ -e /live/ | sort)
	for trace in "${found[@]}"; do
		# but what is refused
		coeval import -o try "$trace" >/dev/null 2>&1 && traces+=("$trace")
		rm -rf try
	done
	[ ${#traces[@]} -ge 100 ] || echo "only ${#traces[@]} traces found"
else
	traces+=("$SRC"/tests/data/captures/ctf/*/*/)
fi
python3 "$SRC/tests/compare_export.py" "${traces[@]}" >compared && echo "all are the same" || grep -v 'records$' compared
