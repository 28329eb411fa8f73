/* SPDX-License-Identifier: MIT */
/*
 * The poll driver on devices that this machine need not have: a parallel port, whose instructions
 * trap and are carried out here, and a GPIO chip, whose ioctls end here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/gpio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "capture/drivers/driver.h"
#include "capture/drivers/poll/records.h"
#include "test_scratch.h"

extern const struct driver driver_poll;

/* ---- the devices, in place of the C library's calls ---- */

static struct {
	int refused; /* an errno */
	_Atomic uint8_t data, control;
	struct gpio_v2_line_request asked;
	uint64_t levels;
	int events; /* edges are written here */
} device;

int ioperm(unsigned long from, unsigned long n, int on);

int ioperm(unsigned long from, unsigned long n, int on)
{
	assert_int_equal(from, 0x378);
	assert_int_equal(n, 3);
	assert_int_equal(on, 1);
	errno = device.refused;
	return device.refused ? -1 : 0;
}

int ioctl(int fd, unsigned long what, ...)
{
	va_list ap;
	void *arg;
	int pipes[2];

	va_start(ap, what);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (what == GPIO_V2_LINE_GET_VALUES_IOCTL) {
		((struct gpio_v2_line_values *)arg)->bits = device.levels;
		return 0;
	}
	if (what != GPIO_V2_GET_LINE_IOCTL)
		return (int)syscall(SYS_ioctl, fd, what, arg);
	errno = device.refused;
	if (device.refused || pipe(pipes))
		return -1;
	device.asked = *(struct gpio_v2_line_request *)arg;
	((struct gpio_v2_line_request *)arg)->fd = pipes[0];
	device.events = pipes[1];
	return 0;
}

#ifdef __x86_64__
/* IN AL, DX and OUT DX, AL, which the processor refuses us. */
static void carry_out(int number, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	const uint8_t *op = (const uint8_t *)r[REG_RIP];
	_Atomic uint8_t *at = (r[REG_RDX] & 0xffff) == 0x378 ? &device.data : &device.control;

	(void)info;
	if (*op == 0xec)
		r[REG_RAX] = (r[REG_RAX] & ~(greg_t)0xff) | *at;
	else if (*op == 0xee)
		*at = (uint8_t)r[REG_RAX];
	else
		signal(number, SIG_DFL);
	if (*op == 0xec || *op == 0xee)
		r[REG_RIP]++;
}
#endif

/* cmocka has handlers of its own for each test. */
static void have_port(void)
{
#ifdef __x86_64__
	struct sigaction act = { .sa_sigaction = carry_out, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &act, NULL);
	device.refused = 0;
	device.data = 0xff;
#else
	skip();
#endif
}

/* ---- what the driver says of them ---- */

struct seen {
	char told[2000];
	struct driver_record change[64];
	size_t changes;
	uint64_t lost, until;
	size_t gaps;
};

static int see(void *ctx, size_t analyzer, const struct driver_record *r, size_t n,
	       struct cvl_error *err)
{
	struct seen *s = ctx;

	(void)analyzer, (void)err;
	for (size_t i = 0; i < n; i++) {
		if ((r[i].what == DRIVER_EDGE || r[i].what == DRIVER_LEVELS) && s->changes < 64)
			s->change[s->changes++] = r[i];
		if (r[i].what == DRIVER_GAP && r[i].gap.lost != CVL_LOST_UNKNOWN)
			s->lost += r[i].gap.lost;
		if (r[i].what == DRIVER_NOTHING)
			s->until = r[i].tick;
		else if (r[i].what == DRIVER_EDGE)
			assert_true(r[i].tick >= s->until);
	}
	return 0;
}

static void hear(void *ctx, size_t analyzer, bool problem, const char *text)
{
	struct seen *s = ctx;
	size_t n = strlen(s->told);

	(void)analyzer, (void)problem;
	snprintf(s->told + n, sizeof(s->told) - n, "%s\n", text);
}

struct run {
	struct seen seen;
	struct driver_sink sink;
	struct cvl_device_opts opts;
	struct cvl_error err;
	void *state;
};

