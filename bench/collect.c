/* SPDX-License-Identifier: MIT */
/* What it costs to bring a session to a collector: processes of coeval, and a server. */
#include "collect.h"

#include <coeval/files.h>
#include <coeval/session.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/crc32c.h"
#include "store/ctf/wire.h"
#include "uplink/nats.h"
#include "uplink/protocol.h"
#include "uplink/server.h"

#define RUNS 5
#define MESSAGES "collector"
#define BYTES 256000000u
#define MB 1e6
#define EDGE_BYTES 5
#define TICKS_APART 100
#define SYNC_BYTES (8 << 20) /* that the reference syncs at once: as many as a collector */

/* ---- packets ---- */

struct cvl_store_desc collect_clock(const char *name)
{
	static const char *const lines[] = { "a", "b", "c", "d", "e", "f", "g", "h" };

	return (struct cvl_store_desc){
		.clock = name, .rate_hz = 1000000, .lines = lines, .n_lines = 8
	};
}

int collect_packet(struct cvl_writer *w, struct cvl_tick *tick, size_t bytes, struct cvl_error *err)
{
	const size_t head = sizeof(struct wire_packet) + 2 * WIRE_CRC_BYTES;
	size_t n = bytes > head ? (bytes - head) / EDGE_BYTES : 1;
	struct cvl_tick at[512];
	uint64_t levels[512];
	int rc = 0;

	while (n && !rc) {
		const size_t some = n < 512 ? n : 512;

		for (size_t i = 0; i < some; i++) {
			at[i].count = tick->count += TICKS_APART;
			levels[i] = tick->count / TICKS_APART * 2654435761u >> 24 & 255;
		}
		rc = cvl_writer_edges(w, at, levels, some, err);
		n -= some;
	}
	return rc ? rc : cvl_writer_flush_until(w, *tick, err);
}

static int make_session(const struct bench *b, const char *path, size_t packet)
{
	static const struct cvl_origin origin = { .format = "bench", .path = "-" };
	const struct cvl_store_desc desc = collect_clock("n");
	struct cvl_tick tick = { 0 };
	struct cvl_session *s;
	struct cvl_writer *w;
	struct cvl_error err;
	int rc = cvl_session_create(&s, path, &err);

	bench_doing(b, "making %s", path);
	if (rc)
		return bench_fail(b, rc, "%s", err.text);
	rc = cvl_session_add(s, &desc, &origin, &w, &err);
	for (size_t n = 0; n < BYTES && !rc; n += packet)
		rc = collect_packet(w, &tick, packet, &err);
	rc = rc ? rc : cvl_session_finish(s, w, tick, &err);
	cvl_session_close(s);
	return rc ? bench_fail(b, rc, "%s", err.text) : 0;
}

/* ---- the processes ---- */

/* One that nobody has now. */
static unsigned free_port(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const bool got = fd >= 0 && !bind(fd, (struct sockaddr *)&a, n) &&
			 !getsockname(fd, (struct sockaddr *)&a, &n);

	if (fd >= 0)
		close(fd);
	return got ? ntohs(a.sin_port) : 4222;
}

int collect_start(struct collect_bed *bed, const struct bench *b, bool until_ended)
{
	struct server_opts opts = { .folder = bed->folder, .store_bytes = (uint64_t)12 << 30 };
	const char *argv[] = { b->coeval, "collect",       bed->session, "--server",
			       NULL,      "--until-ended", NULL };
	const struct bench_command c = { .argv = argv, .messages = MESSAGES };
	struct cvl_error err;
	char listen[40];
	int rc;

	*bed = (struct collect_bed){ .b = b };
	bench_path(b, bed->session, "all");
	bench_path(b, bed->folder, "server");
	snprintf(listen, sizeof(listen), "127.0.0.1:%u", free_port());
	opts.listen = listen;
	rc = server_start(&bed->server, &opts, &err);
	if (rc)
		return bench_fail(b, rc, "%s", err.text);
	argv[4] = bed->url = server_url(bed->server);
	if (!until_ended)
		argv[5] = NULL;
	rc = bench_start(b, &c, &bed->pid);
	if (rc)
		collect_stop(bed);
	return rc;
}

