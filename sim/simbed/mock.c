/* SPDX-License-Identifier: MIT */
#include "sim/simbed/mock_internal.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PRELOAD "libumockdev-preload.so.0"
/* From reset to the new id on the bus. */
#define RENUMBER_MS 30
/* From when a device is gone for its users to when it can be plugged in again. */
#define FORGET_MS 50

int mock_main(char **argv, struct cvl_error *err)
{
	const char *before = getenv("LD_PRELOAD");
	char *all;

	if (before && strstr(before, PRELOAD))
		return 0;
	all = g_strdup_printf("%s%s%s", before ? before : "", before ? ":" : "", PRELOAD);
	setenv("LD_PRELOAD", all, 1);
	g_free(all);
	execv("/proc/self/exe", argv);
	return cvl_fail_errno(err, "run", "/proc/self/exe");
}

struct mock *mock_new(struct cvl_error *err)
{
	struct mock *m = g_new0(struct mock, 1);

	/*
	 * Transfers are copied through blocks of 256 KiB: not to be mapped and unmapped for each.
	 */
	mallopt(M_MMAP_THRESHOLD, 8 << 20);
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
	m->testbed = umockdev_testbed_new();
	if (!m->testbed) {
		g_free(m);
		cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "umockdev does not work here");
		return NULL;
	}
	m->root = umockdev_testbed_get_root_dir(m->testbed);
	m->loop = g_main_loop_new(NULL, FALSE);
	g_mutex_init(&m->lock);
	m->ports = g_ptr_array_new_with_free_func(g_free);
	m->plugs = g_ptr_array_new_with_free_func(g_free);
	m->spidevs = g_ptr_array_new_with_free_func(g_free);
	m->children = g_ptr_array_new_with_free_func(g_free);
	m->next_number = 2;
	m->pool = 16 << 20;
	return m;
}

void mock_lock(struct mock *m)
{
	g_mutex_lock(&m->lock);
}

void mock_unlock(struct mock *m)
{
	g_mutex_unlock(&m->lock);
}

void mock_set_speed(struct mock *m, double speed)
{
	m->speed = speed;
}

void mock_set_usb_memory(struct mock *m, unsigned mb)
{
	m->pool = (size_t)mb << 20;
}

/* ---- system calls that wait ---- */

struct later {
	UMockdevIoctlClient *client;
	int error;
};

static gboolean complete_now(gpointer p)
{
	struct later *l = p;

	if (umockdev_ioctl_client_get_connected(l->client))
		umockdev_ioctl_client_complete(l->client, -1, l->error);
	g_object_unref(l->client);
	g_free(l);
	return G_SOURCE_REMOVE;
}

void mock_complete_later(UMockdevIoctlClient *client, int error)
{
	struct later *l = g_new(struct later, 1);

	*l = (struct later){ g_object_ref(client), error };
	g_timeout_add(1, complete_now, l);
}

/* ---- plugs ---- */

static struct usb_port *find(struct mock *m, const char *name)
{
	for (guint i = 0; i < m->ports->len; i++) {
		struct usb_port *p = g_ptr_array_index(m->ports, i);

		if (!strcmp(p->name, name))
			return p;
	}
	return NULL;
}

static int sysfs(struct mock *m, const char *text, struct cvl_error *err)
{
	GError *problem = NULL;

	if (umockdev_testbed_add_from_string(m->testbed, text, &problem))
		return 0;
	cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "umockdev: %s", problem->message);
	g_error_free(problem);
	return CVL_E_ENV;
}

/* As sysfs and udev show a USB device. @path below /devices. */
static char *describe(const char *path, unsigned bus, unsigned number, const uint8_t *descriptors,
		      size_t n)
{
	GString *s = g_string_new(NULL);

	g_string_append_printf(
		s,
		"P: /devices/%s\nN: bus/usb/%03u/%03u\nE: DEVNAME=/dev/bus/usb/%03u/%03u\n"
		"E: DEVTYPE=usb_device\nE: SUBSYSTEM=usb\nE: BUSNUM=%03u\nE: DEVNUM=%03u\n"
		"E: MAJOR=189\nE: MINOR=%u\nA: bConfigurationValue=1\\n\nA: busnum=%u\\n\n"
		"A: devnum=%u\\n\nA: speed=480\\n\nH: descriptors=",
		path, bus, number, bus, number, bus, number, (bus - 1) * 128 + number - 1, bus,
		number);
	for (size_t i = 0; i < n; i++)
		g_string_append_printf(s, "%02X", descriptors[i]);
	g_string_append(s, "\n\n");
	return g_string_free(s, FALSE);
}

