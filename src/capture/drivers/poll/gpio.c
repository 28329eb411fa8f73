/* SPDX-License-Identifier: MIT */
#include "capture/drivers/poll/gpio.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int poll_gpio_open(struct poll_source *s, struct cvl_error *err)
{
	struct gpio_v2_line_request r = { .num_lines = s->n_gpio, .event_buffer_size = 1024 };
	int chip = open(s->path, O_RDWR | O_CLOEXEC), rc, error;

	if (chip < 0)
		return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
				"%s: %s; `gpiodetect` lists chips, whose group may use them",
				s->path, strerror(errno));
	memcpy(r.offsets, s->gpio, s->n_gpio * sizeof(*r.offsets));
	strcpy(r.consumer, "coeval");
	r.config.flags = GPIO_V2_LINE_FLAG_INPUT | GPIO_V2_LINE_FLAG_EDGE_RISING |
			 GPIO_V2_LINE_FLAG_EDGE_FALLING;
	rc = ioctl(chip, GPIO_V2_GET_LINE_IOCTL, &r);
	error = errno;
	close(chip);
	if (rc)
		return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
				"%s: cannot get its lines: %s; `gpioinfo` shows who uses them",
				s->text, strerror(error));
	s->fd = r.fd;
	fcntl(s->fd, F_SETFL, fcntl(s->fd, F_GETFL) | O_NONBLOCK);
	return 0;
}

int poll_gpio_levels(const struct poll_source *s, uint64_t *levels)
{
	struct gpio_v2_line_values v = { .mask = s->n_gpio == 64 ? UINT64_MAX :
								   (UINT64_C(1) << s->n_gpio) - 1 };

	if (ioctl(s->fd, GPIO_V2_LINE_GET_VALUES_IOCTL, &v))
		return errno;
	*levels = v.bits;
	return 0;
}

unsigned poll_gpio_event(struct poll_gpio *g, const struct gpio_v2_line_event *e,
			 struct poll_seen out[POLL_GPIO_MADE])
{
	const uint64_t latency = (uint64_t)g->source->latency_ns;
	uint64_t bit = 0, levels;
	uint32_t lost = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < g->source->n_gpio; i++)
		if (g->source->gpio[i] == e->offset)
			bit = UINT64_C(1) << i;
	if (!bit)
		return 0;
	levels = e->id == GPIO_V2_LINE_EVENT_RISING_EDGE ? g->levels | bit : g->levels & ~bit;
	if (e->timestamp_ns < g->began || (e->timestamp_ns <= g->sure && levels == g->levels)) {
		g->seqno = e->seqno;
		return 0;
	}
	lost = e->seqno - g->seqno - 1;
	if (levels == g->levels && !lost)
		lost = 1; /* the edge to the other side */
	if (lost)
		out[n++] = (struct poll_seen){
			.kind = POLL_FULL, .from = g->last, .to = e->timestamp_ns, .lost = lost
		};
	out[n++] = (struct poll_seen){
		.kind = POLL_CHANGE,
		.from = e->timestamp_ns > latency ? e->timestamp_ns - latency : 0,
		.to = e->timestamp_ns,
		.levels = levels,
		.changed = bit,
	};
	g->seqno = e->seqno;
	g->levels = levels;
	g->last = e->timestamp_ns;
	return n;
}
