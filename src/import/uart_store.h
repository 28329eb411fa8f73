/* SPDX-License-Identifier: MIT */
/**
 * Stores the bytes of a serial line: an event `uart` for each line of text, or run of bytes ended
 * by a pause, the maximum length or a gap.
 *
 *   half_width   of its time, which is that of its first byte
 *   ticks        from the first byte's start to the last one's end
 *   bytes        how many
 *   text         printable ones as they are, the others as \xNN, \r, \t, \\; without the newline
 *                that ends a line
 */
#ifndef UART_STORE_H
#define UART_STORE_H

#include <coeval/session.h>

#include "decode/line.h"

struct uart_store;

int uart_store_open(struct uart_store **st, struct cvl_session *s,
		    const struct cvl_store_desc *desc, const struct cvl_origin *origin,
		    struct cvl_error *err);
int uart_store_byte(struct uart_store *st, const struct line_byte *b, struct cvl_error *err);
int uart_store_gap(struct uart_store *st, uint64_t from, uint64_t to, struct cvl_error *err);
/** Frees @st in any case. */
int uart_store_close(struct uart_store *st, uint64_t end, struct cvl_error *err);

#endif
