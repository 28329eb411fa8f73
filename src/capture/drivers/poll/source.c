/* SPDX-License-Identifier: MIT */
#include "capture/drivers/poll/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __x86_64__
#include <sys/io.h>
#endif

#include <coeval/time.h>

#include "capture/drivers/poll/gpio.h"

#define GAP_NS 20000
#define LATENCY_NS 100000
/*
 * The parallel port's control register is two after its data; this bit makes the data lines inputs
 * (IEEE 1284, byte mode).
 */
#define CONTROL 2
#define INPUTS 0x20

static const char *const names[] = { "shm", "mmio", "ioport", "gpiochip" };
static const unsigned widths[] = { 8, 4, 1, 8 };

/* ---- what the user says ---- */

static int bad(const char *text, const char *what, struct cvl_error *err)
{
	return cvl_hint(err, CVL_HINT_DEVICE,
			cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "%s: %s", text, what));
}

static bool number(const char *text, size_t n, uint64_t most, uint64_t *out)
{
	char digits[40], *end;

	if (!n || n >= sizeof(digits) || text[0] < '0' || text[0] > '9')
		return false;
	memcpy(digits, text, n);
	digits[n] = '\0';
	errno = 0;
	*out = strtoull(digits, &end, 0);
	return !*end && !errno && *out <= most;
}

static bool duration(const char *text, size_t n, int64_t *ns)
{
	char plain[40];

	if (!n || n >= sizeof(plain))
		return false;
	memcpy(plain, text, n);
	plain[n] = '\0';
	return !cvl_duration_parse(plain, ns) && *ns > 0 && *ns <= 1000000000;
}

static bool gpio_lines(struct poll_source *s, const char *text, size_t n)
{
	s->n_gpio = 0;
	while (n) {
		const char *plus = memchr(text, '+', n);
		size_t one = plus ? (size_t)(plus - text) : n;
		uint64_t line;

		if (s->n_gpio == POLL_GPIO_MAX || !number(text, one, 65535, &line))
			return false;
		s->gpio[s->n_gpio++] = (uint32_t)line;
		one += plus != NULL;
		text += one;
		n -= one;
	}
	return s->n_gpio > 0;
}

/* An option after the place; NULL, or what it should be. */
static const char *setting(struct poll_source *s, const char *text, size_t n)
{
	const char *is = memchr(text, '=', n);
	size_t key = is ? (size_t)(is - text) : n, left = is ? n - key - 1 : 0;
	uint64_t v = 0;
	bool good;

	is = is ? is + 1 : text;
#define IS(name) (key == strlen(name) && !memcmp(text, name, key))
	if (IS("width")) {
		good = number(is, left, 8, &v) && (v == 1 || v == 2 || v == 4 || v == 8);
		s->width = (unsigned)v;
		return good ? NULL : "width is 1, 2, 4 or 8 bytes";
	}
	if (IS("mask"))
		return number(is, left, UINT64_MAX, &s->mask) && s->mask ?
			       NULL :
			       "mask is a number such as 0xff, not 0";
	if (IS("cpu")) {
		good = number(is, left, 4095, &v);
		s->cpu = (int)v;
		return good ? NULL : "cpu is the number of a processor";
	}
	if (IS("prio")) {
		good = number(is, left, 99, &v) && v;
		s->priority = (int)v;
		return good ? NULL : "prio is a priority of real time, 1 to 99";
	}
	if (IS("gap"))
		return duration(is, left, &s->gap_ns) ? NULL :
							"gap is a time such as 20us, up to 1s";
	if (IS("latency"))
		return duration(is, left, &s->latency_ns) ?
			       NULL :
			       "latency is a time such as 100us, up to 1s";
	if (IS("lines"))
		return gpio_lines(s, is, left) ? NULL : "lines are numbers such as 3+4, up to 64";
	if (IS("reverse") && key == n) {
		s->reverse = true;
		return NULL;
	}
#undef IS
	return "there are width=, mask=, cpu=, prio=, gap=, reverse, lines= and latency=";
}

/* NULL, or what it should be. */
static const char *place(struct poll_source *s, const char *text, size_t n)
{
	const char *at;
	size_t length = n;

	if (s->kind == POLL_IOPORT)
		return number(text, n, 0xfffd, &s->offset) ? NULL :
							     "a port has an address such as 0x378";
	at = memrchr(text, '@', n);
	if (at) {
		length = (size_t)(at - text);
		if (!number(at + 1, n - length - 1, INT64_MAX, &s->offset))
			return "the offset behind @ is a number such as 0x34";
	}
	if (!length || length >= sizeof(s->path))
		return "name a path, of less than 256 bytes";
	memcpy(s->path, text, length);
	return NULL;
}

static bool twice(const struct poll_source *s)
{
	for (unsigned i = 0; i < s->n_gpio; i++)
		for (unsigned k = 0; k < i; k++)
			if (s->gpio[i] == s->gpio[k])
				return true;
	return false;
}

/* Options of one kind only, and combinations. */
static const char *unfit(const struct poll_source *s)
{
	bool gpio = s->kind == POLL_GPIOCHIP;

	if (s->reverse && s->kind != POLL_IOPORT)
		return "reverse is for ioport";
	if (gpio && !s->n_gpio)
		return "say which lines: gpiochip:/dev/gpiochip0,lines=3+4";
	if (!gpio && (s->n_gpio || s->latency_ns != LATENCY_NS))
		return "lines= and latency= are for gpiochip";
	if (gpio && (s->width != widths[POLL_GPIOCHIP] || s->mask || s->cpu >= 0 || s->priority ||
		     s->gap_ns != GAP_NS))
		return "width=, mask=, cpu=, prio= and gap= are for what a loop reads";
	if (twice(s))
		return "a line is named twice";
	if (s->kind == POLL_IOPORT && s->width != 1)
		return "a port has one byte";
	if (!gpio && s->kind != POLL_IOPORT && s->offset % s->width)
		return "the offset must be a multiple of the width";
	if (s->width < 8 && s->mask >> (8 * s->width))
		return "the mask has bits beyond the width";
	return NULL;
}

