/* SPDX-License-Identifier: MIT */
/* Tracepoints of a slave. */
ENUM(task, u8, (idle, 0), (main, 1), (urgent, 2))
#include "tracersync/points.h"
#include "message_points.h"
TRACEPOINT(task_switch, (enumerated(task), prev), (enumerated(task), next), (u8, blocked))
TRACEPOINT(memory_begin, (u32, size))
TRACEPOINT(memory_end, (u32, at))
TRACEPOINT(filter_begin, (u16, frame), (u16, first), (u16, rows))
TRACEPOINT(filter_end, (u16, frame))
TRACEPOINT(talk_begin, (u16, frame))
TRACEPOINT(talk_end, (u16, frame), (u16, words))
