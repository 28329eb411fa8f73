/* SPDX-License-Identifier: MIT */
/**
 * Bytes to and from something on a bench: a target's UART, an instrument. Every wait ends: at a
 * deadline, or on the stop descriptor.
 *
 * Addresses: /dev/usbtmc0 and the like (USB Test & Measurement, whose reads are whole messages),
 * tcp:HOST:PORT (raw SCPI, usually port 5025 or 5555), and any other path, which is a serial port
 * or a pseudo-terminal.
 */
#ifndef LAB_CHANNEL_H
#define LAB_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <coeval/error.h>

struct channel {
	int fd;
	int stop_fd;      /* readable: stop; -1: none */
	bool usbtmc;      /* cannot be polled: the driver waits */
	const char *name; /* its address; must outlive the channel */
};

/** Milliseconds of a monotonic clock. */
int64_t lab_now_ms(void);

/**
 * Open @address. @baud: of serial ports. CVL_E_ENV with what to do; CVL_E_USAGE for an invalid
 * address or rate.
 */
int channel_open(struct channel *c, const char *address, unsigned baud, int stop_fd,
		 struct cvl_error *err);

void channel_close(struct channel *c);

/**
 * Read what is there, up to @n bytes, waiting for the first until @deadline_ms. Returns how many, 0
 * at the deadline, CVL_E_NO if stopped, CVL_E_ENV if the other end is gone.
 */
int channel_read(struct channel *c, void *bytes, size_t n, int64_t deadline_ms,
		 struct cvl_error *err);

/**
 * Write all, or fail: CVL_E_ENV at the deadline and if the other end is gone, CVL_E_NO if stopped.
 */
int channel_write(struct channel *c, const void *bytes, size_t n, int64_t deadline_ms,
		  struct cvl_error *err);

/** Discard pending input. Fails as channel_read() does. */
int channel_drain(struct channel *c, struct cvl_error *err);

/** Wait @ms, unless stopped: CVL_E_NO. */
int lab_sleep(int stop_fd, int64_t ms, struct cvl_error *err);

/**
 * The last bytes of @bytes as one line of printable text in quotes, for messages: "...\x00ab\n".
 * Returns @out.
 */
char *lab_excerpt(char *out, size_t size, const void *bytes, size_t n);

#endif
