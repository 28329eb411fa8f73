/* SPDX-License-Identifier: MIT */
/**
 * The PC: what each file of this directory offers to main.c. Interrupts are off, always; nothing
 * here allocates.
 */
#ifndef ETT_MACHINE_H
#define ETT_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../apart.h"
#include "../config.h"
#include "../image.h"
#include "../memory.h"
#include "../rate.h"
#include "../text.h"

/* ---- paging.c ---- */

/** All usable memory side by side, from one address on. Bytes that there are; *@at: where. */
uint64_t map_record(const struct ett_memory *m, void **at);
/** A register below 4 GiB, not cached; NULL above that. */
volatile void *map_register(uint64_t address);

/* ---- timer.c ---- */

struct timer {
	uint64_t hz;          /* of the TSC */
	struct ett_rate rate; /* as it was measured; hz 0: nothing to measure it by */
	uint64_t cpuid_hz;    /* as the processor claims, or 0 */
	enum ett_timer by;
	bool invariant;
};

/** Make the TSC be read in its place on this processor: see tsc(). */
void timer_order(void);
/** Measure the TSC for half a second. */
struct timer timer_calibrate(enum ett_timer by);
void wait_us(const struct timer *t, uint64_t us);

/** Base of the HPET by ACPI's tables, 0: there is none. */
uint64_t acpi_hpet(void);

/* ---- pci.c ---- */

/**
 * Address of a device's register behind its BAR; 0: there is no such device or BAR. *@port: it is a
 * port.
 */
uint64_t pci_register(const struct ett_config *c, bool *port);

/** Devices whose bus mastering was on. */
struct pci_masters {
	uint32_t n, at[256];
};

void pci_masters_off(struct pci_masters *m);
void pci_masters_on(const struct pci_masters *m);

/* ---- port.c ---- */

/** Where lines are read: a port of 8 bits, or a register of 32 bits. */
struct port {
	volatile const uint32_t *reg; /* or NULL */
	uint16_t port;
	uint16_t latch; /* that a self-test can drive the lines by; 0: none */
	uint8_t shift, mask;
	bool dead;      /* FF everywhere */
	bool byte_mode; /* set in an extended control register */
};

/**
 * Find and set up what @c names. Returns NULL or what is wrong. @drive: lines are driven from here,
 * for the self-test.
 */
const char *port_open(struct port *p, const struct ett_config *c, bool drive);

/* ---- loop.c ---- */

struct loop {
	struct port port;
	unsigned bits;
	bool zero, keys, every;
	uint64_t look,
		/* ticks from one look at keys and length to the next; of the capture, 0: no end */
		length;
	struct ett_record *record;
	uint64_t room;
	volatile uint32_t *go, *stop; /* set when it began; an enum ett_end ends it */
	/* the result */
	uint64_t n, begin, end, steps, least, most;
	uint8_t first, moved; /* what was read first; lines that changed, ever */
	enum ett_end why;
};

/** Capture. */
void loop_run(struct loop *l);
/** Ticks of a step, on average over some. */
uint64_t loop_step(const struct port *p);

/* ---- screen.c, keyboard.c, serial.c ---- */

void screen_open(void);
void screen_show(char text[ETT_ROWS][ETT_COLUMNS]);
/** Row @row of the screen. */
void screen_line(unsigned row, const char *text);

/** Key that was pressed since, or ETT_KEY_NONE. One that is held comes over and over. */
int key_poll(void);
/** Whether a key was pressed since, any but the one that is held already. */
bool key_anew(void);
/** Forget keys that were pressed. */
void key_flush(void);

bool serial_open(void);
bool serial_send(const struct timer *t, const void *bytes, size_t n);

/* ---- disk.c ---- */

struct disk {
	uint16_t base, control;
	uint8_t unit;
	bool lba48;
	uint64_t sectors;
};

/** Find ATA disk @number (0: primary master, ...). Returns NULL or what is wrong. */
const char *disk_open(struct disk *d, const struct timer *t, int number);
const char *disk_read(const struct disk *d, const struct timer *t, uint64_t lba, void *sector);
/** Write @n sectors, up to 128. */
const char *disk_write(const struct disk *d, const struct timer *t, uint64_t lba, const void *from,
		       unsigned n);
const char *disk_flush(const struct disk *d, const struct timer *t);

/* ---- second.c ---- */

/** Start a second processor. False: there is none. */
bool second_start(const struct timer *t);

/** Learn by how much its TSC is ahead of ours, beyond what is known. */
void second_compare(struct ett_apart *a);

/** Have it look for a key, every @look ticks: *@stop gets ETT_END_KEY then. */
void second_watch(volatile uint32_t *stop, uint64_t look);
/** Have it wait for *@go, drive edges, and set *@stop to ETT_END_TEST. */
struct drive {
	uint16_t latch;
	unsigned bits;
	uint64_t edges, dwell, seed, patience;
	bool zero;    /* end with code 0 */
	uint8_t from; /* what the lines show */
	struct ett_record *store;
	volatile uint64_t n; /* of them */
	volatile uint32_t *go, *stop;
};

void second_drive(struct drive *d);
/** Have it stop what it does, and wait for that. */
void second_rest(void);

#endif
