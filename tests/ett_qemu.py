#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Drives an emulated PC: boots it, presses keys, reads its text screen.

    ett_qemu.py STEP... -- QEMU ARGUMENT...

Steps, in order:
    see=TEXT    wait until TEXT stands on the screen (60 s at the most)
    key=NAME    press a key, by QEMU's name for it (ret, pgdn, slash, a)
    line=TEXT   print the row of the screen that contains TEXT
    screen      print the screen
    wait=S      wait
    stop=S      stop the emulator, and its processors with it, for that long
    out=PORT:V  write byte V to a port, both of base 16
    mark=FILE   set the first byte of FILE to 1, for whoever waits for it

Exit status: 1 if something is not seen.
"""
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

COLUMNS, ROWS = 80, 25


class Machine:
    def __init__(self, arguments, directory):
        path = os.path.join(directory, "qmp")
        self.dump = os.path.join(directory, "text")
        self.process = subprocess.Popen(
            arguments + ["-display", "none", "-qmp", f"unix:{path},server=on,wait=off"],
            stdin=subprocess.DEVNULL)
        self.socket = socket.socket(socket.AF_UNIX)
        for _ in range(200):
            try:
                self.socket.connect(path)
                break
            except OSError:
                time.sleep(0.05)
        self.file = self.socket.makefile("rw")
        self.file.readline()
        self.ask("qmp_capabilities")

    def ask(self, command, **arguments):
        self.file.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self.file.flush()
        while True:
            answer = json.loads(self.file.readline())
            if "return" in answer:
                return answer["return"]
            if "error" in answer:
                sys.exit(f"{command}: {answer['error']['desc']}")

    def screen(self):
        self.ask("pmemsave", val=0xB8000, size=2 * COLUMNS * ROWS, filename=self.dump)
        with open(self.dump, "rb") as f:
            text = f.read()[::2].decode("latin-1")
        return [text[i:i + COLUMNS].rstrip() for i in range(0, COLUMNS * ROWS, COLUMNS)]

    def see(self, text):
        until = time.time() + 60
        while time.time() < until:
            rows = self.screen()
            for row in rows:
                if text in row:
                    return row
            time.sleep(0.05)
        print(f"not seen: {text}")
        print("\n".join(rows))
        sys.exit(1)

    def press(self, key):
        self.ask("send-key", keys=[{"type": "qcode", "data": key}], **{"hold-time": 20})
        time.sleep(0.15)

    def end(self):
        try:
            self.ask("quit")
        except (OSError, ValueError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


def main():
    cut = sys.argv.index("--")
    with tempfile.TemporaryDirectory() as directory:
        machine = Machine(sys.argv[cut + 1:], directory)
        try:
            for step in sys.argv[1:cut]:
                what, _, value = step.partition("=")
                if what == "see":
                    machine.see(value)
                elif what == "key":
                    machine.press(value)
                elif what == "line":
                    print(machine.see(value))
                elif what == "screen":
                    print("\n".join(machine.screen()))
                elif what == "mark":
                    with open(value, "r+b") as f:
                        f.write(b"\1")
                elif what == "out":
                    port, byte = value.split(":")
                    machine.ask("human-monitor-command", **{"command-line": f"o/b 0x{port} 0x{byte}"})
                elif what == "stop":
                    machine.process.send_signal(signal.SIGSTOP)
                    time.sleep(float(value))
                    machine.process.send_signal(signal.SIGCONT)
                elif what == "wait":
                    time.sleep(float(value))
                else:
                    sys.exit(f"no such step: {step}")
        finally:
            machine.end()


if __name__ == "__main__":
    main()
