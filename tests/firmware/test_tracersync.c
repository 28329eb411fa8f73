/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "tracersync/master.h"
#include "tracersync/slave.h"

#define LOG_MAX 8192
#define SLAVES 2

/* What was traced, in the order of the calls of each side. */
struct traced {
	char what; /* 's'ent or 'r'eceived */
	uint16_t slave;
	uint32_t seq;
	uint64_t ns;
};

struct log {
	struct traced event[LOG_MAX];
	size_t n;
};

/* A tracer is no more than whose log it is. */
static struct tracer tracer_of[1 + SLAVES];
static struct log logs[1 + SLAVES];

static struct {
	struct tracersync_page page[SLAVES];
	struct tracersync_slave slave[SLAVES];
	struct tracersync_peer peer[SLAVES];
	struct tracersync_master master;
	uint64_t now;
	int deaf[SLAVES];
	unsigned rung[SLAVES];
	enum tracersync_answer answer;
	enum tracersync_news news[64];
	unsigned told;
	int nested; /* the slave is interrupted again while it traces */
	enum tracersync_answer nested_answer;
} bed;

static uint64_t real_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void note(struct tracer *t, char what, uint16_t slave, uint32_t seq)
{
	struct log *l = &logs[t - tracer_of];

	assert_true(l->n < LOG_MAX);
	l->event[l->n++] = (struct traced){ what, slave, seq, real_ns() };
	if (bed.nested && t != tracer_of)
		bed.nested_answer = tracersync_slave_answer(&bed.slave[slave]);
}

/* What is sent cannot be seen yet. */
static void note_send(struct tracer *t, uint16_t slave, uint32_t seq)
{
	const struct tracersync_page *page = &bed.page[slave];

	assert_int_not_equal(tracersync_load(t == tracer_of ? &page->request : &page->answer), seq);
	note(t, 's', slave, seq);
}

static void note_receive(struct tracer *t, uint16_t slave, uint32_t seq)
{
	note(t, 'r', slave, seq);
}

static uint64_t fake_now(void *ctx)
{
	(void)ctx;
	return bed.now += 1000;
}

static void ring(void *ctx, unsigned peer)
{
	(void)ctx;
	bed.rung[peer]++;
	if (!bed.deaf[peer])
		bed.answer = tracersync_slave_answer(&bed.slave[peer]);
}

static void tell(void *ctx, unsigned peer, enum tracersync_news news)
{
	(void)ctx, (void)peer;
	assert_true(bed.told < 64);
	bed.news[bed.told++] = news;
}

static void start_slave(unsigned i)
{
	tracersync_slave_init(&bed.slave[i], &bed.page[i], (uint16_t)i, &tracer_of[1 + i],
			      note_send, note_receive);
}

static int set_up(void **state)
{
	(void)state;
	memset(&bed, 0, sizeof(bed));
	memset(logs, 0, sizeof(logs));
	bed.master = (struct tracersync_master){ .peer = bed.peer,
						 .peers = SLAVES,
						 .tracer = tracer_of,
						 .send = note_send,
						 .receive = note_receive,
						 .now_ns = fake_now,
						 .interrupt = ring,
						 .tell = tell,
						 .period_ns = 1000000,
						 .timeout_ns = 50000,
						 .patience = 3 };
	for (unsigned i = 0; i < SLAVES; i++) {
		bed.peer[i] = (struct tracersync_peer){ .page = &bed.page[i], .id = (uint16_t)i };
		start_slave(i);
	}
	tracersync_master_init(&bed.master);
	return 0;
}

static void assert_event(const struct log *l, size_t i, char what, uint16_t slave, uint32_t seq)
{
	assert_true(i < l->n);
	assert_int_equal(l->event[i].what, what);
	assert_int_equal(l->event[i].slave, slave);
	assert_int_equal(l->event[i].seq, seq);
}

static void exchange_is_two_pairs_with_numbers_that_never_repeat(void **state)
{
	(void)state;
	for (uint32_t k = 1; k <= 3; k++) {
		assert_int_equal(tracersync_master_exchange(&bed.master, 1), TRACERSYNC_DONE);
		assert_event(&logs[0], 2 * k - 2, 's', 1, 2 * k);
		assert_event(&logs[2], 2 * k - 2, 'r', 1, 2 * k);
		assert_event(&logs[2], 2 * k - 1, 's', 1, 2 * k + 1);
		assert_event(&logs[0], 2 * k - 1, 'r', 1, 2 * k + 1);
	}
	assert_int_equal(logs[1].n, 0);
	assert_int_equal(bed.peer[1].done, 3);
	assert_int_equal(bed.told, 0);
}

static void interrupt_for_something_else_answers_nothing(void **state)
{
	(void)state;
	assert_int_equal(tracersync_slave_answer(&bed.slave[0]), TRACERSYNC_IDLE);
	tracersync_master_exchange(&bed.master, 0);
	assert_int_equal(tracersync_slave_answer(&bed.slave[0]), TRACERSYNC_IDLE);
	assert_int_equal(logs[1].n, 2);
}

