#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""merged.c in Python, by ctypes alone: merged.py SESSION"""
import sys
from ctypes import (CDLL, POINTER, Structure, byref, c_char, c_char_p, c_int, c_int64, c_size_t,
                    c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)

STATE = 2  # CVL_STATE: restated levels
UNKNOWN = 2**63 - 1  # CVL_BOUND_UNKNOWN


class Error(Structure):  # struct cvl_error, coeval/error.h
    _fields_ = [("code", c_int), ("offset", c_uint64), ("text", c_char * 400)]


class Batch(Structure):  # struct cvl_batch, coeval/record.h
    _fields_ = [("n", c_size_t), ("tick", POINTER(c_uint64)), ("kind", POINTER(c_uint8)),
                ("flags", POINTER(c_uint8)), ("cls", POINTER(c_uint32)),
                ("value", POINTER(c_uint64)), ("aux", POINTER(c_uint64)),
                ("bracket", POINTER(c_uint64)), ("packet", c_void_p)]


class Run(Structure):  # struct cvl_run, coeval/timeline.h
    _fields_ = [("stream", c_uint32), ("begin", c_uint16), ("end", c_uint16)]


class Part(Structure):  # struct cvl_part
    _fields_ = [("clock", c_size_t), ("batch", POINTER(Batch)), ("time", POINTER(c_int64)),
                ("bound", POINTER(c_int64))]


class Block(Structure):  # struct cvl_block
    _fields_ = [("run", POINTER(Run)), ("n", c_size_t), ("records", c_size_t),
                ("part", POINTER(Part))]


class Slice(Structure):  # struct cvl_slice
    _fields_ = [("clock", c_size_t), ("stream", c_size_t), ("batch", POINTER(Batch)),
                ("time", POINTER(c_int64)), ("begin", c_size_t), ("end", c_size_t),
                ("bound", POINTER(c_int64))]


class Clock(Structure):  # struct cvl_clock, coeval/session.h: its beginning
    _fields_ = [("name", c_char_p), ("node", c_char_p)]


lib = CDLL("libcoeval.so.0")
for name, result, *arguments in (
        ("cvl_session_open", c_int, c_void_p, c_char_p, c_void_p, POINTER(Error)),
        ("cvl_session_clock", POINTER(Clock), c_void_p, c_size_t),
        ("cvl_session_close", None, c_void_p),
        ("cvl_timeline_open", c_int, c_void_p, c_void_p, c_void_p, POINTER(Error)),
        ("cvl_timeline_next", c_int, c_void_p, POINTER(Block), POINTER(Error)),
        ("cvl_timeline_bound", c_int64, c_void_p, POINTER(Slice), c_size_t),
        ("cvl_timeline_close", None, c_void_p),
        ("cvl_kind_name", c_char_p, c_int),
        ("cvl_exit_status", c_int, c_int)):
    getattr(lib, name).restype = result
    getattr(lib, name).argtypes = arguments


class Failure(Exception):
    pass


def call(function, *arguments):
    error = Error()
    rc = function(*arguments, byref(error))
    if rc < 0:
        raise Failure(error.text.decode(), lib.cvl_exit_status(error.code))
    return rc


def records(path):
    """Time and bound in ns (None: unknown), node and kind of each record, in the order of time."""
    session, timeline, block = c_void_p(), c_void_p(), Block()
    call(lib.cvl_session_open, byref(session), path.encode(), None)
    try:
        call(lib.cvl_timeline_open, byref(timeline), session, None)
        while call(lib.cvl_timeline_next, timeline, byref(block)):
            for run in block.run[:block.n]:
                part = block.part[run.stream]
                piece = Slice(part.clock, run.stream, part.batch, part.time, run.begin, run.end, part.bound)
                node = lib.cvl_session_clock(session, part.clock).contents.node.decode()
                batch = part.batch.contents
                for i in range(run.begin, run.end):
                    if not batch.flags[i] & STATE:
                        bound = lib.cvl_timeline_bound(timeline, byref(piece), i)
                        yield (part.time[i], None if bound == UNKNOWN else bound, node,
                               lib.cvl_kind_name(batch.kind[i]).decode())
    finally:
        if timeline:
            lib.cvl_timeline_close(timeline)
        lib.cvl_session_close(session)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: merged.py SESSION")
    try:
        for time, bound, node, kind in records(sys.argv[1]):
            print(time, "unknown" if bound is None else bound, node, kind)
    except Failure as failure:
        print("merged.py:", failure.args[0], file=sys.stderr)
        sys.exit(failure.args[1])
