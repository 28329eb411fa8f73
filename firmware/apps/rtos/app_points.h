/* SPDX-License-Identifier: MIT */
#include "rtos/points.h"
TRACEPOINT(job_begin, (u8, n))
TRACEPOINT(job_end, (u8, n))
