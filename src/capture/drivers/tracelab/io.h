/* SPDX-License-Identifier: MIT */
/**
 * A TraceLab observer's SPI and UART: spidev and a serial port, or stand-ins: a Unix socket that
 * answers n bytes with the n bytes the observer would have sent, under one chip select; and a
 * pseudo-terminal. Or a file of SPI bytes alone.
 */
#ifndef DRIVERS_TRACELAB_IO_H
#define DRIVERS_TRACELAB_IO_H

#include <sys/types.h>

#include <coeval/error.h>

#include "capture/drivers/tracelab/command.h"

/** Bytes of a transaction: whole blocks and a SYNC. spidev takes 4096 if not told otherwise. */
#define TRACELAB_LITTLE (4 * (TL_BLOCK_WORDS + 1))
#define TRACELAB_MUCH (4 * (15 * TL_BLOCK_WORDS + 1))

enum tracelab_bus { TRACELAB_FILE, TRACELAB_SOCKET, TRACELAB_SPIDEV };

struct tracelab_io {
	enum tracelab_bus bus;
	int spi, uart; /* -1: none */
	char where[600], serial[300];
	uint8_t tag;
	struct tracelab_answers answers;
};

/** Open "SPI,SERIAL", or a file. CVL_E_USAGE, CVL_E_ENV with what to do. */
int tracelab_io_open(struct tracelab_io *io, const char *devices, struct cvl_error *err);
void tracelab_io_close(struct tracelab_io *io);

/**
 * Exchange @n bytes. Returns @n; from a file as many as there are, 0 at its end; or a negative
 * code.
 */
ssize_t tracelab_io_read(struct tracelab_io *io, uint8_t *bytes, size_t n, struct cvl_error *err);

/** Send @c and wait for its answer, whatever it is. CVL_E_ENV: no answer. */
int tracelab_io_ask(struct tracelab_io *io, struct tracelab_command *c, struct tracelab_answer *a,
		    struct cvl_error *err);

#endif
