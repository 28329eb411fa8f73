/* SPDX-License-Identifier: MIT */
#include "../settings.h"
#include "../syncnode.h"
#include "board.h"

/*
 * From the timer's compare to the strobe's last bit: 8 bits at 5.25 MHz. What the chip takes from
 * there to the first bit of the preamble is the same every time and in no data sheet;
 * receivers cannot tell it from their own delay.
 */
#define STROBE_NS 1524

/*
 * What the node is after a reset, before any command: set by the build, so that no reset makes it
 * speak out of turn.
 */
#ifndef SYNCNODE_ID
#define SYNCNODE_ID 1
#endif
#ifndef SYNCNODE_INTERVAL_MS
#define SYNCNODE_INTERVAL_MS 1000
#endif
#ifndef SYNCNODE_SLOT
#define SYNCNODE_SLOT 1
#define SYNCNODE_SLOTS 1
#endif

/* Static: so that the stack holds calls only, and the linker says whether all fits. */
static struct hal hal;
static struct syncnode node;
static struct cc1101_config radio;
static struct radio_setting settings[SETTINGS_MAX];

int main(void)
{
	const struct cc1101_profile *profile = &cc1101_profiles[0];
	const char *wrong = cc1101_configure(&radio, &profile->wanted);
	const struct syncnode_config config = {
		.schedule = { SYNCNODE_INTERVAL_MS, SYNCNODE_SLOT, SYNCNODE_SLOTS },
		.id = SYNCNODE_ID,
		.version = BEACON_VERSION,
		.baud = profile->wanted.rate_bd,
		.strobe_ns = STROBE_NS,
		.limits = DISCIPLINE_LIMITS,
		.settings = settings,
		.n_settings = settings_from(settings, &radio),
	};

	if (board_init(&hal) == BOARD_NO_CRYSTAL) {
		/*
		 * beacons 1 % off would mislead all receivers: say so until the watchdog
		 * tries again
		 */
		for (uint32_t last = hal.now(0);; board_pass())
			if (hal.now(0) - last >= hal.timer_hz) {
				last += hal.timer_hz;
				board_say("error: the crystal does not start\r\n");
			}
	}
	board_say("coeval sync node\r\n");
	if (!wrong)
		wrong = syncnode_init(&node, &hal, &config);
	if (wrong) {
		board_say("error: ");
		board_say(wrong);
		board_say("\r\n");
		for (;; board_pass()) /* until the watchdog */
			;
	}
	for (;; board_pass())
		syncnode_poll(&node);
}
