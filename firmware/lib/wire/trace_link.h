/* SPDX-License-Identifier: MIT */
/**
 * Packets of a tracer's ring on a line of bytes: UART, semihosting, SWO, a socket. Each packet
 * (wire/trace_ring.h) goes as it is, from its magic number to packet_size, which its sender may
 * have lowered to what content_size needs in whole 32-bit words; behind it its CRC-32C
 * (Castagnoli), lower byte first. Nothing stands between packets, so that a reader which lost its
 * place looks for the next magic number.
 */
#ifndef WIRE_TRACE_LINK_H
#define WIRE_TRACE_LINK_H

#define TRACE_LINK_CRC_BYTES 4
/**
 * Larger packets are not sent: a reader that took a wrong size for a good one waits for no more
 * than this.
 */
#define TRACE_LINK_PACKET_MAX 65536u

#endif
