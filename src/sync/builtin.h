/* SPDX-License-Identifier: MIT */
/** The files of rules/sync, as they are. */
#ifndef SYNC_BUILTIN_H
#define SYNC_BUILTIN_H

#include <stddef.h>

extern const unsigned char match_lttng_tcp_yaml[];
extern const size_t match_lttng_tcp_yaml_bytes;
extern const unsigned char match_linux_tcp_yaml[];
extern const size_t match_linux_tcp_yaml_bytes;
extern const unsigned char match_linux_udp_yaml[];
extern const size_t match_linux_udp_yaml_bytes;
extern const unsigned char match_ros2_yaml[];
extern const size_t match_ros2_yaml_bytes;
extern const unsigned char match_ros2_dds_yaml[];
extern const size_t match_ros2_dds_yaml_bytes;
extern const unsigned char match_tracer_yaml[];
extern const size_t match_tracer_yaml_bytes;

#endif
