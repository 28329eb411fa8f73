/* SPDX-License-Identifier: MIT */
/* What each of the two programs traces. */
TRACEPOINT(udp_send, (u32, seq), (u16, len))
TRACEPOINT(udp_receive, (u32, seq), (u16, len))
TRACEPOINT(work, (str, what), (u32, number))
