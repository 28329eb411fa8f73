/* SPDX-License-Identifier: MIT */
/** usbfs (linux/usbdevice_fs.h) for the model of an analyzer. */
#include "sim/simbed/mock_internal.h"

#include <errno.h>
#include <glob.h>
#include <linux/usbdevice_fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "capture/drivers/fx2/proto.h"

struct urb {
	UMockdevIoctlData *data;   /* struct usbdevfs_urb */
	UMockdevIoctlData *buffer; /* once it was needed */
	size_t got;
	size_t room; /* taken from the pool */
	struct mock *mock;
};

/* What one open file has going. */
struct file {
	GQueue pending, done; /* struct urb: bulk in order of submission; to be reaped */
};

static struct usbdevfs_urb *body(const struct urb *u)
{
	return (struct usbdevfs_urb *)(void *)u->data->data;
}

static void urb_free(gpointer p)
{
	struct urb *u = p;

	u->mock->pool_used -= u->room;
	g_clear_object(&u->buffer);
	g_clear_object(&u->data);
	g_free(u);
}

static void file_free(gpointer p)
{
	struct file *f = p;

	g_queue_clear_full(&f->pending, urb_free);
	g_queue_clear_full(&f->done, urb_free);
	g_free(f);
}

static struct file *file_of(UMockdevIoctlClient *client)
{
	struct file *f = g_object_get_data(G_OBJECT(client), "file");

	if (!f) {
		f = g_new0(struct file, 1);
		g_queue_init(&f->pending);
		g_queue_init(&f->done);
		g_object_set_data_full(G_OBJECT(client), "file", f, file_free);
	}
	return f;
}

static void finish(struct file *f, struct urb *u, int status)
{
	body(u)->status = status;
	body(u)->actual_length = (int)u->got;
	g_queue_push_tail(&f->done, u);
}

static uint8_t *buffer(struct urb *u)
{
	if (!u->buffer)
		u->buffer = umockdev_ioctl_data_resolve(
			u->data, G_STRUCT_OFFSET(struct usbdevfs_urb, buffer),
			(gsize)body(u)->buffer_length, NULL);
	return u->buffer ? u->buffer->data : NULL;
}

/* ---- control ---- */

/* FX2_START: time advances while nothing is sampled. */
static void before_start(struct usb_port *p)
{
	const gint64 now = g_get_monotonic_time();

	if (!p->started) {
		p->started = TRUE;
		p->origin_us = now;
	} else if (p->mock->speed > 0) {
		fx2_device_skip(p->device,
				(uint64_t)((double)(now - p->origin_us) * 1e-6 * p->mock->speed *
					   (double)fx2_device_rate(p->device)));
	}
}

static int control(struct usb_port *p, uint8_t type, uint8_t request, uint16_t value,
		   uint16_t index, uint8_t *data, uint16_t length)
{
	int n;

	if (type == 0x40 && request == FX2_START)
		before_start(p);
	n = fx2_device_control(p->device, type, request, value, index, data, length);
	if (fx2_device_renumbers(p->device))
		mock_renumber(p);
	return n;
}

static void control_urb(struct plug *plug, struct file *f, struct urb *u)
{
	uint8_t *b = buffer(u);
	int n;

	if (!b || body(u)->buffer_length < 8) {
		finish(f, u, -EINVAL);
		return;
	}
	n = control(plug->port, b[0], b[1], fx2_get16(b + 2), fx2_get16(b + 4), b + 8,
		    (uint16_t)MIN(fx2_get16(b + 6), body(u)->buffer_length - 8));
	u->got = n < 0 ? 0 : (size_t)n;
	finish(f, u, n < 0 ? -EPIPE : 0);
}

/* ---- bulk ---- */

/* Has the time come that @n more bytes are sampled? */
static gboolean due(const struct usb_port *p, size_t n)
{
	const uint64_t until = fx2_device_tick(p->device) + n / fx2_device_unit(p->device);

	return p->mock->speed <= 0 || !fx2_device_running(p->device) ||
	       (double)(g_get_monotonic_time() - p->origin_us) * 1e-6 * p->mock->speed *
			       (double)fx2_device_rate(p->device) >=
		       (double)until;
}

