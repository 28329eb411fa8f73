/* SPDX-License-Identifier: MIT */
/**
 * Simulated devices for real programs: what a child process opens under /dev and /sys are models,
 * by way of umockdev. libusb and spidev code in it run unmodified.
 *
 * Models are called by a thread of umockdev; everything here is called by the thread that calls
 * mock_run(), which also calls the callbacks of mock_after() and of a child's end. Hold mock_lock()
 * to access a model while a child runs; a model's own callbacks are called with it held.
 */
#ifndef SIMBED_MOCK_H
#define SIMBED_MOCK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <coeval/error.h>

#include "sim/devices/fx2_device.h"

struct mock;

/**
 * The first thing in main(): runs the program again with umockdev's library preloaded, without
 * which no child would learn of devices that come and go. Returns in the second run; negative: it
 * cannot.
 */
int mock_main(char **argv, struct cvl_error *err);

struct mock *mock_new(struct cvl_error *err);
/** Ends the children that still run. The models stay the caller's. */
void mock_free(struct mock *m);

/** Plug @d in at @port ("1-1", "1-2.4": bus 1). */
int mock_add_fx2(struct mock *m, const char *port, struct fx2_device *d, struct cvl_error *err);
/** Unplug the device at @port, and replug it: bare. */
void mock_unplug(struct mock *m, const char *port);
int mock_replug(struct mock *m, const char *port, struct cvl_error *err);

/** A message of @n bytes on a spidev; 0, or negative: an input/output error. */
typedef int mock_spi_fn(void *ctx, const uint8_t *tx, uint8_t *rx, size_t n);
/** /dev/@name, such as "spidev0.0". */
int mock_add_spidev(struct mock *m, const char *name, mock_spi_fn *fn, void *ctx,
		    struct cvl_error *err);

/** Seconds of simulated time per second; 0 (the default): as fast as the child takes it. */
void mock_set_speed(struct mock *m, double speed);

/** Limit of usbfs on all transfers, its parameter usbfs_memory_mb; 16 by default. */
void mock_set_usb_memory(struct mock *m, unsigned mb);

void mock_lock(struct mock *m);
void mock_unlock(struct mock *m);

/** Call @fn once, @seconds from now. */
void mock_after(struct mock *m, double seconds, void (*fn)(void *ctx), void *ctx);

/** A child has ended; @status as of waitpid(). */
typedef void mock_exit_fn(void *ctx, pid_t pid, int status);

/**
 * Run @argv (found in PATH) among the devices, with the variables of @env ("NAME=value", ended by
 * NULL; or NULL) on top of ours. Negative: it cannot be run. Devices outlive it: another can be run
 * after it, or beside it.
 */
pid_t mock_spawn(struct mock *m, char *const argv[], const char *const env[], mock_exit_fn *fn,
		 void *ctx, struct cvl_error *err);

/** Until mock_quit(). */
void mock_run(struct mock *m);
void mock_quit(struct mock *m);

#endif
