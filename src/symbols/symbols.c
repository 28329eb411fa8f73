/* SPDX-License-Identifier: MIT */
#include "symbols/symbols.h"

#include <stdio.h>
#include <stdlib.h>

#include "symbols/symbols_internal.h"

/* A trace with more addresses outside the code is of another program. */
#define OUTSIDE_PERCENT 1

int symbols_open(struct symbols **out, const char *path, struct cvl_error *err)
{
	struct symbols *s = calloc(1, sizeof(*s));
	int rc;

	*out = NULL;
	if (!s)
		return cvl_no_memory(err);
	rc = symbols_read(s, path, err);
	if (rc) {
		symbols_close(s);
		return rc;
	}
	*out = s;
	return 0;
}

void symbols_close(struct symbols *s)
{
	if (!s)
		return;
	spans_free(&s->code);
	spans_free(&s->data);
	spans_free(&s->line);
	spans_free(&s->text);
	for (size_t i = 0; i < SYMBOLS_EXCEPTIONS; i++)
		free(s->exception[i]);
	free(s->vector);
	free(s->low);
	symbols_release(s);
	free(s);
}

static uint64_t code_address(const struct symbols *s, uint64_t address)
{
	return s->thumb ? address & ~(uint64_t)1 : address;
}

static const char *name_in(struct spans *spans, uint64_t address, uint64_t *offset)
{
	const struct span *found = spans_find(spans, address);

	if (!found)
		return NULL;
	if (offset)
		*offset = address - found->start;
	return found->name;
}

const char *symbols_code(struct symbols *s, uint64_t address, uint64_t *offset)
{
	return name_in(&s->code, code_address(s, address), offset);
}

bool symbols_line(struct symbols *s, uint64_t address, const char **file, unsigned *line)
{
	const struct span *found = spans_find(&s->line, code_address(s, address));

	if (!found)
		return false;
	*file = found->name;
	*line = found->line;
	return true;
}

const char *symbols_data(struct symbols *s, uint64_t address, uint64_t *offset)
{
	return name_in(&s->data, address, offset);
}

/* ---- objects by the low bits of an address ---- */

static void cover(struct symbols_low *low, uint64_t from, uint64_t to, size_t object, uint64_t high)
{
	low[from].covers++;
	low[from].sum += object;
	low[from].high += high;
	low[to].covers--;
	low[to].sum -= object;
	low[to].high -= high;
}

/*
 * Count the uses of each value of the low bits by summing differences: the time does not depend on
 * sizes.
 */
static bool make_low(struct symbols *s, unsigned n_bits)
{
	uint64_t n = (uint64_t)1 << n_bits;
	struct symbols_low *low;

	if (s->low && s->low_bits == n_bits)
		return true;
	free(s->low);
	s->low = low = calloc(n + 1, sizeof(*low));
	s->low_bits = n_bits;
	if (!low)
		return false;
	for (size_t i = 0; i < s->data.n; i++) {
		uint64_t from = s->data.at[i].from, last = s->data.at[i].end - 1;
		uint64_t high = from >> n_bits;

		if (high == last >> n_bits) {
			cover(low, from % n, last % n + 1, i, high);
			continue;
		}
		cover(low, from % n, n, i, high);
		if ((last >> n_bits) - high > 1) /* all values at least once, so none is unique */
			for (unsigned twice = 0; twice < 2; twice++)
				cover(low, 0, n, i, 0);
		cover(low, 0, last % n + 1, i, last >> n_bits);
	}
	for (uint64_t i = 1; i < n; i++) {
		low[i].covers += low[i - 1].covers;
		low[i].sum += low[i - 1].sum;
		low[i].high += low[i - 1].high;
	}
	return true;
}

const char *symbols_data_low(struct symbols *s, unsigned low_bits, unsigned n_bits,
			     uint64_t *address, uint64_t *offset)
{
	const struct symbols_low *low;
	uint64_t whole;

	if (!n_bits || n_bits > SYMBOLS_LOW_BITS || low_bits >> n_bits || !make_low(s, n_bits))
		return NULL;
	low = &s->low[low_bits];
	if (low->covers != 1)
		return NULL;
	whole = low->high << n_bits | low_bits;
	if (address)
		*address = whole;
	if (offset)
		*offset = whole - s->data.at[low->sum].start;
	return s->data.at[low->sum].name;
}

/* ---- exceptions ---- */

const char *symbols_exception_name(unsigned number)
{
	/* Armv7-M and Armv8-M Architecture Reference Manuals: exception numbers */
	static const char *const names[16] = {
		"Thread",       "Reset",       "NMI",       "HardFault", "MemManage",  "BusFault",
		"UsageFault",   "SecureFault", "Reserved8", "Reserved9", "Reserved10", "SVCall",
		"DebugMonitor", "Reserved13",  "PendSV",    "SysTick",
	};

	return number < 16 ? names[number] : NULL;
}

/* The function that begins where a vector points, or NULL. */
static const char *handler(struct symbols *s, unsigned number)
{
	const char *name;
	uint64_t offset;

	if (number >= s->n_vectors || !(s->vector[number] & 1))
		return NULL;
	name = symbols_code(s, s->vector[number], &offset);
	return name && !offset ? name : NULL;
}

const char *symbols_exception(struct symbols *s, unsigned number)
{
	const char *name = symbols_exception_name(number);

	if (!name)
		name = handler(s, number);
	if (name || number >= SYMBOLS_EXCEPTIONS)
		return name ? name : "IRQ";
	if (!s->exception[number] && asprintf(&s->exception[number], "IRQ%u", number - 16) < 0)
		s->exception[number] = NULL;
	return s->exception[number] ? s->exception[number] : "IRQ";
}

/* ---- whether it is this program's file ---- */

bool symbols_has_code(struct symbols *s, uint64_t address)
{
	address = code_address(s, address);
	return spans_find(&s->text, address) || spans_find(&s->code, address);
}

void symbols_check(struct symbols_check *check, struct symbols *s, uint64_t address)
{
	check->seen++;
	if (symbols_has_code(s, address))
		return;
	if (!check->outside++)
		check->first_outside = address;
}

bool symbols_check_fits(const struct symbols_check *check, const char *path, struct cvl_error *err)
{
	if (check->outside * 100 <= check->seen * OUTSIDE_PERCENT)
		return true;
	cvl_fail(
		err, CVL_E_MISMATCH, CVL_NO_OFFSET,
		"%s: %.3g %% of the %llu addresses in the trace lie outside its code (0x%llx is the first): is it the "
		"program that ran?",
		path, 100 * (double)check->outside / (double)check->seen,
		(unsigned long long)check->seen, (unsigned long long)check->first_outside);
	return false;
}