/* Fill the oldest bulk transfer as far as possible. */
static void serve(struct plug *plug, struct file *f)
{
	struct urb *u = g_queue_peek_head(&f->pending);
	size_t length, got = 0;
	enum fx2_bulk end;
	uint8_t *b;

	if (!u)
		return;
	length = (size_t)body(u)->buffer_length;
	if (!fx2_device_running(plug->port->device) || !due(plug->port, length - u->got))
		return;
	b = buffer(u);
	if (!b)
		return;
	end = fx2_device_bulk(plug->port->device, b + u->got, length - u->got, &got);
	u->got += got;
	if (end == FX2_BULK_NAK)
		return;
	g_queue_pop_head(&f->pending);
	finish(f, u, end == FX2_BULK_STALLED ? -EPIPE : end == FX2_BULK_BABBLED ? -EOVERFLOW : 0);
}

static void submit(struct plug *plug, UMockdevIoctlClient *client, UMockdevIoctlData *data)
{
	struct file *f = file_of(client);
	struct urb *u = g_new0(struct urb, 1);

	u->data = g_object_ref(data);
	u->mock = plug->port->mock;
	switch (body(u)->type) {
	case USBDEVFS_URB_TYPE_CONTROL: control_urb(plug, f, u); break;
	case USBDEVFS_URB_TYPE_BULK:
		if (body(u)->endpoint != FX2_ENDPOINT || body(u)->buffer_length <= 0) {
			urb_free(u);
			umockdev_ioctl_client_complete(client, -1, EINVAL);
			return;
		}
		if (u->mock->pool_used + (size_t)body(u)->buffer_length > u->mock->pool) {
			urb_free(u);
			umockdev_ioctl_client_complete(client, -1, ENOMEM);
			return;
		}
		u->room = (size_t)body(u)->buffer_length;
		u->mock->pool_used += u->room;
		g_queue_push_tail(&f->pending, u);
		break;
	default:
		urb_free(u);
		umockdev_ioctl_client_complete(client, -1, EINVAL);
		return;
	}
	umockdev_ioctl_client_complete(client, 0, 0);
}

static void reap(struct plug *plug, UMockdevIoctlClient *client, UMockdevIoctlData *arg)
{
	struct file *f = file_of(client);
	struct urb *u;

	if (plug->gone)
		while ((u = g_queue_pop_head(&f->pending)))
			finish(f, u, -ESHUTDOWN);
	else if (g_queue_is_empty(&f->done))
		serve(plug, f);
	u = g_queue_pop_head(&f->done);
	if (!u) {
		mock_complete_later(client, plug->gone ? ENODEV : EAGAIN);
		return;
	}
	umockdev_ioctl_data_set_ptr(arg, 0, u->data);
	umockdev_ioctl_client_complete(client, 0, 0);
	urb_free(u);
}

static void discard(UMockdevIoctlClient *client, gulong address)
{
	struct file *f = file_of(client);

	for (GList *l = f->pending.head; l; l = l->next) {
		struct urb *u = l->data;

		if (u->data->client_addr == address) {
			g_queue_delete_link(&f->pending, l);
			finish(f, u, -ENOENT);
			umockdev_ioctl_client_complete(client, 0, 0);
			return;
		}
	}
	umockdev_ioctl_client_complete(client, -1, EINVAL);
}

/* USBDEVFS_CONTROL: at once, without a URB. */
static int control_now(struct plug *plug, UMockdevIoctlData *data)
{
	struct usbdevfs_ctrltransfer *c = (void *)data->data;
	UMockdevIoctlData *to = NULL;
	int n;

	if (c->wLength)
		to = umockdev_ioctl_data_resolve(
			data, G_STRUCT_OFFSET(struct usbdevfs_ctrltransfer, data), c->wLength,
			NULL);
	if (c->wLength && !to)
		return -1;
	n = control(plug->port, c->bRequestType, c->bRequest, c->wValue, c->wIndex,
		    to ? to->data : NULL, c->wLength);
	g_clear_object(&to);
	return n;
}

/* ---- the rest ---- */

/*
 * How many open files there are of a device. umockdev does not always notice the end of a process
 * that was killed within a system call; the kernel does.
 */
static unsigned open_files(const struct plug *plug)
{
	glob_t found;
	unsigned n = 0;

	if (glob("/proc/[0-9]*/fd/*", GLOB_NOSORT, NULL, &found))
		return 2;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char to[128];
		ssize_t k = readlink(found.gl_pathv[i], to, sizeof(to));

		n += k == (ssize_t)strlen(plug->node) && !memcmp(to, plug->node, (size_t)k);
	}
	globfree(&found);
	return n;
}