static int begin(struct run *r, const char *devices)
{
	int rc;

	memset(r, 0, sizeof(*r));
	r->sink = (struct driver_sink){ .records = see, .tell = hear, .ctx = &r->seen };
	r->opts.devices = devices;
	rc = driver_poll.open(&r->state, &r->opts, &r->sink, &r->err);
	if (!rc)
		rc = driver_poll.start(r->state, &r->err);
	return rc;
}

/* Work for so long, or until there are @changes. */
static int work(struct run *r, unsigned ms, size_t changes)
{
	const int64_t end = driver_monotonic_ns() + (int64_t)ms * 1000000;
	int rc = 1;

	while (rc > 0 && driver_monotonic_ns() < end && r->seen.changes < changes) {
		rc = driver_poll.work(r->state, &r->err);
		usleep(1000);
	}
	return rc;
}

static void finish(struct run *r)
{
	assert_int_equal(driver_poll.stop(r->state, &r->err), 0);
	while (driver_poll.work(r->state, &r->err) > 0)
		usleep(1000);
	driver_poll.close(r->state);
}

/* ---- a parallel port ---- */

static void a_port_that_is_not_there_is_said_to_be_so(void **state)
{
	struct run r;

	(void)state;
	have_port();
	assert_int_equal(begin(&r, "ioport:0x378"), 0);
	assert_int_equal(work(&r, 50, 64), 1);
	finish(&r);
	assert_non_null(strstr(r.seen.told, "always reads FF"));
	assert_int_equal(r.seen.changes, 1); /* what it shows at the start */
	assert_int_equal(r.seen.change[0].levels, 0xff);
}

static void lines_of_a_port_are_seen_and_made_inputs(void **state)
{
	struct run r;

	(void)state;
	have_port();
	device.control = 0x0c;
	assert_int_equal(begin(&r, "ioport:0x378,reverse,mask=0xf0"), 0);
	assert_int_equal(device.control, 0x2c);
	assert_int_equal(work(&r, 2000, 1), 1);
	device.data = 0xf3; /* not one of the lines */
	assert_int_equal(work(&r, 20, 2), 1);
	device.data = 0x73;
	assert_int_equal(work(&r, 2000, 2), 1);
	finish(&r);
	assert_null(strstr(r.seen.told, "for ever"));
	assert_int_equal(r.seen.changes, 2);
	assert_int_equal(r.seen.change[0].levels, 0xf0);
	assert_int_equal(r.seen.change[1].levels, 0x70);
	assert_int_equal(r.seen.change[1].what, DRIVER_EDGE);
}

static void a_port_that_is_refused_is_said_why(void **state)
{
	struct run r;

	(void)state;
	have_port();
	device.refused = EPERM;
	assert_int_equal(begin(&r, "ioport:0x378"), CVL_E_ENV);
	assert_non_null(strstr(r.err.text, "CAP_SYS_RAWIO"));
	device.refused = ENOSYS;
	assert_int_equal(begin(&r, "ioport:0x378"), CVL_E_ENV);
	assert_non_null(strstr(r.err.text, "X86_IOPL_IOPERM"));
}

/* ---- a GPIO chip ---- */

static char chip[400];

static void edge(unsigned offset, uint32_t id, uint32_t seqno)
{
	const struct gpio_v2_line_event e = { .timestamp_ns = (uint64_t)driver_monotonic_ns(),
					      .id = id,
					      .offset = offset,
					      .seqno = seqno };

	assert_int_equal(write(device.events, &e, sizeof(e)), sizeof(e));
}

static void make_chip(void)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/gpiochip0", scratch);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	snprintf(chip, sizeof(chip), "gpiochip:%s,lines=17+4,latency=50us", path);
}

