/* SPDX-License-Identifier: MIT */
/** A raw serial port: no echo, no line discipline, no flow control. */
#ifndef CORE_SERIAL_H
#define CORE_SERIAL_H

#include <coeval/error.h>

/**
 * Open @path exclusively, 8N1 at @baud, non-blocking. Returns 0 and the descriptor in @fd.
 * CVL_E_ENV with advice if it cannot be opened; CVL_E_USAGE if the rate does not exist or it is not
 * a port.
 */
int serial_open(int *fd, const char *path, unsigned baud, struct cvl_error *err);

/**
 * Connect to the socket @path of an emulated port. Returns 0 and the descriptor in @fd.
 * CVL_E_USAGE, CVL_E_IO.
 */
int serial_connect(int *fd, const char *path, struct cvl_error *err);

/**
 * Fill @err with the reason, from errno, why @path could not be opened, and advice. Returns
 * CVL_E_ENV.
 */
int serial_why(const char *path, struct cvl_error *err);

#endif