static void claim(struct plug *plug, UMockdevIoctlClient *client, gboolean want)
{
	int e = 0;

	if (want && plug->claimed_by && plug->claimed_by != client && open_files(plug) > 1)
		e = EBUSY;
	else if (!want && plug->claimed_by != client)
		e = EINVAL;
	else
		plug->claimed_by = want ? client : NULL;
	umockdev_ioctl_client_complete(client, e ? -1 : 0, e);
}

static gboolean on_ioctl(UMockdevIoctlBase *handler, UMockdevIoctlClient *client, gpointer ctx)
{
	const gulong request = umockdev_ioctl_client_get_request(client);
	const gsize size = _IOC_SIZE(request);
	UMockdevIoctlData *arg = umockdev_ioctl_client_get_arg(client), *data = NULL;
	gulong address = 0;
	struct plug *plug = ctx;
	int n;

	(void)handler;
	memcpy(&address, arg->data, sizeof(address));
	/* Not for requests whose argument is no pointer, or is used as such. */
	if (size && request != USBDEVFS_DISCARDURB && address)
		data = umockdev_ioctl_data_resolve(arg, 0, size, NULL);
	g_mutex_lock(&plug->port->mock->lock);
	if (request == USBDEVFS_REAPURB || request == USBDEVFS_REAPURBNDELAY) {
		if (data)
			reap(plug, client, data);
		else
			umockdev_ioctl_client_complete(client, -1, EFAULT);
	} else if (request == USBDEVFS_DISCARDURB) {
		discard(client, address);
	} else if (plug->gone) {
		umockdev_ioctl_client_complete(client, -1, ENODEV);
	} else {
		switch (request) {
		case USBDEVFS_GET_CAPABILITIES:
			if (data) {
				const guint32 caps = USBDEVFS_CAP_ZERO_PACKET |
						     USBDEVFS_CAP_BULK_CONTINUATION |
						     USBDEVFS_CAP_NO_PACKET_SIZE_LIM |
						     USBDEVFS_CAP_BULK_SCATTER_GATHER |
						     USBDEVFS_CAP_REAP_AFTER_DISCONNECT;

				memcpy(data->data, &caps, sizeof(caps));
			}
			umockdev_ioctl_client_complete(client, 0, 0);
			break;
		case USBDEVFS_SUBMITURB:
			if (data)
				submit(plug, client, data);
			else
				umockdev_ioctl_client_complete(client, -1, EFAULT);
			break;
		case USBDEVFS_CONTROL:
			n = data ? control_now(plug, data) : -1;
			umockdev_ioctl_client_complete(client, n, n < 0 ? EPIPE : 0);
			break;
		case USBDEVFS_CLAIMINTERFACE: claim(plug, client, TRUE); break;
		case USBDEVFS_RELEASEINTERFACE: claim(plug, client, FALSE); break;
		case USBDEVFS_GETDRIVER:
			/* No kernel driver is bound to it. */
			umockdev_ioctl_client_complete(client, -1, ENODATA);
			break;
		case USBDEVFS_CLEAR_HALT:
		case USBDEVFS_RESETEP:
			fx2_device_clear_halt(plug->port->device);
			umockdev_ioctl_client_complete(client, 0, 0);
			break;
		case USBDEVFS_SETCONFIGURATION:
		case USBDEVFS_SETINTERFACE:
		case USBDEVFS_RESET: umockdev_ioctl_client_complete(client, 0, 0); break;
		case USBDEVFS_DISCONNECT_CLAIM: claim(plug, client, TRUE); break;
		default: umockdev_ioctl_client_complete(client, -1, ENOTTY); break;
		}
	}
	g_mutex_unlock(&plug->port->mock->lock);
	g_clear_object(&data);
	return TRUE;
}

static void on_vanished(UMockdevIoctlBase *handler, UMockdevIoctlClient *client, gpointer ctx)
{
	struct plug *plug = ctx;

	(void)handler;
	g_mutex_lock(&plug->port->mock->lock);
	if (plug->claimed_by == client)
		plug->claimed_by = NULL;
	g_mutex_unlock(&plug->port->mock->lock);
}

UMockdevIoctlBase *mock_usb_handler(struct plug *plug)
{
	UMockdevIoctlBase *handler = umockdev_ioctl_base_new();

	g_signal_connect(handler, "handle-ioctl", G_CALLBACK(on_ioctl), plug);
	g_signal_connect(handler, "client-vanished", G_CALLBACK(on_vanished), plug);
	return handler;
}
