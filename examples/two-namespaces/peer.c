/* SPDX-License-Identifier: MIT */
/*
 * One of two programs that exchange UDP datagrams and trace it: `peer ask` sends and waits for an
 * answer, `peer answer` answers. Its clock may be made to begin elsewhere and to run at another
 * rate than the machine's, so that the truth is known; that is written down.
 *
 *   peer ask|answer TRACE ADDRESS EXCHANGES [PHASE_NS RATE_PPB TRUTH]
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define TRACER_POINTS "peer_points.h"
#include "tracer/linux/program.h"

#define PORT 9797
#define TRIES 50

struct skew {
	int64_t phase_ns, rate_ppb;
	int64_t start; /* when the clock shows phase_ns */
};

static int64_t monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The skewed clock: positive rates run fast. */
static uint64_t skewed(void *ctx)
{
	const struct skew *s = ctx;
	int64_t since = monotonic() - s->start;

	return (uint64_t)(s->phase_ns + since +
			  (int64_t)((__int128)since * s->rate_ppb / 1000000000));
}

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static void pause_ms(unsigned ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = (long)ms * 1000000 }, NULL);
}

/* Stamped before it leaves. */
static int put(struct tracer *t, int fd, uint32_t seq)
{
	uint8_t packet[64] = { 0 };

	memcpy(packet, &seq, sizeof(seq));
	trace_udp_send(t, seq, sizeof(packet));
	return send(fd, packet, sizeof(packet), 0) == (ssize_t)sizeof(packet) ? 0 : -1;
}

/* Stamped after it has come. Returns -1 if none comes. */
static int get(struct tracer *t, int fd, uint32_t *seq)
{
	uint8_t packet[64];

	if (recv(fd, packet, sizeof(packet), 0) != (ssize_t)sizeof(packet))
		return -1;
	memcpy(seq, packet, sizeof(*seq));
	trace_udp_receive(t, *seq, sizeof(packet));
	return 0;
}

static int ask(struct tracer *t, int fd, uint32_t exchanges)
{
	uint32_t seq, answers = 0;

	for (uint32_t i = 0, tries = 0; i < exchanges; i++) {
		trace_work(t, "measure", i);
		if (put(t, fd, 2 * i) || get(t, fd, &seq)) {
			/* no response yet */
			if (!answers && ++tries == TRIES)
				return fail("no answer");
			pause_ms(50);
			continue;
		}
		answers++;
		pause_ms(5 + i % 13);
	}
	return put(t, fd, UINT32_MAX) ? fail("send") : 0;
}

static int answer(struct tracer *t, int fd)
{
	uint32_t seq, work = 0;

	for (;;) {
		if (get(t, fd, &seq))
			return fail("no request received");
		if (seq == UINT32_MAX)
			return 0;
		trace_work(t, "control", work++);
		if (put(t, fd, seq + 1))
			return fail("send");
	}
}

int main(int argc, char **argv)
{
	static struct skew skew;
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct timeval patience = { .tv_sec = 10 };
	int asks = argc > 1 && !strcmp(argv[1], "ask"), fd;
	struct tracer *t;

	if ((argc != 5 && argc != 8) || !inet_aton(argv[3], &a.sin_addr)) {
		fprintf(stderr,
			"usage: %s ask|answer TRACE ADDRESS EXCHANGES [PHASE_NS RATE_PPB TRUTH]\n",
			argv[0]);
		return 2;
	}
	if (argc == 8) {
		FILE *f = fopen(argv[7], "w");

		skew = (struct skew){ atoll(argv[5]), atoll(argv[6]), monotonic() };
		if (!f)
			return fail(argv[7]);
		fprintf(f,
			"{\"start_ns\":%" PRId64 ",\"phase_ns\":%" PRId64 ",\"rate_ppb\":%" PRId64
			"}\n",
			skew.start, skew.phase_ns, skew.rate_ppb);
		fclose(f);
	}
	t = argc == 8 ? tracer_linux(.to = argv[2], .node = argv[1], .clock = skewed, .ctx = &skew,
				     .rate_hz = 1000000000) :
			tracer_linux(.to = argv[2], .node = argv[1]);

	/* who asks has the address of who answers; the other waits there for the first datagram */
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0)
		return fail("socket");
	if (asks) {
		patience.tv_sec = 1;
		if (connect(fd, (struct sockaddr *)&a, sizeof(a)))
			return fail(argv[3]);
	} else {
		socklen_t n = sizeof(a);

		if (bind(fd, (struct sockaddr *)&a, sizeof(a)))
			return fail(argv[3]);
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		if (recvfrom(fd, NULL, 0, MSG_PEEK, (struct sockaddr *)&a, &n) < 0 ||
		    connect(fd, (struct sockaddr *)&a, n))
			return fail("no request received");
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return asks ? ask(t, fd, (uint32_t)atoi(argv[4])) : answer(t, fd);
}
