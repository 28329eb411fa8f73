/* SPDX-License-Identifier: MIT */
/* The carrier that is made of a NATS server, against a real one: what was once met, and must not come again. */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "uplink/nats.h"
#include "uplink/run.h"

#include "test_scratch.h"

#define PATIENCE_MS 15000
#define BODY 4096

static char program[400], store[300], url[64];
static int port;
static pid_t server;

/* ---- the server ---- */

static int socket_at(int at)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons((uint16_t)at),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 16), 0);
	return fd;
}

static int port_of(int fd)
{
	struct sockaddr_in a;
	socklen_t n = sizeof(a);

	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
	return ntohs(a.sin_port);
}

static int connect_to(int at)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons((uint16_t)at),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (!connect(fd, (struct sockaddr *)&a, sizeof(a)))
		return fd;
	close(fd);
	return -1;
}

static void start_server(void)
{
	char config[400];
	FILE *f;

	snprintf(config, sizeof(config), "%s/server.conf", scratch);
	f = fopen(config, "w");
	assert_non_null(f);
	fprintf(f,
		"listen: \"127.0.0.1:%d\"\nmax_payload: 1MB\n"
		"jetstream { store_dir: \"%s\", max_file_store: 200MB, max_memory_store: 16MB }\n",
		port, store);
	fclose(f);
	server = fork();
	if (!server) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout))
			_exit(126);
		execl(program, "nats-server", "-c", config, (char *)NULL);
		_exit(127);
	}
	for (int i = 0; i < 500; i++) {
		const int fd = connect_to(port);

		if (fd >= 0) {
			close(fd);
			return;
		}
		usleep(20000);
	}
	fail_msg("%s does not start", program);
}

static void kill_server(void)
{
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
}

/* It is there, and does nothing: when this returns, no thread of it does. */
static void stop_server(void)
{
	int status;

	kill(server, SIGSTOP);
	assert_int_equal(waitpid(server, &status, WUNTRACED), server);
}