static void interrupt_in_the_middle_of_an_answer_does_not_answer_again(void **state)
{
	(void)state;
	bed.nested = 1;
	assert_int_equal(tracersync_master_exchange(&bed.master, 0), TRACERSYNC_DONE);
	assert_int_equal(bed.nested_answer, TRACERSYNC_IDLE);
	assert_int_equal(logs[1].n, 2);
}

static void numbers_that_were_there_are_refused(void **state)
{
	(void)state;
	for (int k = 0; k < 3; k++)
		tracersync_master_exchange(&bed.master, 0);
	bed.page[0].request = 4;
	assert_int_equal(tracersync_slave_answer(&bed.slave[0]), TRACERSYNC_REFUSED);
	bed.page[0].request = 9; /* no master gives odd ones */
	assert_int_equal(tracersync_slave_answer(&bed.slave[0]), TRACERSYNC_REFUSED);
	assert_int_equal(bed.page[0].refused, 2);
	assert_int_equal(logs[1].n, 6);
	/* a master that forgot where it was */
	bed.peer[0].refused = 2;
	bed.peer[0].seq = 2;
	assert_int_equal(tracersync_master_exchange(&bed.master, 0), TRACERSYNC_REPEATED);
	assert_int_equal(logs[1].n, 6);
	/* remembers */
	assert_int_equal(tracersync_master_exchange(&bed.master, 0), TRACERSYNC_DONE);
	assert_event(&logs[1], 6, 'r', 0, 8);
}

static void next_master_goes_on_with_the_numbers(void **state)
{
	(void)state;
	tracersync_master_exchange(&bed.master, 0);
	tracersync_master_init(&bed.master);
	assert_int_equal(tracersync_master_exchange(&bed.master, 0), TRACERSYNC_DONE);
	assert_event(&logs[0], 2, 's', 0, 4);
}

static void numbers_wrap(void **state)
{
	(void)state;
	bed.peer[0].seq = 0xfffffffcu;
	bed.page[0].request = 0xfffffffcu;
	start_slave(0);
	assert_int_equal(tracersync_master_exchange(&bed.master, 0), TRACERSYNC_DONE);
	assert_event(&logs[0], 1, 'r', 0, 0xffffffffu);
	assert_int_equal(tracersync_master_exchange(&bed.master, 0), TRACERSYNC_DONE);
	assert_event(&logs[0], 2, 's', 0, 2);
}

static void who_never_answers_is_given_up_until_it_begins_again(void **state)
{
	(void)state;
	bed.deaf[0] = 1;
	assert_int_equal(tracersync_master_exchange(&bed.master, 0), TRACERSYNC_TIMEOUT);
	assert_int_equal(tracersync_master_exchange(&bed.master, 0), TRACERSYNC_TIMEOUT);
	assert_int_equal(tracersync_master_exchange(&bed.master, 0), TRACERSYNC_GIVEN_UP);
	assert_int_equal(logs[0].n, 3);
	assert_int_equal(tracersync_master_exchange(&bed.master, 0), TRACERSYNC_GIVEN_UP);
	assert_int_equal(logs[0].n, 3); /* no more events that are never received */
	assert_int_equal(bed.told, 3);
	bed.deaf[0] = 0;
	start_slave(0);
	assert_int_equal(tracersync_master_exchange(&bed.master, 0), TRACERSYNC_DONE);
	assert_int_equal(bed.news[3], TRACERSYNC_RESTARTED);
	assert_event(&logs[1], 0, 'r', 0, 8);
}

static void late_answer_is_taken_for_no_other(void **state)
{
	(void)state;
	bed.deaf[0] = 1;
	assert_int_equal(tracersync_master_exchange(&bed.master, 0), TRACERSYNC_TIMEOUT);
	assert_int_equal(tracersync_slave_answer(&bed.slave[0]), TRACERSYNC_ANSWERED);
	assert_int_equal(tracersync_master_exchange(&bed.master, 0), TRACERSYNC_TIMEOUT);
	assert_int_equal(logs[0].n, 2); /* both sent */
	bed.deaf[0] = 0;
	assert_int_equal(tracersync_master_exchange(&bed.master, 0), TRACERSYNC_DONE);
	assert_event(&logs[0], 3, 'r', 0, 7);
}

static void request_from_before_a_start_is_not_answered(void **state)
{
	(void)state;
	bed.deaf[0] = 1;
	tracersync_master_exchange(&bed.master, 0);
	start_slave(0);
	assert_int_equal(tracersync_slave_answer(&bed.slave[0]), TRACERSYNC_IDLE);
	assert_int_equal(logs[1].n, 0);
}

static void two_with_one_id_are_noticed(void **state)
{
	struct tracersync_slave twin;

	(void)state;
	tracersync_master_exchange(&bed.master, 0);
	tracersync_slave_init(&twin, &bed.page[0], 0, &tracer_of[1], note_send, note_receive);
	assert_int_equal(tracersync_master_exchange(&bed.master, 0), TRACERSYNC_TIMEOUT);
	assert_int_equal(bed.answer, TRACERSYNC_TWIN);
	tracersync_master_exchange(&bed.master, 0);
	assert_int_equal(bed.news[0], TRACERSYNC_RESTARTED);
	assert_int_equal(bed.news[2], TRACERSYNC_TWINS);
	assert_int_equal(logs[1].n, 2); /* the elder is silent */
}