/* CPU time of the first thread of a process, also of one that has ended and was not waited for. */
static double first_thread_s(pid_t pid)
{
	unsigned long long ns = 0;
	char path[64], line[100];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	f = fopen(path, "r");
	if (f && fgets(line, sizeof(line), f))
		ns = strtoull(line, NULL, 10);
	if (f)
		fclose(f);
	return (double)ns * 1e-9;
}

int collect_wait(struct collect_bed *bed, struct collect_used *used)
{
	struct rusage all;
	siginfo_t info;
	int status = 0;

	while (waitid(P_PID, (id_t)bed->pid, &info, WEXITED | WNOWAIT) < 0)
		if (errno != EINTR || bench_stopped())
			return CVL_E_NO;
	used->first = first_thread_s(bed->pid);
	wait4(bed->pid, &status, 0, &all);
	used->all = bench_seconds(&all);
	bed->pid = 0;
	if (!status)
		return 0;
	bench_fail(bed->b, CVL_E_ENV, "%s collect failed:", bed->b->coeval);
	bench_show_messages(bed->b, MESSAGES);
	return CVL_E_ENV;
}

void collect_stop(struct collect_bed *bed)
{
	if (bed->pid) {
		kill(bed->pid, SIGTERM);
		waitpid(bed->pid, NULL, 0);
	}
	server_stop(bed->server);
	bench_remove(bed->session);
	bench_remove(bed->folder);
}

/* ---- a session as fast as it goes ---- */

/* What cannot be less: the messages copied, their packets' CRC, written, and synced. CPU time. */
static int reference(const struct bench *b, const char *stream, size_t packet, double *cpu_s)
{
	static uint8_t message[UPLINK_MESSAGE_MAX];
	static volatile uint32_t crc; /* it is computed although nothing needs it */
	char path[BENCH_PATH_MAX];
	struct cvl_error err;
	size_t n, at, synced = 0;
	char *bytes = cvl_read_whole(stream, (size_t)1 << 30, &n, &err);
	double begin;
	int fd, rc = 0;

	if (!bytes)
		return bench_fail(b, (int)err.code, "%s", err.text);
	bench_path(b, path, "reference");
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	begin = bench_cpu();
	for (at = 0; at < n && !rc;) {
		const size_t some = n - at < sizeof(message) ? n - at : sizeof(message);

		memcpy(message, bytes + at, some);
		for (size_t p = 0; p < some; p += packet)
			crc = cvl_crc32c(0, message + p, some - p < packet ? some - p : packet);
		if (write(fd, message, some) != (ssize_t)some)
			rc = CVL_E_IO;
		at += some;
		if (at - synced >= SYNC_BYTES || at == n) {
			rc = syncfs(fd) ? CVL_E_IO : rc;
			synced = at;
		}
	}
	*cpu_s = bench_cpu() - begin;
	(void)crc;
	if (fd >= 0)
		close(fd);
	unlink(path);
	free(bytes);
	return rc ? bench_fail(b, rc, "%s: cannot be written", path) : 0;
}

/* Send the session in @path once. */
static int carry(const struct bench *b, const char *path, struct collect_used *collector,
		 struct bench_usage *sender)
{
	const char *send[] = { b->coeval, "send", path, "--name", "n", "--server", NULL, NULL };
	struct collect_bed bed;
	int rc = collect_start(&bed, b, true);

	if (rc)
		return rc;
	send[6] = bed.url;
	rc = bench_run(b, &(struct bench_command){ .argv = send }, sender);
	if (!rc)
		rc = collect_wait(&bed, collector);
	collect_stop(&bed);
	return rc;
}

struct sender_figures {
	struct bench_figure cpu, memory, threads;
};

