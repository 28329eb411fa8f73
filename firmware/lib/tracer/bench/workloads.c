/* SPDX-License-Identifier: MIT */
#include "workloads.h"

#include "hooks.h"

#define LOOPS 10000u
#define SORTED 10000u

uint32_t bench_sum;

/* ---- events alone ---- */

static void loop_none(void)
{
	for (uint32_t i = 0; i < LOOPS; i++)
		__asm__ volatile("" ::"r"(i));
}

static void loop_u32(void)
{
	for (uint32_t i = 0; i < LOOPS; i++)
		hook_hash(i);
}

static void loop_u8_u32(void)
{
	for (uint32_t i = 0; i < LOOPS; i++)
		hook_sort((uint8_t)i, i);
}

/* ---- SHA-256 (FIPS 180-4) of strings of one block ---- */

static uint32_t turned(uint32_t v, unsigned n)
{
	return v >> n | v << (32 - n);
}

/* The first half of the digest's first word is enough to see that it is right. */
static uint32_t sha256(const char *text, unsigned length)
{
	static const uint32_t k[64] = {
		0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
		0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
		0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
		0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
		0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
		0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
		0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
		0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
		0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
		0xc67178f2
	};
	uint32_t h[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	const uint32_t first = h[0];
	uint32_t w[64] = { 0 };

	for (unsigned i = 0; i < length; i++)
		w[i / 4] |= (uint32_t)(uint8_t)text[i] << (24 - i % 4 * 8);
	w[length / 4] |= 0x80u << (24 - length % 4 * 8);
	w[15] = 8 * length;
	for (unsigned i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + w[i - 7] + (turned(a, 7) ^ turned(a, 18) ^ a >> 3) +
		       (turned(b, 17) ^ turned(b, 19) ^ b >> 10);
	}
	for (unsigned i = 0; i < 64; i++) {
		uint32_t e = h[4], a = h[0];
		uint32_t one = h[7] + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) +
			       ((e & h[5]) ^ (~e & h[6])) + k[i] + w[i];
		uint32_t two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) +
			       ((a & h[1]) ^ (a & h[2]) ^ (h[1] & h[2]));

		for (unsigned n = 7; n; n--)
			h[n] = h[n - 1];
		h[4] += one;
		h[0] = one + two;
	}
	return h[0] + first;
}

/* The next permutation in the order of the alphabet. Returns 0 after the last one. */
static int permute(char *s, unsigned n)
{
	unsigned i = n - 1, k = n - 1;
	char c;

	while (i && s[i - 1] >= s[i])
		i--;
	if (!i)
		return 0;
	while (s[k] <= s[i - 1])
		k--;
	c = s[k];
	s[k] = s[i - 1];
	s[i - 1] = c;
	for (k = n - 1; i < k; i++, k--) {
		c = s[k];
		s[k] = s[i];
		s[i] = c;
	}
	return 1;
}

/* Hashes of all permutations of "barectf", an event for each @every of them. */
static void sha(unsigned every)
{
	char text[] = "abcefrt";
	unsigned n = 0;

	do {
		uint32_t value = sha256(text, 7);

		bench_sum += value;
		if (++n % every == 0)
			hook_hash(value);
	} while (permute(text, 7));
}

static void sha_a(void)
{
	sha(1);
}

static void sha_b(void)
{
	sha(5);
}

static void sha_c(void)
{
	sha(10);
}

static void sha_d(void)
{
	sha(100);
}

/* ---- the sum of 1 / k^2, which is pi^2 / 6 ---- */

static void pisum(void)
{
	for (unsigned i = 0; i < 50; i++) {
		float sum = 0;

		for (uint32_t k = 1; k <= 500; k++) {
			float f = (float)k;

			sum += 1.0F / (f * f);
		}
		bench_sum += (uint32_t)(sum * 1000.0F);
		hook_pi((uint32_t)(sum * 1000.0F));
	}
}

/* ---- quicksort ---- */

static uint16_t numbers[SORTED];

static void sort(uint16_t *from, uint32_t n, unsigned depth)
{
	uint16_t pivot = from[n / 2], swap;
	uint32_t i = 0, k = n - 1;

	hook_sort((uint8_t)depth, n);
	for (;; i++, k--) {
		while (from[i] < pivot)
			i++;
		while (from[k] > pivot)
			k--;
		if (i >= k)
			break;
		swap = from[i];
		from[i] = from[k];
		from[k] = swap;
	}
	if (i > 1)
		sort(from, i, depth + 1);
	if (n - k > 2)
		sort(from + k + 1, n - k - 1, depth + 1);
}

static void quicksort(void)
{
	uint32_t state = 1;

	for (uint32_t i = 0; i < SORTED; i++) {
		state = state * 1664525u + 1013904223u;
		numbers[i] = (uint16_t)(state >> 16);
	}
	sort(numbers, SORTED, 0);
	for (uint32_t i = 1; i < SORTED; i++)
		bench_sum += numbers[i - 1] > numbers[i] ? 0x10000000u : numbers[i];
	hook_done(1);
}

const struct bench_workload bench_workloads[] = {
	{ "nothing", loop_none, 0 },      { "u32", loop_u32, LOOPS },
	{ "u8+u32", loop_u8_u32, LOOPS }, { "SHA-256 A", sha_a, 5040 },
	{ "SHA-256 B", sha_b, 1008 },     { "SHA-256 C", sha_c, 504 },
	{ "SHA-256 D", sha_d, 50 },       { "pisum", pisum, 50 },
	{ "quicksort", quicksort, 0 },    { 0, 0, 0 },
};
