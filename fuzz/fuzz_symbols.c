/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/symbols/symbols.h"
#include "fuzz_import.h"

/* An ELF file of any bytes: it is refused with a reason, or look-ups stay within it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct cvl_error err = { 0 };
	struct symbols *s;
	char path[512];
	FILE *f;
	int rc;

	fuzz_path(path, sizeof(path), ".elf");
	f = fopen(path, "wb");
	if (!f)
		abort();
	fwrite(data, 1, n, f);
	fclose(f);
	rc = symbols_open(&s, path, &err);
	if (rc && (rc != (int)err.code || !err.text[0] || s))
		abort();
	for (size_t i = 0; !rc && i + 8 <= n && i < 8 * 512; i += 8) {
		uint64_t address, offset = 0, whole;
		const char *name, *file;
		unsigned line;

		memcpy(&address, data + i, 8);
		for (unsigned half = 0; half < 3;
		     half++, address = half == 1 ? address >> 32 : (uint32_t)address << 1) {
			name = symbols_code(s, address, &offset);
			if (name && (strlen(name) >= n || offset > address ||
				     !symbols_has_code(s, address)))
				abort();
			name = symbols_data_low(s, (unsigned)(address & 0xffff), 16, &whole,
						&offset);
			if (name && (symbols_data(s, whole, NULL) != name || offset > whole))
				abort();
			if (symbols_line(s, address, &file, &line) && !line)
				abort();
		}
		if (!symbols_exception(s, (unsigned)i))
			abort();
	}
	symbols_close(s);
	remove(path);
	return 0;
}
