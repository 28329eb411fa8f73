/* SPDX-License-Identifier: MIT */
/**
 * The kernel's command line: `key=value`, blanks between. A path may stand ahead
 * of them: the kernel's own name.
 *
 *   source=lpt|serial|mmio|port   base=378   port (hex; 0: 378 or 3f8) or address of a register of
 *                                 32 bits
 *   pci=VVVV:DDDD            bar=0          or: the register lies in this device, at base= behind
 *                            this BAR
 *   shift=0   mask=ff        of the register's bits; the lines are what is left of them
 *   probes=1|2|8             of 8, 4 or 1 bits (2)
 *   length=10s|500ms         how long a capture is; 0: as long as there is memory
 *   zero=on|off              a probe of 4 or more bits that shows code 0 ends it (on)
 *   keys=other|loop|off      who looks for a key that ends it: a second processor, or the loop once
 *                            a ms (other; loop, if that one drives the self-test or is not there)
 *   steps=on                 worst-case mode: a record for each step of the loop
 *   ecr=on|off               set byte mode in a parallel port's extended control register (on)
 *   disk=0..3|off            which ATA disk is saved to (0)
 *   start=key|now            (key)
 *   save=off|disk|serial     without being asked (off)
 *   selftest=N               a second processor drives N edges through the port's latch
 *   timer=pit|hpet           what the TSC is held against (pit), where it counts; else the other
 *   dwell=50ms               each held for up to this (32 steps of the loop)
 *   record=N                 room for at most so many records; 0: all memory
 */
#ifndef ETT_CONFIG_H
#define ETT_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include <wire/ett_image.h>

enum ett_keys { ETT_KEYS_OTHER, ETT_KEYS_LOOP, ETT_KEYS_OFF };
enum ett_timer { ETT_TIMER_PIT, ETT_TIMER_HPET };
enum ett_save { ETT_SAVE_OFF, ETT_SAVE_DISK, ETT_SAVE_SERIAL };

struct ett_config {
	enum ett_source source;
	uint64_t base;
	uint16_t pci_vendor, pci_device; /* 0: none */
	uint8_t bar, shift, mask;
	uint8_t probes, bits;
	uint64_t length_us;
	bool zero, steps, ecr, start_now;
	enum ett_keys keys;
	int disk; /* -1: none */
	enum ett_save save;
	enum ett_timer timer;
	uint64_t edges;    /* of the self-test; 0: none */
	uint64_t dwell_us; /* 0: by the loop */
	uint64_t records;  /* at the most; 0: as many as there is room for */
};

/** Read @text. Returns NULL, or a word that is not understood; the others apply. */
const char *ett_config_read(struct ett_config *c, const char *text);

#endif
