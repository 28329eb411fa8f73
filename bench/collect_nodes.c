/* SPDX-License-Identifier: MIT */
/*
 * Many nodes, as `coeval capture --flush 200ms` and `coeval send` are, in this process: each with a session,
 * a sender and a connection of its own. Server and collector are processes, as ever.
 */
#include "collect.h"

#include <coeval/array.h>
#include <coeval/session.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/ctf/index.h"
#include "store/ctf/wire.h"
#include "uplink/run.h"
#include "uplink/sender.h"

#define WINDOWS 3
#define WINDOW_US 8000000
#define BEGIN_US 60000000 /* after which each node is expected to be heard */
#define FLUSH_US 200000
#define PAUSE_US 2000 /* between looks: what comes waits so long at most */
#define UNDER_WAY 512 /* packets of a node that are not stored yet */
#define FILES 10      /* of a node, at most */

struct load {
	unsigned nodes;
	size_t rate; /* bytes a second, of each */
};

struct node {
	char name[16];
	struct cvl_session *session;
	struct cvl_writer *writer;
	struct cvl_tick tick;
	struct outgoing *source;
	struct carrier *carrier;
	struct sender *sender;
	int64_t flush_us, work_us;    /* when each is due */
	int index_fd;                 /* of its clock at the collector; -1: not yet */
	uint64_t closed, stored;      /* packets */
	int64_t closed_us[UNDER_WAY]; /* when, by number */
};

struct nodes {
	const struct load *load;
	struct collect_bed bed;
	char folder[BENCH_PATH_MAX]; /* of their sessions, */
	const char *where;           /* which is there */
	struct node *node;
	struct pollfd *fd;
	double *waited_ms; /* from closed to stored, of packets of this window */
	size_t n, room;
};

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* ---- begin and end ---- */

static int open_node(const struct nodes *k, struct node *n, unsigned i, struct cvl_error *err)
{
	static const struct cvl_origin origin = { .format = "bench", .path = "-" };
	const struct cvl_store_desc desc = collect_clock(n->name);
	const struct nats_opts nats = { .url = k->bed.url,
					.testbed = RUN_TESTBED,
					.node = n->name };
	const struct sender_opts opts = { .seed = i };
	char path[BENCH_PATH_MAX + 40];
	int rc;

	snprintf(n->name, sizeof(n->name), "n%04u", i);
	snprintf(path, sizeof(path), "%s/%s", k->folder, n->name);
	n->index_fd = -1;
	rc = cvl_session_create(&n->session, path, err);
	rc = rc ? rc : cvl_session_add(n->session, &desc, &origin, &n->writer, err);
	rc = rc ? rc : outgoing_open(&n->source, path, NULL, err);
	rc = rc ? rc : nats_carrier_open(&n->carrier, &nats, err);
	rc = rc ? rc : sender_open(&n->sender, n->source, n->carrier, &opts, err);
	if (!rc)
		k->fd[i] = (struct pollfd){ .fd = carrier_fd(n->carrier), .events = POLLIN };
	return rc;
}

static void close_node(struct node *n)
{
	sender_close(n->sender);
	carrier_close(n->carrier);
	outgoing_close(n->source);
	if (n->session && n->index_fd >= 0)
		close(n->index_fd);
	cvl_session_close(n->session); /* and its writer: the capture is killed */
}

/* Each has a disk of its own, and what these cost must not be the collector's. */
static int make_folder(struct nodes *k)
{
	snprintf(k->folder, sizeof(k->folder), "/dev/shm/coeval-bench-XXXXXX");
	k->where = "in memory";
	if (mkdtemp(k->folder))
		return 0;
	k->where = "on the collector's disk";
	bench_path(k->bed.b, k->folder, "nodes");
	return mkdir(k->folder, 0777) ?
		       bench_fail(k->bed.b, CVL_E_IO, "%s: %s", k->folder, strerror(errno)) :
		       0;
}

static int open_nodes(struct nodes *k)
{
	struct cvl_error err;
	int64_t now;
	int rc = 0;

	for (unsigned i = 0; i < k->load->nodes && !rc; i++)
		rc = open_node(k, &k->node[i], i, &err);
	now = now_us();
	for (unsigned i = 0; i < k->load->nodes; i++)
		k->node[i].flush_us = now + (int64_t)i * FLUSH_US / k->load->nodes;
	return rc ? bench_fail(k->bed.b, rc, "%s", err.text) : 0;
}