/* What it knew is gone. */
static void forget_store(void)
{
	assert_int_equal(nftw(store, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static int begin(void **state)
{
	int fd;

	if (make_scratch(state))
		return -1;
	snprintf(store, sizeof(store), "%s/store", scratch);
	fd = socket_at(0);
	port = port_of(fd);
	close(fd);
	snprintf(url, sizeof(url), "nats://127.0.0.1:%d", port);
	start_server();
	return 0;
}

static int end(void **state)
{
	kill_server();
	return remove_scratch(state);
}

/* ---- the two ends ---- */

static struct carrier *open_end(const char *testbed, const char *node, const char *at)
{
	const struct nats_opts opts = {
		.url = at, .testbed = testbed, .node = node, .stream_bytes = 1 << 20
	};
	struct carrier *c;
	struct cvl_error err;

	if (nats_carrier_open(&c, &opts, &err))
		fail_msg("%s", err.text);
	return c;
}

/* The next event of @kind. False: none in @ms. */
static bool within(struct carrier *c, enum carrier_kind kind, struct carrier_event *e, int64_t ms)
{
	const int64_t until = run_now_ms() + ms;

	while (run_now_ms() < until) {
		struct pollfd fd = { .fd = carrier_fd(c), .events = POLLIN };

		while (carrier_next(c, e)) {
			if (e->kind == kind)
				return true;
			if (e->kind == CARRIER_CLOSED)
				fail_msg("%s", e->text);
		}
		poll(&fd, 1, 100);
	}
	return false;
}

static struct carrier_event await(struct carrier *c, enum carrier_kind kind)
{
	struct carrier_event e;

	if (!within(c, kind, &e, PATIENCE_MS))
		fail_msg("no event %d", (int)kind);
	return e;
}

/* Send, again and again, until it was taken: the stream may not be there yet, or be full. */
static void send_one(struct carrier *c, char letter, uint64_t ticket)
{
	const int64_t until = run_now_ms() + PATIENCE_MS;
	struct carrier_event e;
	char body[BODY];

	memset(body, letter, sizeof(body));
	while (run_now_ms() < until) {
		if (!carrier_send(c, "clock", body, sizeof(body), ticket)) {
			within(c, CARRIER_READY, &e, 100);
			continue;
		}
		for (bool answered = false; !answered;) {
			if (!within(c, CARRIER_TAKEN, &e, 200)) {
				answered = true; /* refused, or it takes long: once more */
			} else if (e.ticket == ticket) {
				return;
			}
		}
	}
	fail_msg("'%c' is not taken", letter);
}

/* Take messages up to the first of @letter, and forget them. */
static void take_upto(struct carrier *c, char letter)
{
	for (;;) {
		const struct carrier_event e = await(c, CARRIER_MESSAGE);

		carrier_forget(c, e.ticket);
		assert_int_equal(e.n, BODY);
		if (*(const char *)e.body == letter)
			return;
	}
}

/* ---- traps, each once met ---- */

/* The same message again, after it was taken and purged: the server must not think it a duplicate. */
static void what_is_sent_again_comes_again(void **state)
{
	struct carrier *all = open_end("again", NULL, url), *n = open_end("again", "n1", url);

	(void)state;
	await(all, CARRIER_READY);
	await(n, CARRIER_READY);
	for (int i = 0; i < 3; i++) {
		send_one(n, 'x', 7);
		take_upto(all, 'x');
		usleep(1500000); /* it is purged */
	}
	carrier_close(n);
	carrier_close(all);
}

/* A server that hangs, or dies, answers nothing: of each message that was sent it is said that it is not there. */
static void what_is_not_answered_is_refused(void **state)
{
	struct carrier *all = open_end("hangs", NULL, url), *n = open_end("hangs", "n1", url);
	char body[BODY] = { 0 };
	bool answered[60] = { false };

	(void)state;
	await(all, CARRIER_READY);
	await(n, CARRIER_READY);
	send_one(n, 'a', 1000);
	stop_server();
	for (uint64_t i = 0; i < 60; i++)
		assert_true(carrier_send(n, "clock", body, sizeof(body), i));
	for (int i = 0; i < 60; i++) {
		struct carrier_event e;

		if (!within(n, CARRIER_REFUSED, &e, 4000)) {
			kill(server, SIGCONT);
			fail_msg("%d of 60 were answered", i);
		}
		assert_in_range(e.ticket, 0, 59);
		assert_false(answered[e.ticket]);
		answered[e.ticket] = true;
	}
	kill_server();
	start_server();
	send_one(n, 'b', 2000);
	take_upto(all, 'b');
	carrier_close(n);
	carrier_close(all);
}

/* The server goes on after a while, as if a link had been away. */
static void *go_on(void *after_ms)
{
	usleep(*(const useconds_t *)after_ms * 1000);
	kill(server, SIGCONT);
	return NULL;
}

/* A message may be given up before all of it was handed to the socket, which is full: what goes out is it nevertheless. */
static void what_is_given_up_half_sent_stays_what_it_is(void **state)
{
	struct carrier *all = open_end("half", NULL, url), *n = open_end("half", "n1", url);
	static char body[256 << 10];
	useconds_t after_ms = 4000;
	int64_t began, longest = 0;
	struct carrier_event e;
	pthread_t thread;

	(void)state;
	await(all, CARRIER_READY);
	await(n, CARRIER_READY);
	send_one(n, 'a', 1);
	stop_server();
	assert_int_equal(pthread_create(&thread, NULL, go_on, &after_ms), 0);
	for (uint64_t i = 0; i < 200 && longest < 2500; i++) {
		began = run_now_ms();
		assert_true(carrier_send(n, "clock", body, sizeof(body), 10 + i));
		if (run_now_ms() - began > longest)
			longest = run_now_ms() - began;
	}
	pthread_join(thread, NULL);
	assert_true(longest >= 2500); /* it was given up meanwhile */
	for (began = run_now_ms(); run_now_ms() - began < 2000; usleep(10000))
		while (carrier_next(n, &e))
			assert_int_not_equal(e.kind, CARRIER_GONE);
	send_one(n, 'b', 2000);
	carrier_close(n);
	carrier_close(all);
}

/* libnats has a buffer for what is published meanwhile, which it says was sent. */
static void nothing_is_sent_without_a_connection(void **state)
{
	struct carrier *all = open_end("away", NULL, url), *n = open_end("away", "n1", url);
	char body[BODY] = { 0 };

	(void)state;
	await(all, CARRIER_READY);
	await(n, CARRIER_READY);
	send_one(n, 'a', 1);
	kill_server();
	await(n, CARRIER_GONE);
	for (uint64_t i = 0; i < 20; i++) {
		assert_false(carrier_send(n, "clock", body, sizeof(body), 10 + i));
		assert_false(carrier_tell(n, NULL, CARRIER_LIVE, "{}", 2));
	}
	start_server();
	await(n, CARRIER_READY);
	send_one(n, 'b', 2);
	take_upto(all, 'b');
	carrier_close(n);
	carrier_close(all);
}

/* All was taken, and was forgotten only when the stream was full: nothing comes any more that would remind of purging. */
static void a_full_stream_is_emptied_though_nothing_comes(void **state)
{
	struct carrier *all = open_end("full", NULL, url), *n = open_end("full", "n1", url);
	uint64_t ticket = 1, last = 0;
	struct carrier_event e = { 0 };
	char body[BODY] = { 0 };

	(void)state;
	await(all, CARRIER_READY);
	await(n, CARRIER_READY);
	send_one(n, 'a', ticket);
	while (ticket < 2000 && !e.full) {
		assert_true(carrier_send(n, "clock", body, sizeof(body), ++ticket));
		while (carrier_next(n, &e) && !e.full)
			;
	}
	if (!e.full)
		e = await(n, CARRIER_REFUSED);
	assert_true(e.full);
	while (within(all, CARRIER_MESSAGE, &e, 1500))
		last = e.ticket;
	assert_true(last > 0);
	carrier_forget(all, last);
	send_one(n, 'b', 5000);
	take_upto(all, 'b');
	carrier_close(n);
	carrier_close(all);
}

/*
 * A server that lost what it had begins to count anew: below what the collector has seen, or by the time that
 * it looks beyond it.
 */
static void numbers_of_the_stream_may_go_back(void **state)
{
	struct carrier *all = open_end("back", NULL, url), *n = open_end("back", "n1", url);

	(void)state;
	await(all, CARRIER_READY);
	await(n, CARRIER_READY);
	for (uint64_t i = 0; i < 20; i++)
		send_one(n, i == 19 ? 'b' : 'a', 100 + i);
	take_upto(all, 'b');
	for (int round = 0; round < 2; round++) {
		kill_server();
		forget_store();
		start_server();
		await(all, CARRIER_READY);
		for (uint64_t i = 0; i < (round ? 40 : 3); i++)
			send_one(n, i ? 'd' : 'c', 1000 + i);
		take_upto(all, 'c');
		take_upto(all, 'd');
	}
	carrier_close(n);
	carrier_close(all);
}

/* Another process tells something and ends at once. */
static void what_is_told_last_is_heard(void **state)
{
	struct carrier *n = open_end("last", "n1", url);

	(void)state;
	await(n, CARRIER_READY);
	for (int i = 0; i < 10; i++) {
		int status;
		const pid_t child = fork();
		struct carrier_event e;

		if (!child) {
			execl("/proc/self/exe", "test_nats", "tell", url, (char *)NULL);
			_exit(127);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		e = await(n, CARRIER_TOLD);
		assert_int_equal(e.topic, CARRIER_HAVE);
		assert_int_equal(e.n, 3000);
	}
	carrier_close(n);
}

static int tell_and_end(const char *at)
{
	static const char body[3000];
	struct carrier *all = open_end("last", NULL, at);
	struct carrier_event e;

	if (!within(all, CARRIER_READY, &e, PATIENCE_MS) ||
	    !carrier_tell(all, "n1", CARRIER_HAVE, body, sizeof(body)))
		return 1;
	carrier_flush(all, 2000);
	_exit(0);
}

/* With nothing under way, with something that is never answered, and without a server. */
static void an_end_is_closed_at_any_time(void **state)
{
	char body[BODY] = { 0 };

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct carrier *n = open_end("close", "n1", i == 3 ? "nats://127.0.0.1:1" : url);
		struct carrier *all = open_end("close", NULL, i == 3 ? "nats://127.0.0.1:1" : url);

		if (i == 1)
			await(n, CARRIER_READY);
		if (i == 2) {
			await(n, CARRIER_READY);
			stop_server();
			for (uint64_t k = 0; k < 20; k++)
				carrier_send(n, "clock", body, sizeof(body), k);
		}
		carrier_close(n);
		carrier_close(all);
		kill(server, SIGCONT);
	}
}

/* ---- between them and the server ---- */

struct between {
	int listener, wake[2];
	int client[16], server[16]; /* -1: closed */
	size_t n;
	pthread_t thread;
};

static bool pass_on(int from, int to)
{
	char bytes[65536];
	const ssize_t n = recv(from, bytes, sizeof(bytes), 0);

	return n > 0 && send(to, bytes, (size_t)n, MSG_NOSIGNAL) == n;
}

static void shut(struct between *b, size_t i)
{
	close(b->client[i]);
	close(b->server[i]);
	b->client[i] = b->server[i] = -1;
}

/* What no client says is said in each one's name. */
static void talk_nonsense(struct between *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->server[i] >= 0)
			send(b->server[i], "\r\nNONSENSE\r\n", 12, MSG_NOSIGNAL);
}

static void *stand_between(void *closure)
{
	struct between *b = closure;

	for (;;) {
		struct pollfd fd[34] = { { .fd = b->listener, .events = POLLIN },
					 { .fd = b->wake[0], .events = POLLIN } };
		char what;

		for (size_t i = 0; i < b->n; i++) {
			fd[2 + 2 * i] = (struct pollfd){ .fd = b->client[i], .events = POLLIN };
			fd[3 + 2 * i] = (struct pollfd){ .fd = b->server[i], .events = POLLIN };
		}
		poll(fd, 2 + 2 * b->n, -1);
		for (size_t i = 0; i < b->n; i++)
			if ((fd[2 + 2 * i].revents && !pass_on(b->client[i], b->server[i])) ||
			    (fd[3 + 2 * i].revents && !pass_on(b->server[i], b->client[i])))
				shut(b, i);
		if (fd[1].revents) {
			if (read(b->wake[0], &what, 1) < 1)
				break;
			talk_nonsense(b);
		}
		if (fd[0].revents && b->n < 16) {
			b->client[b->n] = accept(b->listener, NULL, NULL);
			b->server[b->n] = connect_to(port);
			b->n++;
		}
	}
	for (size_t i = 0; i < b->n; i++)
		if (b->client[i] >= 0)
			shut(b, i);
	return NULL;
}

/* The server hangs up for an error in what it got, as when a write was left off; that is not the end. */
static void an_error_of_the_protocol_is_not_the_end(void **state)
{
	struct between b = { .listener = socket_at(0) };
	struct carrier *all, *n;
	char at[64];

	(void)state;
	assert_int_equal(pipe(b.wake), 0);
	snprintf(at, sizeof(at), "nats://127.0.0.1:%d", port_of(b.listener));
	assert_int_equal(pthread_create(&b.thread, NULL, stand_between, &b), 0);
	all = open_end("nonsense", NULL, at);
	n = open_end("nonsense", "n1", at);
	await(all, CARRIER_READY);
	await(n, CARRIER_READY);
	send_one(n, 'a', 1);
	take_upto(all, 'a');
	for (int i = 0; i < 3; i++) {
		assert_int_equal(write(b.wake[1], "x", 1), 1);
		await(n, CARRIER_GONE);
		await(all, CARRIER_GONE);
		await(n, CARRIER_READY);
		await(all, CARRIER_READY);
		send_one(n, (char)('b' + i), 2);
		take_upto(all, (char)('b' + i));
		assert_true(carrier_tell(n, NULL, CARRIER_ASK, "{}", 2));
		assert_int_equal(await(all, CARRIER_TOLD).topic, CARRIER_ASK);
		assert_true(carrier_tell(all, "n1", CARRIER_HAVE, "{}", 2));
		assert_int_equal(await(n, CARRIER_TOLD).topic, CARRIER_HAVE);
	}
	carrier_close(n);
	carrier_close(all);
	close(b.wake[1]);
	pthread_join(b.thread, NULL);
	close(b.wake[0]);
	close(b.listener);
}

/* ---- */

/* COEVAL_NATS_SERVER, or Debian's. */
static bool find_server(void)
{
	const char *given = getenv("COEVAL_NATS_SERVER");

	snprintf(program, sizeof(program), "%s", given && *given ? given : "/usr/sbin/nats-server");
	return !access(program, X_OK);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_sent_again_comes_again),
		cmocka_unit_test(what_is_not_answered_is_refused),
		cmocka_unit_test(what_is_given_up_half_sent_stays_what_it_is),
		cmocka_unit_test(nothing_is_sent_without_a_connection),
		cmocka_unit_test(a_full_stream_is_emptied_though_nothing_comes),
		cmocka_unit_test(numbers_of_the_stream_may_go_back),
		cmocka_unit_test(what_is_told_last_is_heard),
		cmocka_unit_test(an_end_is_closed_at_any_time),
		cmocka_unit_test(an_error_of_the_protocol_is_not_the_end),
	};
	const struct nats_opts nothing = { .url = "nats://127.0.0.1:1",
					   .testbed = "t",
					   .node = "n" };
	struct carrier *c = NULL;

	if (argc == 3 && !strcmp(argv[1], "tell"))
		return tell_and_end(argv[2]);
	if (nats_carrier_open(&c, &nothing, NULL) == CVL_E_UNSUPPORTED) {
		printf("SKIP: built without libnats; apt-get install libnats-dev\n");
		return 77;
	}
	carrier_close(c);
	if (!find_server()) {
		printf("SKIP: %s is not installed; apt-get install nats-server\n", program);
		return 77;
	}
	return cmocka_run_group_tests(tests, begin, end);
}
