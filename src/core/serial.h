/* SPDX-License-Identifier: MIT */
/** A serial port as plain bytes: no echo, no line discipline, no flow control. */
#ifndef CORE_SERIAL_H
#define CORE_SERIAL_H

#include <coeval/error.h>

/**
 * Open @path, 8N1 at @baud, for us alone; reads and writes do not wait. Returns 0 and the
 * descriptor in @fd. CVL_E_ENV if it cannot be had, with what to do; CVL_E_USAGE if ports have no
 * such rate, or it is no port.
 */
int serial_open(int *fd, const char *path, unsigned baud, struct cvl_error *err);

/**
 * Connect to the socket @path, where an emulator has such a port. Returns 0 and the descriptor in
 * @fd. CVL_E_USAGE, CVL_E_IO.
 */
int serial_connect(int *fd, const char *path, struct cvl_error *err);

/** Fill @err with why @path could not be opened, from errno, and what to do. Returns CVL_E_ENV. */
int serial_why(const char *path, struct cvl_error *err);

#endif
