/* SPDX-License-Identifier: MIT */
/** The files of rules/calls, as they are. */
#ifndef ANALYSIS_CALLS_BUILTIN_H
#define ANALYSIS_CALLS_BUILTIN_H

#include <stddef.h>

extern const unsigned char calls_functions_yaml[], calls_tasks_yaml[], calls_linux_yaml[],
	calls_ros2_yaml[], calls_zephyr_yaml[], calls_pairs_yaml[];
extern const size_t calls_functions_yaml_bytes, calls_tasks_yaml_bytes, calls_linux_yaml_bytes,
	calls_ros2_yaml_bytes, calls_zephyr_yaml_bytes, calls_pairs_yaml_bytes;

#endif
