/* SPDX-License-Identifier: MIT */
/** Shared by mock.c (devices, children), mock_usb.c and mock_spi.c (system calls on them). */
#ifndef SIMBED_MOCK_INTERNAL_H
#define SIMBED_MOCK_INTERNAL_H

#include <glib.h>
#include <umockdev.h>

#include "sim/simbed/mock.h"

#define PORT_MAX 32

/** A USB device from when it is plugged in until it is pulled out: then it refuses everything. */
struct plug {
	struct usb_port *port;
	UMockdevIoctlBase *handler;
	gboolean gone;
	UMockdevIoctlClient *claimed_by;
	char syspath[160];
	char node[128]; /* the file that stands for it */
};

struct usb_port {
	struct mock *mock;
	char name[PORT_MAX];
	struct fx2_device *device;
	struct plug *plug; /* or NULL */
	gboolean started;
	gint64 origin_us; /* when tick 0 was, of real time */
	gboolean pulled;  /* explicitly: it is not replugged automatically */
};

struct mock {
	UMockdevTestbed *testbed;
	char *root;
	GMainLoop *loop;
	GMutex lock;
	GPtrArray *ports, *plugs, *spidevs, *children;
	unsigned next_number;
	double speed;
	size_t pool, pool_used; /* bytes of all transfers that are out */
};

/** The ioctls of usbfs. */
UMockdevIoctlBase *mock_usb_handler(struct plug *plug);
/**
 * Called under the lock when firmware was loaded: arranges for the port's device to come back as
 * another.
 */
void mock_renumber(struct usb_port *port);

/**
 * Complete the system call of @client after a millisecond: otherwise a polling client would take a
 * whole processor.
 */
void mock_complete_later(UMockdevIoctlClient *client, int error);

#endif
