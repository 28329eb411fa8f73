/* SPDX-License-Identifier: MIT */
#include "store/ctf/edges.h"

#include <endian.h>
#include <string.h>

#include "store/ctf/wire.h"

#define STAMP_MASK ((1u << WIRE_STAMP_BITS) - 1)
#define ID_MASK ((1u << WIRE_ID_BITS) - 1)

#define EDGES_INLINE static inline __attribute__((always_inline))

/* Continues a run of which @n are decoded. @bytes is a constant where speed matters. */
EDGES_INLINE size_t decode(const uint8_t *p, const uint8_t *end, const struct edge_run *run,
			   unsigned bytes, uint64_t *tick, uint64_t *level, size_t n, size_t max)
{
	const size_t each = 4 + bytes, left = (size_t)(end - p) / each;
	uint64_t last = n ? tick[n - 1] - run->from : 0;

	if (max - n > left)
		max = n + left;
	for (; n < max; n++, p += each) {
		uint64_t at, levels = 0;
		uint32_t word;

		memcpy(&word, p, 4);
		word = le32toh(word);
		at = ((word >> WIRE_ID_BITS) - (uint32_t)run->from) & STAMP_MASK;
		if ((word & ID_MASK) != run->id || at < last || at > run->span)
			break;
		last = at;
		memcpy(&levels, p + 4, bytes);
		tick[n] = run->from + at;
		level[n] = le64toh(levels);
	}
	return n;
}

/* The same for any number of bytes of levels. */
EDGES_INLINE size_t decode_any(const uint8_t *p, const uint8_t *end, const struct edge_run *run,
			       uint64_t *tick, uint64_t *level, size_t n, size_t max)
{
	switch (run->bytes) {
	case 1: return decode(p, end, run, 1, tick, level, n, max);
	case 2: return decode(p, end, run, 2, tick, level, n, max);
	case 4: return decode(p, end, run, 4, tick, level, n, max);
	default: return decode(p, end, run, run->bytes, tick, level, n, max);
	}
}

size_t edges_decode_plain(const uint8_t *p, const uint8_t *end, const struct edge_run *run,
			  uint64_t *tick, uint64_t *level, size_t max)
{
	return decode_any(p, end, run, tick, level, 0, max);
}

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

/* Where the words (@from 0) or the levels (@from 4) of two records are in 16 bytes, each as 64 bits. */
AVX2 static __m256i pick_two(unsigned from, unsigned bytes, unsigned each)
{
	uint8_t where[32];

	memset(where, 0x80, sizeof(where)); /* zero */
	for (unsigned lane = 0; lane < 2; lane++)
		for (unsigned i = 0; i < bytes; i++) {
			where[16 * lane + i] = (uint8_t)(from + i);
			where[16 * lane + 8 + i] = (uint8_t)(each + from + i);
		}
	return _mm256_loadu_si256((const void *)where);
}

/* Four records a step; not for levels of so many bytes that two records need more than 16. */
AVX2 static size_t decode_avx2(const uint8_t *p, const uint8_t *end, const struct edge_run *run,
			       uint64_t *tick, uint64_t *level, size_t max)
{
	const unsigned each = 4 + run->bytes;
	const __m256i words = pick_two(0, 4, each), levels = pick_two(4, run->bytes, each);
	const __m256i from = _mm256_set1_epi64x((long long)run->from);
	const __m256i ids = _mm256_set1_epi64x(ID_MASK), id = _mm256_set1_epi64x(run->id);
	const __m256i mask = _mm256_set1_epi64x(STAMP_MASK);
	const __m256i span =
		_mm256_set1_epi64x((long long)(run->span < STAMP_MASK ? run->span : STAMP_MASK));
	__m256i last = _mm256_setzero_si256();
	size_t n = 0;

	while (n + 4 <= max && (size_t)(end - p) >= 2 * each + 16) {
		const __m256i both = _mm256_inserti128_si256(
			_mm256_castsi128_si256(_mm_loadu_si128((const void *)p)),
			_mm_loadu_si128((const void *)(p + 2 * each)), 1);
		const __m256i word = _mm256_shuffle_epi8(both, words);
		const __m256i at = _mm256_and_si256(
			_mm256_sub_epi64(_mm256_srli_epi64(word, WIRE_ID_BITS), from), mask);
		/* each one's predecessor */
		const __m256i before =
			_mm256_blend_epi32(_mm256_permute4x64_epi64(at, 0x90), last, 0x03);
		const __m256i bad =
			_mm256_or_si256(_mm256_xor_si256(_mm256_and_si256(word, ids), id),
					_mm256_or_si256(_mm256_cmpgt_epi32(before, at),
							_mm256_cmpgt_epi32(at, span)));

		if (!_mm256_testz_si256(bad, bad))
			break;
		last = _mm256_permute4x64_epi64(at, 0xff);
		_mm256_storeu_si256((void *)(tick + n), _mm256_add_epi64(at, from));
		_mm256_storeu_si256((void *)(level + n), _mm256_shuffle_epi8(both, levels));
		n += 4;
		p += 4 * each;
	}
	return decode_any(p, end, run, tick, level, n, max);
}
#endif

size_t edges_decode(const uint8_t *p, const uint8_t *end, const struct edge_run *run,
		    uint64_t *tick, uint64_t *level, size_t max)
{
#if defined(__x86_64__)
	if (run->bytes <= 4 && __builtin_cpu_supports("avx2"))
		return decode_avx2(p, end, run, tick, level, max);
#endif
	return edges_decode_plain(p, end, run, tick, level, max);
}