/* The hubs that a port hangs from: libusb finds a device's place by its parents. */
static int hubs(struct mock *m, const char *port, unsigned bus, char path[128],
		struct cvl_error *err)
{
	static const uint8_t hub[] = { 18, 1, 0, 2, 9, 0,  1, 64, 0x6b, 0x1d, 2,    0, 0, 0, 0,
				       0,  0, 1, 9, 2, 25, 0, 1,  1,    0,    0xe0, 0, 9, 4, 0,
				       0,  1, 9, 0, 0, 0,  7, 5,  0x81, 3,    4,    0, 12 };
	int n = snprintf(path, 128, "usb%u", bus), rc = 0;

	for (const char *end = port; end && !rc; end = strchr(end + 1, '.')) {
		char *full = g_strdup_printf("%s/sys/devices/%s", m->root, path);

		if (end != port)
			n += snprintf(path + n, (size_t)(128 - n), "/%.*s", (int)(end - port),
				      port);
		g_free(full);
		full = g_strdup_printf("%s/sys/devices/%s", m->root, path);
		if (!g_file_test(full, G_FILE_TEST_EXISTS)) {
			char *text = describe(path, bus, end == port ? 1 : m->next_number++, hub,
					      sizeof(hub));

			rc = sysfs(m, text, err);
			g_free(text);
		}
		g_free(full);
	}
	return rc;
}

static int plug_in(struct usb_port *p, struct cvl_error *err)
{
	struct mock *m = p->mock;
	struct plug *plug = g_new0(struct plug, 1);
	const unsigned bus = (unsigned)atoi(p->name), number = m->next_number++;
	char path[128], node[64], *text, *full;
	uint8_t descriptors[256];
	GError *problem = NULL;
	size_t n;
	int rc;

	g_ptr_array_add(m->plugs, plug);
	rc = hubs(m, p->name, bus, path, err);
	if (rc)
		return rc;
	full = g_strdup_printf("%s/%s", path, p->name);
	g_snprintf(plug->syspath, sizeof(plug->syspath), "/sys/devices/%s", full);
	g_snprintf(node, sizeof(node), "/dev/bus/usb/%03u/%03u", bus, number);
	plug->port = p;
	g_snprintf(plug->node, sizeof(plug->node), "%s%s", m->root, node);
	plug->handler = mock_usb_handler(plug);
	/* Whoever hears of the device opens it: its node must be ready before. */
	if (!umockdev_testbed_attach_ioctl(m->testbed, node, plug->handler, &problem)) {
		g_free(full);
		rc = cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "umockdev: %s", problem->message);
		g_error_free(problem);
		return rc;
	}
	g_mutex_lock(&m->lock);
	n = fx2_device_descriptors(p->device, descriptors);
	p->plug = plug;
	g_mutex_unlock(&m->lock);
	text = describe(full, bus, number, descriptors, n);
	rc = sysfs(m, text, err);
	g_free(text);
	g_free(full);
	return rc;
}

/*
 * umockdev leaves a call without an answer that is under way when its device is removed: by then
 * all have had theirs.
 */
static gboolean forget(gpointer ctx)
{
	struct plug *plug = ctx;

	umockdev_testbed_remove_device(plug->port->mock->testbed, plug->syspath);
	return G_SOURCE_REMOVE;
}

static void pull_out(struct usb_port *p)
{
	struct plug *plug = p->plug;

	if (!plug)
		return;
	g_mutex_lock(&p->mock->lock);
	plug->gone = TRUE;
	p->plug = NULL;
	g_mutex_unlock(&p->mock->lock);
	umockdev_testbed_uevent(p->mock->testbed, plug->syspath, "remove");
	g_timeout_add(FORGET_MS, forget, plug);
}

int mock_add_fx2(struct mock *m, const char *port, struct fx2_device *d, struct cvl_error *err)
{
	struct usb_port *p;

	if (strlen(port) >= PORT_MAX || atoi(port) < 1 || !strchr(port, '-') || find(m, port))
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "'%s' is not a free USB port",
				port);
	p = g_new0(struct usb_port, 1);
	p->mock = m;
	p->device = d;
	g_strlcpy(p->name, port, sizeof(p->name));
	g_ptr_array_add(m->ports, p);
	return plug_in(p, err);
}