static void slave_with_the_page_of_another_is_a_stranger(void **state)
{
	(void)state;
	tracersync_slave_init(&bed.slave[0], &bed.page[0], 7, &tracer_of[1], note_send,
			      note_receive);
	assert_int_equal(tracersync_master_exchange(&bed.master, 0), TRACERSYNC_STRANGER);
	assert_int_equal(tracersync_master_exchange(&bed.master, 0), TRACERSYNC_STRANGER);
	assert_int_equal(bed.told, 1);
	assert_int_equal(logs[0].n, 0);
}

static void slave_that_has_not_begun_is_absent(void **state)
{
	(void)state;
	bed.page[1].magic = 0;
	assert_int_equal(tracersync_master_exchange(&bed.master, 1), TRACERSYNC_ABSENT);
	assert_int_equal(logs[0].n, 0);
	assert_int_equal(bed.rung[1], 1);
	assert_int_equal(bed.told, 0);
}

/* Whatever the times between two calls: so many exchanges a second with each, in turns. */
static void each_slave_has_its_turn_once_a_period(void **state)
{
	uint64_t end = bed.now + 100 * bed.master.period_ns;

	(void)state;
	while (bed.now < end)
		bed.now += tracersync_master_work(&bed.master);
	for (unsigned i = 0; i < SLAVES; i++)
		assert_in_range(bed.peer[i].done, 99, 101);
	bed.now += 10 * bed.master.period_ns; /* the master had other things to do */
	for (int k = 0; k < 4; k++)
		tracersync_master_work(&bed.master);
	assert_in_range(bed.peer[0].done + bed.peer[1].done, 200, 204);
}

/* ---- for real: two threads with one clock, so that which came first can be told ---- */

static volatile int bell, done;

static void *slave_thread(void *ctx)
{
	(void)ctx;
	while (!done) {
		if (!__atomic_exchange_n(&bell, 0, __ATOMIC_ACQ_REL))
			sched_yield();
		tracersync_slave_answer(&bed.slave[0]); /* also when no bell rang */
	}
	return NULL;
}

static void ring_thread(void *ctx, unsigned peer)
{
	(void)ctx, (void)peer;
	bell = 1;
}

static uint64_t real_now(void *ctx)
{
	(void)ctx;
	return real_ns();
}

static void yield(void *ctx, uint64_t waited)
{
	(void)ctx, (void)waited;
	sched_yield();
}

static void nothing_is_received_before_it_was_sent(void **state)
{
	const unsigned exchanges = 2000;
	pthread_t thread;

	(void)state;
	bed.master.now_ns = real_now;
	bed.master.interrupt = ring_thread;
	bed.master.wait = yield;
	bed.master.timeout_ns = 10000000000u;
	bell = done = 0;
	assert_int_equal(pthread_create(&thread, NULL, slave_thread, NULL), 0);
	for (unsigned k = 0; k < exchanges; k++)
		assert_int_equal(tracersync_master_exchange(&bed.master, 0), TRACERSYNC_DONE);
	done = 1;
	pthread_join(thread, NULL);
	assert_int_equal(logs[0].n, 2 * exchanges);
	assert_int_equal(logs[1].n, 2 * exchanges);
	for (size_t i = 0; i < 2 * exchanges; i++) {
		const struct traced *m = &logs[0].event[i], *s = &logs[1].event[i];

		assert_int_equal(m->seq, s->seq);
		assert_true(i & 1 ? s->ns <= m->ns : m->ns <= s->ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(exchange_is_two_pairs_with_numbers_that_never_repeat,
				       set_up),
		cmocka_unit_test_setup(interrupt_for_something_else_answers_nothing, set_up),
		cmocka_unit_test_setup(interrupt_in_the_middle_of_an_answer_does_not_answer_again,
				       set_up),
		cmocka_unit_test_setup(numbers_that_were_there_are_refused, set_up),
		cmocka_unit_test_setup(next_master_goes_on_with_the_numbers, set_up),
		cmocka_unit_test_setup(numbers_wrap, set_up),
		cmocka_unit_test_setup(who_never_answers_is_given_up_until_it_begins_again, set_up),
		cmocka_unit_test_setup(late_answer_is_taken_for_no_other, set_up),
		cmocka_unit_test_setup(request_from_before_a_start_is_not_answered, set_up),
		cmocka_unit_test_setup(two_with_one_id_are_noticed, set_up),
		cmocka_unit_test_setup(slave_with_the_page_of_another_is_a_stranger, set_up),
		cmocka_unit_test_setup(slave_that_has_not_begun_is_absent, set_up),
		cmocka_unit_test_setup(each_slave_has_its_turn_once_a_period, set_up),
		cmocka_unit_test_setup(nothing_is_received_before_it_was_sent, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
