/* SPDX-License-Identifier: MIT */
#include "../../syncnode/stm32f4/board.h"
#include "../glossy.h"
#include "../trx.h"

/* What the node is after a reset: set by the build. */
#ifndef GLOSSY_ID
#define GLOSSY_ID 1
#endif
#ifndef GLOSSY_INITIATOR
#define GLOSSY_INITIATOR 0
#endif
#ifndef GLOSSY_AVERAGE
#define GLOSSY_AVERAGE 8
#endif
#ifndef GLOSSY_ALPHA_PM
#define GLOSSY_ALPHA_PM 100
#endif
#ifndef GLOSSY_EARLY_MS
#define GLOSSY_EARLY_MS 20
#endif

/*
 * From the timer's compare to the initiator's first bit (the strobe's 8 bits at 5.25 MHz, and the
 * chip from FSTXON to TX); from the sender's sync word to the receiver's; the turn from receiving
 * to sending. They are the same in all chips of one profile, so that all seconds are off alike for
 * each hop. None has been measured; see docs/glossy.md.
 */
#define START_NS 23500
#define DEMODULATE_NS 8000
#define TURN_NS 22000

static struct hal hal;
static struct trx trx;
static struct glossy_hal flood;
static struct glossy node;

int main(void)
{
	static const struct trx_board board = { &hal, board_sync, board_raise };
	const struct cc1101_profile *profile = cc1101_profile_find("glossy");
	const char *wrong;

	if (board_init(&hal) == BOARD_NO_CRYSTAL) {
		for (uint32_t last = hal.now(0);; board_pass())
			if (hal.now(0) - last >= hal.timer_hz) {
				last += hal.timer_hz;
				board_say("error: the crystal does not start\r\n");
			}
	}
	board_flood();
	board_say("coeval glossy node\r\n");
	wrong = trx_init(&trx, &board, profile);
	if (!wrong) {
		const struct glossy_config config = {
			.id = GLOSSY_ID,
			.initiator = GLOSSY_INITIATOR,
			.transmissions = 3,
			.slots = 12,
			.stamps = 3,
			.slot_ns = trx.sync_ns + DEMODULATE_NS + trx.rest_ns + TURN_NS,
			.heard_ns = START_NS + trx.sync_ns + DEMODULATE_NS,
			.early_ns = GLOSSY_EARLY_MS * 1000000u,
			.lead_ns = 3000000,
			.alpha_pm = GLOSSY_ALPHA_PM,
			.average = GLOSSY_AVERAGE,
			.holdover = 30,
			.odd_ns = 50000,
		};

		trx_hal(&trx, &flood);
		wrong = glossy_init(&node, &flood, &config);
	}
	if (wrong) {
		board_say("error: ");
		board_say(wrong);
		board_say("\r\n");
		for (;; board_pass()) /* until the watchdog */
			;
	}
	for (;; board_pass())
		glossy_poll(&node);
}
