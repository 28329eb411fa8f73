/* SPDX-License-Identifier: MIT */
/* Tracepoints of queues, for the master and its slaves. */
TRACEPOINT(message_send, (u16, queue), (u32, seq), (u16, size))
TRACEPOINT(message_receive, (u16, queue), (u32, seq), (u16, size))