static void edges_of_a_chip_are_seen(void **state)
{
	struct run r;

	(void)state;
	make_chip();
	device.refused = 0;
	device.levels = 1;
	assert_int_equal(begin(&r, chip), 0);
	assert_int_equal(device.asked.num_lines, 2);
	assert_int_equal(device.asked.offsets[0], 17);
	assert_int_equal(device.asked.config.flags, GPIO_V2_LINE_FLAG_INPUT |
							    GPIO_V2_LINE_FLAG_EDGE_RISING |
							    GPIO_V2_LINE_FLAG_EDGE_FALLING);
	assert_int_equal(work(&r, 2000, 1), 1);
	edge(17, GPIO_V2_LINE_EVENT_FALLING_EDGE, 1);
	edge(4, GPIO_V2_LINE_EVENT_RISING_EDGE, 2);
	assert_int_equal(work(&r, 2000, 3), 1);
	edge(4, GPIO_V2_LINE_EVENT_FALLING_EDGE, 5);
	assert_int_equal(work(&r, 2000, 4), 1);
	finish(&r);
	close(device.events);
	assert_int_equal(r.seen.changes, 5);
	assert_int_equal(r.seen.change[0].levels, 1);
	assert_int_equal(r.seen.change[1].levels, 0);
	assert_int_equal(r.seen.change[2].levels, 2);
	assert_int_equal(r.seen.change[2].half, 25000);
	/* two are lost: the levels before the next one are reported with it */
	assert_int_equal(r.seen.change[3].what, DRIVER_LEVELS);
	assert_int_equal(r.seen.change[3].levels, 2);
	assert_int_equal(r.seen.change[4].what, DRIVER_EDGE);
	assert_int_equal(r.seen.change[4].levels, 0);
	assert_int_equal(r.seen.lost, 2);
}

static void a_chip_that_is_taken_away_ends_the_capture(void **state)
{
	struct run r;
	int gone;

	(void)state;
	make_chip();
	device.refused = 0;
	assert_int_equal(begin(&r, chip), 0);
	assert_int_equal(work(&r, 2000, 1), 1);
	/* the last descriptor of its pipe becomes one that cannot be read */
	gone = open(scratch, O_RDONLY);
	assert_true(gone >= 0);
	for (int fd = 3; fd < device.events; fd++) {
		struct stat a, b;

		if (!fstat(fd, &a) && !fstat(device.events, &b) && a.st_ino == b.st_ino)
			assert_int_equal(dup2(gone, fd), fd);
	}
	assert_int_equal(work(&r, 2000, 2), CVL_E_IO);
	driver_poll.close(r.state);
	close(gone);
	close(device.events);
}

static void lines_that_are_taken_are_refused(void **state)
{
	struct run r;

	(void)state;
	make_chip();
	device.refused = EBUSY;
	assert_int_equal(begin(&r, chip), CVL_E_ENV);
	assert_non_null(strstr(r.err.text, "gpioinfo"));
}

/* ---- memory that goes away ---- */

static void a_file_that_is_made_shorter_ends_the_capture(void **state)
{
	char path[300], text[320];
	struct sigaction before, after;
	struct run r;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/shrinks", scratch);
	snprintf(text, sizeof(text), "shm:%s", path);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	assert_int_equal(ftruncate(fd, 4096), 0);
	sigaction(SIGBUS, NULL, &before);
	assert_int_equal(begin(&r, text), 0);
	assert_int_equal(work(&r, 2000, 1), 1);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(work(&r, 5000, 2), CVL_E_IO);
	assert_non_null(strstr(r.err.text, "shorter"));
	/* nothing was made up of it */
	assert_int_equal(r.seen.changes, 1);
	driver_poll.close(r.state);
	sigaction(SIGBUS, NULL, &after);
	assert_true(before.sa_handler == after.sa_handler);
	close(fd);
}

static void a_pipe_does_not_keep_us_waiting(void **state)
{
	char path[300], text[320];
	struct run r;

	(void)state;
	snprintf(path, sizeof(path), "%s/pipe", scratch);
	snprintf(text, sizeof(text), "shm:%s", path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(begin(&r, text), CVL_E_ENV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_that_is_not_there_is_said_to_be_so),
		cmocka_unit_test(lines_of_a_port_are_seen_and_made_inputs),
		cmocka_unit_test(a_port_that_is_refused_is_said_why),
		cmocka_unit_test(edges_of_a_chip_are_seen),
		cmocka_unit_test(a_chip_that_is_taken_away_ends_the_capture),
		cmocka_unit_test(lines_that_are_taken_are_refused),
		cmocka_unit_test(a_file_that_is_made_shorter_ends_the_capture),
		cmocka_unit_test(a_pipe_does_not_keep_us_waiting),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
