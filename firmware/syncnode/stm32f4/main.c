/* SPDX-License-Identifier: MIT */
#include "../syncnode.h"
#include "board.h"
#include "settings.h"

/* Static: so that the stack holds calls only, and the linker says whether all fits. */
static struct hal hal;
static struct syncnode node;

int main(void)
{
	const struct syncnode_config config = {
		.schedule = { 1000, 1, 1 },
		.id = 1,
		.version = BEACON_VERSION,
		.baud = SETTINGS_BAUD,
		.strobe_ns = SETTINGS_STROBE_NS,
		.limits = DISCIPLINE_LIMITS,
		.settings = settings,
		.n_settings = sizeof(settings) / sizeof(*settings),
	};

	if (board_init(&hal) == BOARD_NO_CRYSTAL) {
		/* beacons 1 % off would mislead everybody who hears them: say so until the watchdog tries again */
		for (uint32_t last = hal.now(0);; board_pass())
			if (hal.now(0) - last >= hal.timer_hz) {
				last += hal.timer_hz;
				board_say("error: the crystal does not start\r\n");
			}
	}
	board_say("coeval sync node\r\n");
	if (syncnode_init(&node, &hal, &config))
		for (;;) /* cannot be: the configuration is above; the watchdog ends it */
			;
	for (;; board_pass())
		syncnode_poll(&node);
}
