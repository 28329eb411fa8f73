/* SPDX-License-Identifier: MIT */
/** spidev (linux/spi/spidev.h). */
#include "sim/simbed/mock_internal.h"

#include <errno.h>
#include <linux/spi/spidev.h>
#include <string.h>
#include <sys/ioctl.h>

/* As the kernel's driver has it by default (bufsiz). */
#define MESSAGE_MAX 4096

struct spi {
	struct mock *mock;
	mock_spi_fn *fn;
	void *ctx;
	guint32 mode, speed;
	guint8 lsb_first, bits;
};

/* From select to deselect of the chip: the transfers of one message, one after the other. */
static int message(struct spi *s, UMockdevIoctlData *data, size_t transfers)
{
	struct spi_ioc_transfer *t = (void *)data->data;
	guint8 tx[MESSAGE_MAX] = { 0 }, rx[MESSAGE_MAX] = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < transfers; n += t[i++].len) {
		UMockdevIoctlData *from;

		if (t[i].len > MESSAGE_MAX - n)
			return -EMSGSIZE;
		from = umockdev_ioctl_data_resolve(
			data, i * sizeof(*t) + G_STRUCT_OFFSET(struct spi_ioc_transfer, tx_buf),
			t[i].len, NULL);
		if (from)
			memcpy(tx + n, from->data, t[i].len);
		g_clear_object(&from);
	}
	if (s->fn(s->ctx, tx, rx, n))
		return -EIO;
	n = 0;
	for (size_t i = 0; i < transfers; n += t[i++].len) {
		UMockdevIoctlData *to = umockdev_ioctl_data_resolve(
			data, i * sizeof(*t) + G_STRUCT_OFFSET(struct spi_ioc_transfer, rx_buf),
			t[i].len, NULL);

		if (to)
			memcpy(to->data, rx + n, t[i].len);
		g_clear_object(&to);
	}
	return (int)n;
}

static int setting(void *value, size_t size, void *data, gboolean write)
{
	if (write)
		memcpy(value, data, size);
	else
		memcpy(data, value, size);
	return 0;
}

static gboolean on_ioctl(UMockdevIoctlBase *handler, UMockdevIoctlClient *client, gpointer ctx)
{
	const gulong request = umockdev_ioctl_client_get_request(client);
	const gboolean write = (_IOC_DIR(request) & _IOC_WRITE) != 0;
	const gsize size = _IOC_SIZE(request);
	UMockdevIoctlData *data = NULL;
	struct spi *s = ctx;
	int rc = -ENOTTY;

	(void)handler;
	if (_IOC_TYPE(request) == SPI_IOC_MAGIC && size)
		data = umockdev_ioctl_data_resolve(umockdev_ioctl_client_get_arg(client), 0, size,
						   NULL);
	g_mutex_lock(&s->mock->lock);
	if (data && _IOC_NR(request) == 0) {
		rc = size % sizeof(struct spi_ioc_transfer) ?
			     -EINVAL :
			     message(s, data, size / sizeof(struct spi_ioc_transfer));
	} else if (data) {
		switch (request) {
		case SPI_IOC_RD_MODE:
		case SPI_IOC_WR_MODE: rc = setting(&s->mode, 1, data->data, write); break;
		case SPI_IOC_RD_MODE32:
		case SPI_IOC_WR_MODE32: rc = setting(&s->mode, 4, data->data, write); break;
		case SPI_IOC_RD_LSB_FIRST:
		case SPI_IOC_WR_LSB_FIRST: rc = setting(&s->lsb_first, 1, data->data, write); break;
		case SPI_IOC_RD_BITS_PER_WORD:
		case SPI_IOC_WR_BITS_PER_WORD: rc = setting(&s->bits, 1, data->data, write); break;
		case SPI_IOC_RD_MAX_SPEED_HZ:
		case SPI_IOC_WR_MAX_SPEED_HZ: rc = setting(&s->speed, 4, data->data, write); break;
		default: break;
		}
	}
	g_mutex_unlock(&s->mock->lock);
	umockdev_ioctl_client_complete(client, rc < 0 ? -1 : rc, rc < 0 ? -rc : 0);
	g_clear_object(&data);
	return TRUE;
}

int mock_add_spidev(struct mock *m, const char *name, mock_spi_fn *fn, void *ctx,
		    struct cvl_error *err)
{
	UMockdevIoctlBase *handler = umockdev_ioctl_base_new();
	struct spi *s = g_new0(struct spi, 1);
	char *node = g_strdup_printf("/dev/%s", name);
	char *text = g_strdup_printf("P: /devices/platform/spi/%s\nN: %s\nE: DEVNAME=/dev/%s\n"
				     "E: SUBSYSTEM=spidev\nE: MAJOR=153\nE: MINOR=%u\n\n",
				     name, name, name, m->spidevs->len);
	GError *problem = NULL;
	int rc = 0;

	*s = (struct spi){ .mock = m, .fn = fn, .ctx = ctx, .speed = 500000, .bits = 8 };
	g_ptr_array_add(m->spidevs, s);
	g_signal_connect(handler, "handle-ioctl", G_CALLBACK(on_ioctl), s);
	if (!umockdev_testbed_attach_ioctl(m->testbed, node, handler, &problem) ||
	    !umockdev_testbed_add_from_string(m->testbed, text, &problem)) {
		rc = cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "umockdev: %s", problem->message);
		g_error_free(problem);
	}
	g_object_unref(handler); /* the testbed has its own */
	g_free(node);
	g_free(text);
	return rc;
}
