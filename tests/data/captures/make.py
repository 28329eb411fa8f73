#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the captures beside this file, byte for byte the same each time: `make.py` writes them where it lies, `make.py DIR` to DIR.

They have the paths of the real captures that a test reads as well where they are at hand. Needs arm-none-eabi-gcc for the ELF file alone.
"""
import json
import os
import random
import struct
import subprocess
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = sys.argv[1] if len(sys.argv) > 1 else HERE


def path(name):
    at = os.path.join(OUT, name)
    os.makedirs(os.path.dirname(at), exist_ok=True)
    return at


def write(name, data):
    with open(path(name), "wb") as f:
        f.write(data)


def write_sr(name, rate, lines, samples):
    """A sigrok session; lines: {number from 1: name}."""
    text = "[global]\nsigrok version=0.5.2\n\n[device 1]\ncapturefile=logic-1\ntotal probes=8\nsamplerate=%s\n" % rate
    text += "".join("probe%d=%s\n" % line for line in sorted(lines.items())) + "unitsize=1\n"
    with zipfile.ZipFile(path(name), "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for entry, data in (("version", b"2"), ("metadata", text.encode()), ("logic-1-1", bytes(samples))):
            z.writestr(zipfile.ZipInfo(entry, (2026, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED, 9)


# ---- a radio's second pulses: the analyzer runs 514.9 ppm fast, the receiver's edges come 5 ms too late or early

def second_pulses(seconds):
    rate, draw = 10000, random.Random(77)
    samples, level_until = bytearray(seconds * rate), []
    for second in range(seconds):
        if second % 60 == 59:
            continue
        begin = (second + 0.31 + draw.uniform(-0.005, 0.005)) * (1 + 514.9e-6)
        level_until.append((begin, begin + draw.choice((0.1, 0.2)) + draw.uniform(-0.005, 0.005)))
    for begin, end in level_until:
        a, b = int(begin * rate), min(int(end * rate), len(samples))
        if a < b:
            samples[a:b] = b"\2" * (b - a)
    write_sr("sigrok/dcf77/dcf77_%ds.sr" % seconds, "10 kHz", {1: "PON", 2: "DATA"}, samples)


# ---- a CC1101's SPI: registers after a reset (data sheet, table 45), then written and read back

RESET = bytes.fromhex("292e3f07d391ff04450000" "0f001ec4ec8c220222f84707" "3004366c034091" "876bf8" "5610a90a200d41" "00597f3f88310b")


def spi(name, transfers):
    """transfers: pairs of what the host says and what the chip answers; 2 MHz at 16 MHz."""
    out = bytearray()

    def put(n, mosi=0, clk=0, miso=0, cs=0):
        out.extend(bytes([mosi | clk << 1 | miso << 2 | cs << 5]) * n)
    put(40, cs=1)
    for mosi, miso in transfers:
        put(16)
        for said, answered in zip(mosi, miso):
            for bit in range(7, -1, -1):
                a, b = said >> bit & 1, answered >> bit & 1
                put(4, a, 0, b)
                put(4, a, 1, b)
            put(6)
        put(10)
        put(40, cs=1)
    write_sr(name, "16 MHz", {1: "MOSI", 2: "CLK", 3: "MISO", 4: "GDO2", 5: "GDO0", 6: "CS"}, out)


def radio():
    free = b"\x0f"  # the status byte: idle, room for 15 or more bytes to send
    none = b"\0"    # idle, nothing received
    spi("sigrok/cc1101/cc1101-burst-read.sr", [(b"\xc0" + bytes(len(RESET)), none + RESET)])
    table = bytes(range(1, 33))
    spi("sigrok/cc1101/cc1101-burst-write.sr",
        [(b"\x40" + table, free * 33), (b"\xc0" + bytes(32), none + table)])
    spi("sigrok/cc1101/cc1101-command-strobe.sr", [(bytes([s]), free) for s in (0x36, 0x3A, 0x3B, 0x3D)])
    pairs = []
    for at in (*range(0x1B), *range(0x1E, 0x29)):  # sigrok spells AGCCTRL otherwise
        pairs += [(bytes([0x80 | at, 0]), none + RESET[at:at + 1])]
        pairs += [(bytes([at, RESET[at] ^ 1]), free * 2), (bytes([0x80 | at, 0]), none + bytes([RESET[at] ^ 1]))]
    spi("sigrok/cc1101/cc1101-read-write.sr", pairs)


# ---- serial text: 115200 baud, in ns; the first row is the level at the beginning, one row repeats the one before

def serial_text():
    rows, t, level, bit = ["Time [s],UART", "0.000000000,0", "1.250000000,1"], 1300000000, 1, 1e9 / 115200
    draw = random.Random(4)

    def put(at, now):
        rows.append("%d.%09d,%d" % (at // 10**9, at % 10**9, now))
    for k in range(40):
        text = b"Startup!\r\n" if k == 0 else b"Sample=%d\r\n" % (k * k)
        for n, byte in enumerate(text):
            for i, now in enumerate([0] + [byte >> b & 1 for b in range(8)] + [1]):
                if now != level:
                    put(int(t + (10 * n + i) * bit), now)
                    level = now
        if k == 0:
            put(t + 2000000, level)
        t += 20000000 + draw.randrange(1000)
    write("uart-edges/uart_raw2.csv", "\r\n".join(rows + [""]).encode())


# ---- a RocketLogger's file, version 2: two lines, two currents, two voltages

def power():
    block, blocks, step = 20, 5, 100352
    lines = (("DI1", 3), ("I1L_valid", 4))
    channels = (("I1H", 2, -9, 0xFFFF), ("I1L", 2, -11, 1), ("V1", 1, -8, 0xFFFF), ("V2", 1, -8, 0xFFFF))
    comment = b"drawn by make.py"
    out = bytearray(struct.pack("<IHHIIQH6sqqIHH", 0x444C5225, 2, 56 + len(comment) + 28 * (len(lines) + len(channels)), block, blocks,
                                block * blocks, 1000, bytes([2, 0, 0, 0, 0, 1]), 1600000000, 0, len(comment), len(lines), len(channels)))
    out += comment
    for name, unit in lines:
        out += struct.pack("<iihH16s", unit, 0, 0, 0xFFFF, name.encode())
    for name, unit, scale, link in channels:
        out += struct.pack("<iihH16s", unit, scale, 4, link, name.encode())
    for k in range(blocks):
        mono = 7 * 10**9 + k * block * step * 10
        for stamp in (1600000000 * 10**9 + mono, mono):
            out += struct.pack("<qq", stamp // 10**9, stamp % 10**9)
        for i in range(block):
            n = k * block + i
            out += struct.pack("<Iiiii", n // 10 & 1, 7000 + n, 300 - n, 330000000 + 1000 * n, -n)
    write("rocketlogger/test_full.rld", bytes(out))
    write("rocketlogger/test_truncated.rld", bytes(out[:-10]))


# ---- SWO: the trace of blink.c on a Cortex-M3, in TPIU frames; stream 2 is another source's; at 8 MBd

def swo():
    there, here = "sigrok/stm32f105-swo/", os.path.join(HERE, "blink.c")
    subprocess.run(["arm-none-eabi-gcc", "-g", "-Og", "-mcpu=cortex-m3", "-mthumb", "-nostdlib", "-ffreestanding", "-fno-unroll-loops",
                    "-ffile-prefix-map=%s=." % HERE, "-Wl,--build-id=none", "-Wl,--section-start=.vectors=0x8000000",
                    "-Wl,-Ttext=0x80001c0", "-Wl,-Tbss=0x20000000", "-Wl,-e,reset", here, "-o", path(there + "trace_example.elf")], check=True)
    names = {}
    for line in subprocess.run(["arm-none-eabi-nm", path(there + "trace_example.elf")], check=True, capture_output=True, text=True).stdout.split("\n"):
        if line:
            names[line.split()[2]] = int(line.split()[0], 16)
    packets, marks, itm, draw = [], [], bytearray(), random.Random(9)

    def put(kind, args, data):
        packets.append({"off": len(itm), "type": kind, "args": args})
        itm.extend(data)

    def pc(function):
        at = names[function] + 2 * draw.randrange(6)
        put("PC", [at], b"\x17" + struct.pack("<I", at))

    def software(port, size, value):
        put("SW", [port, size, value], bytes([port << 3 | (1, 2, 3)[size.bit_length() - 1]]) + value.to_bytes(size, "little"))

    def exception(number, what):
        put("EXC", [number, what], bytes([0x0E, number & 255, number >> 8 & 1 | what << 4]))
    for k in range(60):
        for _ in range(draw.randrange(2, 6)):
            pc("delay")
        if k % 6 == 5:
            marks.append(len(itm))
            for letter in b"On\n" if k % 12 == 5 else b"Off\n":
                software(0, 1, letter)
        if k % 9 == 4:
            exception(44, 1)
            pc("bubble_sort")
            for value in (256, 512):
                put("DADDR", [0, 2, names["order"] & 0xFFFF], bytes([0x4E]) + struct.pack("<H", names["order"] & 0xFFFF))
                put("DVAL", [0, "W", 4, value], b"\x8F" + struct.pack("<I", value))
            put("DPC", [1, 4, names["bubble_sort"]], b"\x57" + struct.pack("<I", names["bubble_sort"]))
            software(1, 4, k)
            exception(44, 2)
            exception(0, 3)
        if k % 20 == 19:
            put("OVERFLOW", [], b"\x70")
    while len(itm) % 14:  # to the end of a frame
        if len(itm) % 2:
            pc("delay")
        else:
            software(2, 1, 7)
    with open(path(there + "expected-stream1-packets.jsonl"), "w") as f:
        f.writelines(json.dumps(p) + "\n" for p in packets)
    frames, starts, frame_of, at = bytearray(), [], {}, 0
    while at < len(itm):
        if len(starts) % 16 == 0:
            frames += b"\xff\xff\xff\x7f"
        of_other = len(starts) % 8 == 7
        data = bytes(draw.randrange(256) for _ in range(14)) if of_other else bytes(itm[at:at + 14])
        data = data + bytes(14 - len(data))
        if not of_other:
            for i in range(14):
                frame_of[at + i] = len(frames)
            at += 14
        frame = bytearray([(2 if of_other else 1) << 1 | 1]) + data + b"\0"
        for i in range(2, 15, 2):
            frame[15] |= (frame[i] & 1) << i // 2
            frame[i] &= 0xFE
        starts.append(len(frames))
        frames += frame
    write(there + "tpiu_uart.bin", bytes(frames))
    swo_line, begins = bytearray(b"\1" * 2400), []
    for n, byte in enumerate(frames):
        if n in starts:
            swo_line += b"\1" * draw.randrange(0, 240)
        begins.append(len(swo_line))
        for bit in [0] + [byte >> b & 1 for b in range(8)] + [1]:
            swo_line += bytes([bit]) * 3
    swo_line += b"\1" * 2400
    samples = bytearray(b << 4 for b in swo_line)
    for mark in marks:
        for i in range(begins[frame_of[mark]] - LATENCY, len(samples)):
            samples[i] ^= 0x40
    write_sr(there + "trace_example.sr", "24 MHz", {3: "PC9", 5: "SWO", 7: "PC8"}, samples)


LATENCY = 40  # samples from the pin's change to the first byte of the frame that holds its print


# ---- CTF as LTTng lays it out: two hosts that send TCP segments to each other, and a program whose functions were instrumented

METADATA = """/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := uint8_t;
typealias integer { size = 16; align = 8; } := uint16_t;
typealias integer { size = 32; align = 8; } := uint32_t;
typealias integer { size = 32; align = 8; signed = true; } := int32_t;
typealias integer { size = 64; align = 8; } := uint64_t;
typealias integer { size = 64; align = 8; base = 16; } := address_t;
typealias integer { size = 8; align = 8; encoding = UTF8; } := char_t;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; uint32_t stream_id; }; };
env { hostname = "%(host)s"; domain = "%(domain)s"; tracer_name = "lttng-%(tracer)s"; tracer_major = 2; tracer_minor = 3; };
clock { name = monotonic; freq = 1000000000; offset = %(offset)d; };
typealias integer { size = 64; align = 8; map = clock.monotonic.value; } := stamp_t;
stream {
	id = 0;
	packet.context := struct {
		stamp_t timestamp_begin; stamp_t timestamp_end; uint64_t content_size; uint64_t packet_size; uint64_t events_discarded; uint32_t cpu_id;
	};
	event.header := struct { uint16_t id; stamp_t timestamp; };
%(context)s};
%(events)s"""
SWITCH = "char_t prev_comm[16]; int32_t prev_tid; char_t next_comm[16]; int32_t next_tid;"
SEGMENT = "address_t sk; uint32_t seq; uint32_t ack_seq; uint16_t flags;"


def write_ctf(name, host, domain, offset, context, classes, events, packets=4):
    """events: (time, class, bytes) in order, bytes from the stream's context on."""
    declared = "".join("event { name = %s; id = %d; stream_id = 0; fields := struct { %s }; };\n" % (n, i, fields) for i, (n, fields) in enumerate(classes))
    write(name + "/metadata", (METADATA % dict(host=host, domain=domain, tracer="modules" if domain == "kernel" else "ust", offset=offset,
                                               context=context, events=declared)).encode())
    stream, per = b"", -(-len(events) // packets)
    for k in range(0, len(events), per):
        some = events[k:k + per]
        body = b"".join(struct.pack("<HQ", number, time) + data for time, number, data in some)
        bits = 8 * (52 + len(body))
        stream += struct.pack("<IIQQQQQI", 0xC1FC1FC1, 0, some[0][0], some[-1][0], bits, bits, 0, 0) + body
    write(name + "/channel0_0", stream)


def two_hosts():
    """VM3 is 40 ppm slow; each segment is 150 to 900 us on its way."""
    draw, events = random.Random(12), ([], [])
    classes = (("sched_switch", SWITCH), ("inet_sock_local_in", SEGMENT), ("inet_sock_local_out", SEGMENT))

    def put(host, time, number, data):
        events[host].append((5 * 10**9 + time if host == 0 else 9 * 10**9 + int((time - 2 * 10**9) * (1 - 40e-6)), number, data))
    for k in range(48):
        time, sender = int(2.725e9 + k * 0.36e9), k % 2
        segment = struct.pack("<QIIH", 0xFFFF880000000000 + sender, 1000 + 100 * k, 5000 + 100 * k, 0x18)
        put(sender, time, 2, segment)
        put(1 - sender, time + draw.randrange(150000, 900000), 1, segment)
    for host, (begin, end) in enumerate(((0, 23 * 10**9), (2.52e9, 19.9e9))):
        names = ((b"swapper/0", 0), (b"scp", 4000 + host), (b"sshd", 900 + host))
        time, now = int(begin), names[0]
        while time < end:
            then = names[draw.randrange(3)]
            if then != now:
                put(host, time, 0, struct.pack("<16si16si", *now, *then))
                now = then
            time += draw.randrange(1, 80000000)
    for host, name in enumerate(("scp_src", "scp_dest")):
        write_ctf("ctf/synctraces/" + name, "VM%d" % (2 * host + 1), "kernel", 1600000000 * 10**9 + 3 * 10**9 * (1 - host), "", classes, sorted(events[host]))


def functions():
    """The trace ends in the middle of functions; none calls itself, so that a count is simple."""
    names = ["main", "draw", "idle", "gear", "tooth", "event"]
    at = {n: 0x401000 + 0x40 * i for i, n in enumerate(names)}
    write("ctf/cyg-profile/cyg-profile-mapping.txt", "".join("%016x T %s\n" % (at[n], n) for n in names).encode())
    context = "\tevent.context := struct { char_t procname[17]; int32_t vtid; };\n"
    for name, fields, tid in (("glxgears-cyg-profile", "address_t addr; address_t call_site;", 501), ("glxgears-cyg-profile-fast", "address_t addr;", 502)):
        draw, time, events, stack = random.Random(tid), 10**9, [], []

        def put(entry, function):
            data = struct.pack("<17si", b"gears", tid) + struct.pack("<Q", at[function]) + (struct.pack("<Q", 0x401008) if "site" in fields else b"")
            events.append((time, 0 if entry else 1, data if entry or "site" in fields else data[:21]))
        for _ in range(400):
            time += draw.randrange(200, 90000)
            if stack and draw.randrange(2) or len(stack) == 6:
                put(False, stack.pop())
            else:
                stack.append(draw.choice([n for n in names if n not in stack]))
                put(True, stack[-1])
        classes = (('"lttng_ust_cyg_profile%s:func_entry"' % ("_fast" if tid == 502 else ""), fields),
                   ('"lttng_ust_cyg_profile%s:func_exit"' % ("_fast" if tid == 502 else ""), fields if tid == 501 else ""))
        write_ctf("ctf/cyg-profile/" + name, "bench", "ust", 1600000000 * 10**9, context, classes, events, 1)


for n in (20, 120, 480):
    second_pulses(n)
radio()
serial_text()
power()
swo()
two_hosts()
functions()