static int packets_of(const struct bench *b, size_t kib, double goal, struct sender_figures *sender)
{
	char path[BENCH_PATH_MAX], stream[BENCH_PATH_MAX + 20], name[80];
	struct bench_figure f = {
		.name = name, .unit = "ms", .less_is_better = true, .goal = goal, .real = true
	};
	struct bench_series all = { 0 }, least = { 0 }, anon = { 0 };
	struct stat st = { 0 };
	int rc;

	snprintf(name, sizeof(name), "collector, %zu KiB: verify, append, sync a MB: CPU time",
		 kib);
	bench_path(b, path, "session");
	snprintf(stream, sizeof(stream), "%s/traces/n/" WIRE_STREAM_FILE, path);
	rc = make_session(b, path, kib << 10);
	if (!rc && stat(stream, &st))
		rc = bench_fail(b, CVL_E_IO, "%s: %s", stream, strerror(errno));
	for (int i = 0; i < RUNS && !rc; i++) {
		const double mb = (double)st.st_size / MB;
		struct bench_usage usage = { .watch_memory = true };
		struct collect_used used;
		double reference_s = 0;

		bench_doing(b, "%s: run %d", name, i + 1);
		rc = carry(b, path, &used, &usage);
		rc = rc ? rc : reference(b, stream, kib << 10, &reference_s);
		if (rc)
			break;
		bench_add(&f.measured, used.first * 1e3 / mb);
		bench_add(&all, used.all * 1e3 / mb);
		bench_add(&least, reference_s * 1e3 / mb);
		if (!sender)
			continue;
		bench_add(&sender->cpu.measured, usage.cpu_s * 1e3 / mb);
		bench_add(&sender->memory.measured, usage.resident_mib);
		bench_add(&anon, usage.anon_mib);
		bench_add(&sender->threads.measured, usage.threads);
	}
	bench_remove(path);
	if (rc)
		return rc;
	snprintf(f.note, sizeof(f.note),
		 "with libnats %.2f; memcpy, CRC, write and sync alone %.2f", bench_median(&all),
		 bench_median(&least));
	bench_figure_put(b, &f);
	if (sender)
		snprintf(sender->memory.note, sizeof(sender->memory.note),
			 "%.1f of it its own, the rest mapped programs and libraries",
			 bench_median(&anon));
	return 0;
}

static int bulk(const struct bench *b)
{
	struct sender_figures sender = {
		.cpu = { .name = "sender, 16 KiB: CPU time a MB",
			 .unit = "ms",
			 .less_is_better = true,
			 .goal = 1.2,
			 .real = true },
		.memory = { .name = "sender, 16 KiB: peak memory",
			    .unit = "MiB",
			    .less_is_better = true,
			    .goal = 8,
			    .real = true },
		.threads = { .name = "sender, 16 KiB: threads",
			     .unit = "",
			     .less_is_better = true,
			     .goal = 8,
			     .real = true },
	};
	int rc = packets_of(b, 4, 1.5, NULL);

	rc = rc ? rc : packets_of(b, 16, 0.8, &sender);
	rc = rc ? rc : packets_of(b, 64, 0.5, NULL);
	if (rc)
		return rc;
	bench_figure_put(b, &sender.cpu);
	bench_figure_put(b, &sender.memory);
	bench_figure_put(b, &sender.threads);
	return 0;
}

/* Whether there is what it takes; if not, says what is missing. */
static bool can_run(const struct bench *b)
{
	const struct nats_opts nowhere = { .url = "nats://127.0.0.1:1", .testbed = "bench" };
	struct bench_row row = { .name = "collect" };
	struct carrier *c = NULL;
	struct cvl_error err;

	if (nats_carrier_open(&c, &nowhere, &err) == CVL_E_UNSUPPORTED)
		snprintf(row.skip, sizeof(row.skip), "%.199s", err.text);
	/* Debian has it in a directory that users' PATH does not name */
	else if (bench_installed(&row, "nats-server") || !access("/usr/sbin/nats-server", X_OK))
		row.skip[0] = '\0';
	carrier_close(c);
	if (row.skip[0] && !b->json)
		printf("SKIP  %s: %s\n", row.name, row.skip);
	return !row.skip[0];
}

static int run(const struct bench *b)
{
	int rc;

	if (!can_run(b))
		return 0;
	bench_figure_heads(b);
	rc = bulk(b);
	return rc ? rc : collect_nodes(b);
}

const struct bench_group bench_collect = {
	.name = "collect",
	.what = "a session sent through a NATS server, and many nodes that send as they capture",
	.run = run,
};