/* ---- while they capture ---- */

static int capture(struct node *n, size_t bytes, struct cvl_error *err)
{
	const int64_t closed = now_us();
	int rc = collect_packet(n->writer, &n->tick, bytes, err);

	/* its list of clocks changes with the first alone */
	rc = rc ? rc : outgoing_look(n->source, !n->closed, err);
	if (!rc && n->closed - n->stored == UNDER_WAY)
		rc = cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET,
			      "%s: the collector is %d packets behind", n->name, UNDER_WAY);
	n->closed_us[n->closed++ % UNDER_WAY] = closed;
	return rc;
}

/*
 * The collector writes the index of what is synced; sooner only of more than 16 packets that come at once,
 * which is 3 s of a node.
 */
static int look(struct nodes *k, struct node *n, int64_t now, struct cvl_error *err)
{
	char path[BENCH_PATH_MAX + 100];
	struct stat st;

	if (n->index_fd < 0) {
		snprintf(path, sizeof(path), "%s/traces/%s/index/" WIRE_STREAM_FILE ".idx",
			 k->bed.session, n->name);
		n->index_fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (n->index_fd < 0 || fstat(n->index_fd, &st))
		return 0;
	for (;
	     sizeof(struct wire_index_header) + (n->stored + 1) * sizeof(struct wire_index_entry) <=
	     (uint64_t)st.st_size;
	     n->stored++) {
		if (cvl_room(&k->waited_ms, k->n, &k->room, sizeof(*k->waited_ms)))
			return cvl_no_memory(err);
		k->waited_ms[k->n++] = (double)(now - n->closed_us[n->stored % UNDER_WAY]) * 1e-3;
	}
	return 0;
}

static int work(struct nodes *k, struct node *n, bool news, struct cvl_error *err)
{
	const int64_t now = now_us();
	int wait_ms, rc = 0;

	if (now >= n->flush_us) {
		rc = capture(n, k->load->rate * FLUSH_US / 1000000, err);
		n->flush_us += FLUSH_US;
		news = true;
	}
	if (!rc && (news || now >= n->work_us)) {
		rc = sender_work(n->sender, run_now_ms(), &wait_ms, err);
		n->work_us = now + (int64_t)wait_ms * 1000;
	}
	return !rc && n->stored < n->closed ? look(k, n, now_us(), err) : rc;
}

/* Until @until, or, with @heard, something of each is stored. */
static int run_nodes(struct nodes *k, int64_t until, bool heard)
{
	struct cvl_error err;
	const struct timespec pause = { .tv_nsec = PAUSE_US * 1000 };
	unsigned missing;
	int rc = 0;

	do {
		missing = 0;
		nanosleep(&pause, NULL);
		poll(k->fd, k->load->nodes, 0);
		for (unsigned i = 0; i < k->load->nodes && !rc; i++) {
			rc = work(k, &k->node[i], k->fd[i].revents, &err);
			missing += !k->node[i].stored;
		}
		if (bench_stopped())
			return CVL_E_NO;
	} while (!rc && now_us() < until && !(heard && !missing));
	if (!rc && missing)
		rc = cvl_fail(&err, CVL_E_ENV, CVL_NO_OFFSET, "nothing came from %u of %u nodes",
			      missing, k->load->nodes);
	return rc ? bench_fail(k->bed.b, rc, "%s", err.text) : 0;
}

/* ---- what is measured ---- */

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quantile(struct nodes *k, double q)
{
	qsort(k->waited_ms, k->n, sizeof(*k->waited_ms), ascending);
	return k->n ? k->waited_ms[(size_t)(q * (double)(k->n - 1))] : NAN;
}

static double collector_cpu_s(pid_t pid)
{
	struct timespec t = { 0 };
	clockid_t clock;

	if (!clock_getcpuclockid(pid, &clock))
		clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct nodes_figures {
	struct bench_figure middle, slow, cpu, memory;
};

static int measure(struct nodes *k, struct nodes_figures *f)
{
	struct bench_usage usage = { 0 };
	struct bench_series rate = { 0 };
	double load = NAN;
	int rc = run_nodes(k, now_us() + BEGIN_US, true);

	/* those that came while others began are not of the steady state */
	rc = rc ? rc : run_nodes(k, now_us() + WINDOW_US / 2, false);
	for (int i = 0; i < WINDOWS && !rc; i++) {
		const double cpu_s = collector_cpu_s(k->bed.pid);
		const int64_t begin = now_us();
		double s;

		bench_doing(k->bed.b, "%u nodes: part %d of %d", k->load->nodes, i + 1, WINDOWS);
		k->n = 0;
		rc = run_nodes(k, begin + WINDOW_US, false);
		s = (double)(now_us() - begin) * 1e-6;
		bench_add(&f->cpu.measured, 100 * (collector_cpu_s(k->bed.pid) - cpu_s) / s);
		bench_add(&f->middle.measured, quantile(k, 0.5));
		bench_add(&f->slow.measured, quantile(k, 0.99));
		bench_add(&rate, (double)k->n / s);
	}
	if (rc)
		return rc;
	bench_watch(k->bed.pid, &usage);
	bench_add(&f->memory.measured, usage.resident_mib);
	getloadavg(&load, 1);
	snprintf(f->middle.note, sizeof(f->middle.note),
		 "%.0f of %.0f packets a second; load average %.1f", bench_median(&rate),
		 k->load->nodes * 1e6 / FLUSH_US, load);
	snprintf(f->slow.note, sizeof(f->slow.note), "nodes' sessions are %s", k->where);
	memcpy(f->cpu.note, f->middle.note, sizeof(f->cpu.note));
	return 0;
}

static int with_nodes(const struct bench *b, const struct load *load, struct nodes_figures *f)
{
	struct nodes k = { .load = load };
	int rc = collect_start(&k.bed, b, false);

	if (rc)
		return rc;
	bench_doing(b, "%u nodes", load->nodes);
	k.node = calloc(load->nodes, sizeof(*k.node));
	k.fd = calloc(load->nodes, sizeof(*k.fd));
	rc = k.node && k.fd ? make_folder(&k) : bench_fail(b, CVL_E_NOMEM, "out of memory");
	if (!rc) {
		rc = open_nodes(&k);
		rc = rc ? rc : measure(&k, f);
		for (unsigned i = 0; i < load->nodes; i++)
			close_node(&k.node[i]);
		bench_remove(k.folder);
	}
	collect_stop(&k.bed);
	free(k.node);
	free(k.fd);
	free(k.waited_ms);
	return rc;
}

/* Whether this process may have the files of @nodes nodes open. */
static bool raise_limit(const struct bench *b, unsigned nodes)
{
	struct rlimit l;

	if (!getrlimit(RLIMIT_NOFILE, &l)) {
		l.rlim_cur = l.rlim_max;
		setrlimit(RLIMIT_NOFILE, &l);
		if (l.rlim_cur >= (rlim_t)nodes * FILES)
			return true;
	}
	if (!b->json)
		printf("SKIP  %u nodes: the limit of open files is below %u\n", nodes,
		       nodes * FILES);
	return false;
}

int collect_nodes(const struct bench *b)
{
	static const struct load some = { 200, 50000 }, many = { 1000, 5000 };
	struct nodes_figures f = {
		.middle = { .name = "200 nodes x 50 kB/s in a process, 200 ms: closed to synced, p50",
			    .unit = "ms",
			    .less_is_better = true,
			    .goal = 300,
			    .real = true },
		.slow = { .name = "200 nodes x 50 kB/s in a process, 200 ms: closed to synced, p99",
			  .unit = "ms",
			  .less_is_better = true,
			  .goal = 600,
			  .real = true },
	};
	struct nodes_figures g = {
		.cpu = { .name = "1000 nodes x 5 kB/s in a process, 200 ms: collector's CPU time",
			 .unit = "%",
			 .less_is_better = true,
			 .goal = 60,
			 .real = true },
		.memory = { .name = "1000 nodes x 5 kB/s in a process, 200 ms: collector's memory",
			    .unit = "MiB",
			    .less_is_better = true,
			    .goal = 512,
			    .real = true },
	};
	int rc = 0;

	if (raise_limit(b, some.nodes)) {
		rc = with_nodes(b, &some, &f);
		if (rc)
			return rc;
		bench_figure_put(b, &f.middle);
		bench_figure_put(b, &f.slow);
	}
	if (raise_limit(b, many.nodes)) {
		rc = with_nodes(b, &many, &g);
		if (rc)
			return rc;
		bench_figure_put(b, &g.cpu);
		bench_figure_put(b, &g.memory);
	}
	return 0;
}
