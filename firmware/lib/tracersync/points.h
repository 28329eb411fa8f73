/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints of an exchange between a master and a slave, for both: a program includes this among
 * its own tracepoints. The rule `tracer` of coeval sync makes messages of them.
 */
TRACEPOINT(tracer_sync_send, (u16, slave), (u32, seq))
TRACEPOINT(tracer_sync_receive, (u16, slave), (u32, seq))
