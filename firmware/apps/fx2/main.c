/* SPDX-License-Identifier: MIT */
/*
 * Firmware of an FX2LP logic analyzer. Samples go from the pins to the host without the processor;
 * it answers requests and watches for full buffers.
 */
#include "capture.h"
#include "hardware.h"

void main(void)
{
	chip_init();
	control_connect();
	for (;;) {
		capture_poll();
		control_poll();
	}
}
