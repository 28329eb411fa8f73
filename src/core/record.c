/* SPDX-License-Identifier: MIT */
#include <coeval/record.h>

const char *cvl_kind_name(enum cvl_kind kind)
{
	static const char *const names[CVL_KINDS] = {
		[CVL_EDGE] = "edge",   [CVL_SAMPLE] = "sample",   [CVL_EVENT] = "event",
		[CVL_BEGIN] = "begin", [CVL_END] = "end",         [CVL_BEACON] = "beacon",
		[CVL_PULSE] = "pulse", [CVL_MESSAGE] = "message", [CVL_GAP] = "gap",
		[CVL_SLIP] = "slip",
	};

	return (unsigned)kind < CVL_KINDS ? names[kind] : "unknown";
}

const char *cvl_gap_name(enum cvl_gap why)
{
	static const char *const names[CVL_GAPS] = {
		[CVL_GAP_UNKNOWN] = "unknown",       [CVL_GAP_OVERFLOW] = "overflow",
		[CVL_GAP_DISCARDED] = "discarded",   [CVL_GAP_PACKETS] = "packets lost",
		[CVL_GAP_TRUNCATED] = "truncated",   [CVL_GAP_CORRUPT] = "corrupt",
		[CVL_GAP_UNFINISHED] = "unfinished", [CVL_GAP_DISCONNECTED] = "disconnected",
		[CVL_GAP_DISK_FULL] = "disk full",   [CVL_GAP_FREED] = "freed",
	};

	return (unsigned)why < CVL_GAPS ? names[why] : "unknown";
}