void mock_unplug(struct mock *m, const char *port)
{
	struct usb_port *p = find(m, port);

	if (!p)
		return;
	p->pulled = TRUE;
	pull_out(p);
	mock_lock(m);
	fx2_device_unplug(p->device);
	mock_unlock(m);
}

int mock_replug(struct mock *m, const char *port, struct cvl_error *err)
{
	struct usb_port *p = find(m, port);

	if (!p || p->plug)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "nothing was pulled out of %s",
				port);
	p->pulled = FALSE;
	return plug_in(p, err);
}

static gboolean leave(gpointer ctx)
{
	pull_out(ctx);
	return G_SOURCE_REMOVE;
}

static gboolean come_back(gpointer ctx)
{
	struct usb_port *p = ctx;
	struct cvl_error err;

	if (!p->plug && !p->pulled && plug_in(p, &err))
		fprintf(stderr, "coeval-simbed: %s\n", err.text);
	return G_SOURCE_REMOVE;
}

void mock_renumber(struct usb_port *port)
{
	port->pulled = FALSE;
	port->plug->gone = TRUE; /* at once; the hub reports it a little later */
	g_timeout_add(RENUMBER_MS, leave, port);
	g_timeout_add(RENUMBER_MS + 2 * FORGET_MS, come_back, port);
}

/* ---- time, children ---- */

struct timer {
	void (*fn)(void *ctx);
	void *ctx;
};

static gboolean fire(gpointer p)
{
	struct timer t = *(struct timer *)p;

	g_free(p);
	t.fn(t.ctx);
	return G_SOURCE_REMOVE;
}

void mock_after(struct mock *m, double seconds, void (*fn)(void *ctx), void *ctx)
{
	struct timer *t = g_new(struct timer, 1);

	(void)m;
	*t = (struct timer){ fn, ctx };
	g_timeout_add((guint)(seconds * 1000), fire, t);
}

struct child {
	struct mock *mock;
	GPid pid;
	mock_exit_fn *fn;
	void *ctx;
};

static void ended(GPid pid, gint status, gpointer p)
{
	struct child *c = p;
	struct child copy = *c;

	g_spawn_close_pid(pid);
	g_ptr_array_remove(c->mock->children, c);
	if (copy.fn)
		copy.fn(copy.ctx, pid, status);
}

pid_t mock_spawn(struct mock *m, char *const argv[], const char *const env[], mock_exit_fn *fn,
		 void *ctx, struct cvl_error *err)
{
	gchar **all = g_get_environ();
	GError *problem = NULL;
	struct child *c;
	GPid pid = 0;

	all = g_environ_setenv(all, "UMOCKDEV_DIR", m->root, TRUE);
	for (size_t i = 0; env && env[i]; i++) {
		gchar **pair = g_strsplit(env[i], "=", 2);

		if (pair[0] && pair[1])
			all = g_environ_setenv(all, pair[0], pair[1], TRUE);
		g_strfreev(pair);
	}
	if (!g_spawn_async(NULL, (gchar **)argv, all,
			   G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD |
				   G_SPAWN_CHILD_INHERITS_STDIN,
			   NULL, NULL, &pid, &problem)) {
		cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s", problem->message);
		g_error_free(problem);
		g_strfreev(all);
		return -1;
	}
	g_strfreev(all);
	c = g_new(struct child, 1);
	*c = (struct child){ m, pid, fn, ctx };
	g_ptr_array_add(m->children, c);
	g_child_watch_add(pid, ended, c);
	return pid;
}

void mock_run(struct mock *m)
{
	g_main_loop_run(m->loop);
}

void mock_quit(struct mock *m)
{
	g_main_loop_quit(m->loop);
}

void mock_free(struct mock *m)
{
	if (!m)
		return;
	while (m->children->len) {
		struct child *c = g_ptr_array_index(m->children, 0);

		c->fn = NULL;
		kill(c->pid, SIGKILL);
		while (m->children->len && g_ptr_array_index(m->children, 0) == c)
			g_main_context_iteration(NULL, TRUE);
	}
	for (guint i = 0; i < m->plugs->len; i++)
		g_clear_object(&((struct plug *)g_ptr_array_index(m->plugs, i))->handler);
	g_clear_object(&m->testbed); /* ends its thread */
	g_ptr_array_free(m->plugs, TRUE);
	g_ptr_array_free(m->ports, TRUE);
	g_ptr_array_free(m->spidevs, TRUE);
	g_ptr_array_free(m->children, TRUE);
	g_mutex_clear(&m->lock);
	g_main_loop_unref(m->loop);
	g_free(m->root);
	g_free(m);
}
