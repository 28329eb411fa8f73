/* SPDX-License-Identifier: MIT */
#include "timeline/window.h"

#include <stdlib.h>
#include <string.h>

#define DIGIT_MAX 11 /* bits; so many counters stay in the first cache */
#define DIGIT_FEW 8  /* for windows of fewer than ... */
#define FEW 1024
#define VERY_FEW 24 /* by insertion */

int window_init(struct window *w, size_t streams)
{
	*w = (struct window){ .next = calloc(streams + 1, sizeof(*w->next)) };
	while (streams >> w->bits)
		w->bits++;
	return w->next && !window_reserve(w, 1) ? 0 : CVL_E_NOMEM;
}

void window_free(struct window *w)
{
	free(w->next);
	free(w->block);
	*w = (struct window){ 0 };
}

int64_t window_begin(struct window *w, int64_t first)
{
	w->first = w->last = first;
	w->n = w->n_runs = 0;
	return cvl_add_sat(first, (int64_t)(UINT64_MAX >> (w->bits + 1)));
}

int window_reserve(struct window *w, size_t records)
{
	const size_t each = 2 * sizeof(*w->key) + sizeof(*w->run);
	size_t room = w->room ? w->room : 256;
	void *block;

	if (records <= w->room - w->n)
		return 0;
	while (room - w->n < records)
		room *= 2;
	block = malloc(room * each);
	if (!block)
		return CVL_E_NOMEM;
	if (w->n)
		memcpy(block, w->key, w->n * sizeof(*w->key));
	free(w->block);
	w->block = w->key = block;
	w->spare = w->key + room;
	w->run = (struct cvl_run *)(w->spare + room);
	w->room = room;
	return 0;
}

size_t window_add(struct window *w, uint32_t stream, const struct cvl_time *time, size_t begin,
		  size_t end, bool ordered, int64_t *reached, int64_t limit)
{
	const unsigned bits = w->bits;
	const uint64_t first = (uint64_t)w->first;
	uint64_t *key = w->key + w->n;
	int64_t due = *reached;
	size_t i = begin;

	for (; ordered && i < end && time[i].ns <= limit; i++)
		key[i - begin] = ((uint64_t)time[i].ns - first) << bits | stream;
	if (ordered && i > begin)
		due = time[i - 1].ns;
	for (; !ordered && i < end; i++) {
		const int64_t at = time[i].ns > due ? time[i].ns : due;

		if (at > limit)
			break;
		due = at;
		key[i - begin] = ((uint64_t)due - first) << bits | stream;
	}
	*reached = due;
	w->last = due > w->last ? due : w->last;
	w->next[stream] = (uint16_t)begin;
	w->n += i - begin;
	return i;
}

static void insertion_sort(uint64_t *key, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		const uint64_t moved = key[i];
		size_t k = i;

		for (; k && key[k - 1] > moved; k--)
			key[k] = key[k - 1];
		key[k] = moved;
	}
}

/* One digit of @bits from bit @shift on. Returns whether anything had to move. */
static bool sort_digit(const uint64_t *from, uint64_t *to, size_t n, unsigned shift, unsigned bits)
{
	uint32_t count[1u << DIGIT_MAX], sum = 0;
	const uint64_t mask = (1u << bits) - 1;

	memset(count, 0, sizeof(*count) << bits);
	for (size_t i = 0; i < n; i++)
		count[from[i] >> shift & mask]++;
	if (count[from[0] >> shift & mask] == n)
		return false;
	for (size_t d = 0; d <= mask; d++) {
		const uint32_t here = count[d];

		count[d] = sum;
		sum += here;
	}
	for (size_t i = 0; i < n; i++)
		to[count[from[i] >> shift & mask]++] = from[i];
	return true;
}

/* Neighbours of one stream make one run. */
static void make_runs(struct window *w)
{
	const uint64_t mask = ((uint64_t)1 << w->bits) - 1;
	struct cvl_run *run = w->run;
	uint64_t last = UINT64_MAX;

	run--;
	for (size_t i = 0; i < w->n; i++) {
		const uint64_t stream = w->key[i] & mask;
		const uint16_t at = w->next[stream]++;

		if (stream != last) {
			*++run = (struct cvl_run){ (uint32_t)stream, at, (uint16_t)(at + 1) };
			last = stream;
		} else {
			run->end = (uint16_t)(at + 1);
		}
	}
	w->n_runs = (size_t)(run + 1 - w->run);
}

void window_sort(struct window *w)
{
	const unsigned most = w->n < FEW ? DIGIT_FEW : DIGIT_MAX;
	const uint64_t span = (uint64_t)w->last - (uint64_t)w->first;
	unsigned bits = span ? 64 - (unsigned)__builtin_clzll(span) : 0;
	unsigned passes = (bits + most - 1) / most, shift = w->bits;

	if (w->n <= VERY_FEW) {
		insertion_sort(w->key, w->n);
		passes = 0;
	}
	for (; passes; passes--) {
		const unsigned digit = (bits + passes - 1) / passes;

		if (sort_digit(w->key, w->spare, w->n, shift, digit)) {
			uint64_t *sorted = w->spare;

			w->spare = w->key;
			w->key = sorted;
		}
		shift += digit;
		bits -= digit;
	}
	make_runs(w);
}

void window_one(struct window *w, uint32_t stream, size_t begin, size_t end)
{
	w->run[0] = (struct cvl_run){ stream, (uint16_t)begin, (uint16_t)end };
	w->n_runs = 1;
	w->n = end - begin;
}
