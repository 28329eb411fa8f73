/* SPDX-License-Identifier: MIT */
/* The events of the workloads; barectf.yaml declares the same. */
TRACEPOINT(hash, (u32, value))
TRACEPOINT(pi, (u32, value))
TRACEPOINT(sort, (u8, depth), (u32, elements))
TRACEPOINT(done, (u16, what))
