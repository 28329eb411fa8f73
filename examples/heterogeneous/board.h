/* SPDX-License-Identifier: MIT */
/** What a slave asks of the board that it runs on. */
#ifndef HETEROGENEOUS_BOARD_H
#define HETEROGENEOUS_BOARD_H

#include <stdint.h>

/** What the board's loader puts where board_card() says, as other slaves have jumpers. */
struct card {
	uint32_t id;
	int32_t rate_ppb; /* how much too fast this slave's clock is made */
	uint32_t phase;   /* and how many ticks it is ahead at the start */
	uint32_t reserved;
};

#ifdef BOARD_M4
#define BOARD_HZ 25000000u
typedef uint32_t board_tick;
#else
#define BOARD_HZ 10000000u
typedef uint64_t board_tick;
#endif

/** Start the timer. */
void board_init(void);
/** Let interrupts come. */
void board_listen(void);
const volatile struct card *board_card(void);
uint8_t *board_shared(void);

/** Ticks of the board's timer. */
board_tick board_ticks(void);

/** Sleep until @ready returns true, or forever. */
void board_wait(int (*ready)(void));

/** Run urgent() in an interrupt of low priority, as soon as that is possible. */
void board_urgent(void);
/** Wake the slave on the other end of the link. */
void board_ring(void);

void board_reset(void);
/** Never do anything again. */
void board_die(void);

/* ---- what a board calls ---- */

/** The master's interrupt (hypothesis H1). */
void bell(void);
void urgent(void);

#endif
