/* SPDX-License-Identifier: MIT */
/* Tracepoints of the master. */
#include "tracersync/points.h"
#include "message_points.h"
TRACEPOINT(hello)
TRACEPOINT(frame_begin, (u16, frame))
TRACEPOINT(frame_end, (u16, frame))
TRACEPOINT(request_memory_begin, (u32, size))
TRACEPOINT(request_memory_end, (u32, at))
TRACEPOINT(cut_begin, (u16, frame))
TRACEPOINT(cut_end, (u16, frame))
TRACEPOINT(gather_begin, (u16, frame))
TRACEPOINT(gather_end, (u16, frame))