int poll_source_parse(struct poll_source *s, const char *text, struct cvl_error *err)
{
	const char *colon, *wrong, *at;
	size_t n;
	unsigned k = 0;

	*s = (struct poll_source){
		.fd = -1, .cpu = -1, .gap_ns = GAP_NS, .latency_ns = LATENCY_NS
	};
	if (!text || !(colon = strchr(text, ':')))
		return cvl_hint(err, CVL_HINT_DEVICE,
				cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
					 "say what to read: shm:PATH, mmio:PATH@OFFSET, "
					 "ioport:ADDRESS or gpiochip:PATH,lines=N+M"));
	while (k < 4 && (strlen(names[k]) != (size_t)(colon - text) ||
			 memcmp(names[k], text, strlen(names[k])) != 0))
		k++;
	if (k == 4)
		return bad(text, "what is read is shm, mmio, ioport or gpiochip", err);
	s->kind = (enum poll_source_kind)k;
	s->width = widths[k];
	n = strcspn(colon + 1, ",");
	wrong = place(s, colon + 1, n);
	if (wrong)
		return bad(text, wrong, err);
	at = colon + 1 + n;
	snprintf(s->text, sizeof(s->text), "%.*s", (int)(at - text), text);
	while (*at) {
		n = strcspn(++at, ",");
		wrong = setting(s, at, n);
		if (wrong)
			return bad(text, wrong, err);
		at += n;
	}
	wrong = unfit(s);
	return wrong ? bad(text, wrong, err) : 0;
}

unsigned poll_source_lines(const struct poll_source *s)
{
	if (s->kind == POLL_GPIOCHIP)
		return s->n_gpio;
	return s->mask ? 64 - (unsigned)__builtin_clzll(s->mask) : 8 * s->width;
}

/* ---- opening ---- */

static int open_port(struct poll_source *s, struct cvl_error *err)
{
#ifdef __x86_64__
	if (ioperm(s->offset, 3, 1))
		return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
				"%s: this machine does not let us at the port (%s): %s", s->text,
				strerror(errno),
				errno == ENOSYS ? "its kernel was built without X86_IOPL_IOPERM" :
						  "run as root, or give the program CAP_SYS_RAWIO");
	if (s->reverse)
		outb((unsigned char)(inb((unsigned short)(s->offset + CONTROL)) | INPUTS),
		     (unsigned short)(s->offset + CONTROL));
	s->lines.port = (uint16_t)s->offset;
	return 0;
#else
	return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET, "%s: this processor has no I/O ports",
			s->text);
#endif
}

static int open_memory(struct poll_source *s, struct cvl_error *err)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), begin = s->offset & ~(page - 1);
	struct stat st;

	/* a pipe would block */
	s->fd = open(s->path,
		     O_RDONLY | O_CLOEXEC | O_NONBLOCK | (s->kind == POLL_MMIO ? O_SYNC : 0));
	if (s->fd < 0 || fstat(s->fd, &st))
		return cvl_fail(
			err, CVL_E_ENV, CVL_NO_OFFSET, "%s: %s; %s", s->path, strerror(errno),
			errno == ENOENT ? "start the program that makes it, or name another" :
			errno == ENXIO || errno == ENODEV ?
					  "this kernel has no such device" :
					  "run as root, or as a user who may read it");
	if (S_ISDIR(st.st_mode) || S_ISFIFO(st.st_mode))
		return cvl_fail(
			err, CVL_E_ENV, CVL_NO_OFFSET,
			"%s: is a %s; what is read is a file or a device that can be mapped",
			s->path, S_ISDIR(st.st_mode) ? "directory" : "pipe");
	/* beyond a file's end there is SIGBUS, not memory */
	if (S_ISREG(st.st_mode) && (uint64_t)st.st_size < s->offset + s->width)
		return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
				"%s: has %lld bytes, too few for %u at %llu", s->path,
				(long long)st.st_size, s->width, (unsigned long long)s->offset);
	s->mapped = page;
	s->map = mmap(NULL, s->mapped, PROT_READ, MAP_SHARED, s->fd, (off_t)begin);
	if (s->map == MAP_FAILED) {
		s->map = NULL;
		return cvl_fail(
			err, CVL_E_ENV, CVL_NO_OFFSET, "%s: cannot be mapped at %llu (%s)%s",
			s->path, (unsigned long long)s->offset, strerror(errno),
			s->kind == POLL_MMIO ?
				"; kernels with STRICT_DEVMEM keep registers of their own drivers to themselves" :
				"; name a file, such as of /dev/shm");
	}
	s->lines.at = (const volatile char *)s->map + (s->offset - begin);
	return 0;
}

int poll_source_open(struct poll_source *s, struct cvl_error *err)
{
	s->lines = (struct poll_lines){ .width = s->width };
	s->lines.mask = s->mask       ? s->mask :
			s->width == 8 ? UINT64_MAX :
					(UINT64_C(1) << (8 * s->width)) - 1;
	switch (s->kind) {
	case POLL_IOPORT: return open_port(s, err);
	case POLL_GPIOCHIP: return poll_gpio_open(s, err);
	default: return open_memory(s, err);
	}
}

void poll_source_close(struct poll_source *s)
{
	if (s->map)
		munmap(s->map, s->mapped);
	if (s->fd >= 0)
		close(s->fd);
	s->map = NULL;
	s->fd = -1;
}
