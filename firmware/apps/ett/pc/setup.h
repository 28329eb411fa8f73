/* SPDX-License-Identifier: MIT */
/** What the kernel found when it began, and the screen that says so. */
#ifndef ETT_SETUP_H
#define ETT_SETUP_H

#include "machine.h"

struct setup {
	struct ett_config config;
	char told[512];    /* as much as the boot sector loads */
	const char *wrong; /* word of it that is not understood, or NULL */
	struct timer timer;
	struct port port;
	const char *port_problem; /* or NULL */
	struct ett_record *record;
	uint64_t room; /* for records */
	bool second;   /* there is another processor */
	struct ett_apart apart;
};

/** Why it cannot capture, or NULL. */
const char *setup_cannot(const struct setup *s);
/** Whether the other processor has another TSC. */
bool setup_apart(const struct setup *s);
/** The processor's own name, "" if it has none. */
void setup_cpu_name(char out[48]);
void setup_draw(const struct setup *s, char screen[ETT_ROWS][ETT_COLUMNS]);

#endif
