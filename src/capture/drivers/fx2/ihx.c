/* SPDX-License-Identifier: MIT */
#include "capture/drivers/fx2/ihx.h"

#include <stdbool.h>
#include <string.h>

enum { DATA = 0, END = 1 };
/* Of a record, before and after its data: length, address, type; checksum. */
#define HEAD 4
#define TAIL 1

static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/*
 * Up to 255 data bytes. Returns how many bytes the digits at @text make, or -1 if they are odd or
 * none.
 */
static int digits(const char *text, size_t n, uint8_t out[HEAD + 255 + TAIL])
{
	size_t k;

	for (k = 0; 2 * k < n && nibble(text[2 * k]) >= 0; k++) {
		int low = 2 * k + 1 < n ? nibble(text[2 * k + 1]) : -1;

		if (low < 0 || k == HEAD + 255 + TAIL)
			return -1;
		out[k] = (uint8_t)(nibble(text[2 * k]) << 4 | low);
	}
	return (int)k;
}

static int record(struct fx2_program *program, const uint8_t *r, int n, size_t at, const char *name,
		  bool *end, struct cvl_error *err)
{
	const size_t address = (size_t)r[1] << 8 | r[2];
	uint8_t sum = 0;

	if (n < HEAD + TAIL || n != HEAD + r[0] + TAIL)
		return cvl_fail(err, CVL_E_SYNTAX, at,
				"%s: the record at byte %zu is not as long as it says", name, at);
	for (int i = 0; i < n; i++)
		sum = (uint8_t)(sum + r[i]);
	if (sum)
		return cvl_fail(err, CVL_E_CHECKSUM, at,
				"%s: the checksum of the record at byte %zu is wrong", name, at);
	*end = r[3] == END;
	if (*end)
		return 0;
	if (r[3] != DATA)
		return cvl_fail(
			err, CVL_E_UNSUPPORTED, at,
			"%s: the record at byte %zu is of type %u; only 0 and 1 are known here",
			name, at, r[3]);
	if (address + r[0] > FX2_RAM)
		return cvl_fail(
			err, CVL_E_RANGE, at,
			"%s: the record at byte %zu (address 0x%04zx) is outside of the 16 KiB "
			"of program memory",
			name, at, address);
	memcpy(program->byte + address, r + HEAD, r[0]);
	if (r[0] && address + r[0] > program->n)
		program->n = address + r[0];
	return 0;
}

int fx2_ihx_parse(struct fx2_program *program, const char *text, size_t n, const char *name,
		  struct cvl_error *err)
{
	uint8_t r[HEAD + 255 + TAIL] = { 0 };
	bool end = false;

	memset(program, 0, sizeof(*program));
	for (size_t at = 0; at < n && !end;) {
		int len, rc;

		if (text[at] == '\n' || text[at] == '\r') {
			at++;
			continue;
		}
		if (text[at] != ':')
			return cvl_fail(err, CVL_E_SYNTAX, at,
					"%s: no Intel HEX: ':' expected at byte %zu", name, at);
		len = digits(text + at + 1, n - at - 1, r);
		if (len < 0)
			return cvl_fail(
				err, CVL_E_SYNTAX, at,
				"%s: the record at byte %zu has an odd number of hex digits", name,
				at);
		rc = record(program, r, len, at, name, &end, err);
		if (rc)
			return rc;
		at += 1 + 2 * (size_t)len;
	}
	if (!end)
		return cvl_fail(err, CVL_E_TRUNCATED, n, "%s: no end record", name);
	return 0;
}
