/* SPDX-License-Identifier: MIT */
#include "ett.h"

#include <coeval/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ett/image.h>

#include "core/crc32c.h"

#define IMAGE_BYTES ((uint64_t)1 << 30)
#define RUNS 5
#define INSTRUCTIONS 30
#define LENGTH_NS 20000000

/* ---- instructions a step: in QEMU an instruction can be made to take 1 ns of its clock ---- */

static int build(const struct bench *b, const char *out, int *status)
{
	const char *const argv[] = { COEVAL_SOURCE_DIR "/firmware/build", "ett", out, NULL };
	const struct bench_command c = { .argv = argv, .status = status };
	struct bench_usage u = { .watch_memory = false };

	return bench_run(b, &c, &u);
}

static int emulate(const struct bench *b, const char *kernel, const char *disk)
{
	char drive[BENCH_PATH_MAX + 40];
	const char *const argv[] = { "python3",
				     COEVAL_SOURCE_DIR "/tests/ett_qemu.py",
				     "see=saved, blocks",
				     "--",
				     "qemu-system-x86_64",
				     "-m",
				     "64",
				     "-smp",
				     "1",
				     "-icount",
				     "shift=0",
				     "-parallel",
				     "null",
				     "-nic",
				     "none",
				     "-drive",
				     drive,
				     "-kernel",
				     kernel,
				     "-append",
				     "length=20ms start=now save=disk",
				     NULL };
	const struct bench_command c = { .argv = argv };
	struct bench_usage u = { .watch_memory = false };

	snprintf(drive, sizeof(drive), "if=ide,format=raw,file=%s", disk);
	return bench_run(b, &c, &u);
}

static int make_space(const struct bench *b, const char *path)
{
	static const unsigned char zeros[1 << 20];
	FILE *f = fopen(path, "wb");
	bool ok = f && fputs(ETT_SPACE_MARK, f) >= 0 && fwrite(zeros, sizeof(zeros), 1, f) == 1;

	if (f && fclose(f))
		ok = false;
	return ok ? 0 : bench_fail(b, CVL_E_IO, "%s: cannot write it", path);
}

static int read_header(const struct bench *b, const char *path, struct ett_header *h)
{
	FILE *f = fopen(path, "rb");
	bool ok = f && fread(h, sizeof(*h), 1, f) == 1 &&
		  !memcmp(h->magic, ETT_MAGIC, sizeof(h->magic)) && h->steps;

	if (f)
		fclose(f);
	return ok ? 0 : bench_fail(b, CVL_E_IO, "%s: the kernel saved nothing there", path);
}

int ett_kernel(const struct bench *b)
{
	struct bench_figure f = {
		.name = "kernel's loop, simulated: instructions a step without event",
		.unit = "",
		.less_is_better = true,
		.goal = INSTRUCTIONS,
		.every = true
	};
	struct bench_row needs = { .skip = "" };
	char out[BENCH_PATH_MAX], kernel[BENCH_PATH_MAX], disk[BENCH_PATH_MAX];
	struct ett_header h;
	int status = 0, rc;

	if (!bench_installed(&needs, "qemu-system-x86_64") || !bench_installed(&needs, "python3")) {
		printf("SKIP  %s: %s\n", f.name, needs.skip);
		return 0;
	}
	bench_doing(b, "%s", f.name);
	bench_path(b, out, "ett");
	bench_path(b, kernel, "ett/ett.bin");
	bench_path(b, disk, "ett/disk.img");
	rc = build(b, out, &status);
	if (!rc && status == 77) {
		printf("SKIP  %s: no gcc for x86-64 here\n", f.name);
		return 0;
	}
	if (!rc && status)
		rc = bench_fail(b, CVL_E_ENV, "firmware/build ett failed");
	if (!rc)
		rc = make_space(b, disk);
	if (!rc)
		rc = emulate(b, kernel, disk);
	if (!rc)
		rc = read_header(b, disk, &h);
	if (rc)
		return rc;
	bench_add(&f.measured, (double)LENGTH_NS / (double)h.steps);
	snprintf(f.note, sizeof(f.note), "%llu steps in 20 ms at one instruction a ns",
		 (unsigned long long)h.steps);
	bench_figure_heads(b);
	bench_figure_put(b, &f);
	return 0;
}

/* ---- import ---- */

/* A full image: a record every 1000 to 2000 ticks, two probes. */
static int make_image(const struct bench *b, const char *path)
{
	static struct ett_record record[ETT_BLOCK_RECORDS];
	static union {
		struct ett_block block;
		unsigned char bytes[ETT_BLOCK_BYTES];
	} out;
	const uint64_t blocks = IMAGE_BYTES / ETT_BLOCK_BYTES - 1;
	struct ett_image im = {
		.header = { .flags = ETT_INVARIANT | ETT_PIT,
			    .probes = 2,
			    .bits = 4,
			    .mask = 0xff,
			    .rate_hz = 2600000000,
			    .run = 1,
			    .begin = 1,
			    .why = ETT_END_KEY,
			    .records = blocks * ETT_BLOCK_RECORDS },
	};
	FILE *f = fopen(path, "wb");
	uint64_t tick = 1;
	uint32_t random = 1;
	uint8_t v = 0x11;

	if (!f)
		return bench_fail(b, CVL_E_IO, "%s: cannot make it", path);
	im.header.end = 1 + 2048 * im.header.records;
	ett_image_block(&im, 0, out.bytes);
	fwrite(&out, sizeof(out), 1, f);
	for (uint64_t i = 0; i < blocks; i++) {
		for (size_t k = 0; k < ETT_BLOCK_RECORDS; k++) {
			random = random * 1664525u + 1013904223u;
			tick += 1000 + (random >> 22);
			record[k] = (struct ett_record){ .tick = tick,
							 .width = 900 + (random >> 24),
							 .before = v };
			v = (uint8_t)(random & 1u << 20 ? (v & 0xf0) | ((v + 1) & 15) : v + 16);
			record[k].value = v;
		}
		out.block = (struct ett_block){ .magic = ETT_BLOCK_MAGIC,
						.kind = ETT_RECORDS,
						.n = ETT_BLOCK_RECORDS,
						.first = i * ETT_BLOCK_RECORDS,
						.run = 1 };
		memcpy(out.block.record, record, sizeof(record));
		out.block.crc = cvl_crc32c(0, &out, sizeof(out));
		if (fwrite(&out, sizeof(out), 1, f) != 1)
			break;
	}
	if (ferror(f) | fclose(f))
		return bench_fail(b, CVL_E_IO, "%s: cannot write it", path);
	return 0;
}

int ett_import_image(const struct bench *b)
{
	struct bench_row row = { .name = "import of a 1 GiB image, against cp of it", .goal = 0.8 };
	char image[BENCH_PATH_MAX], session[BENCH_PATH_MAX];
	const char *const import[] = { b->coeval, "import", "-o", session, image, NULL };
	char copy[BENCH_PATH_MAX];
	const char *const copying[] = { "cp", "--reflink=never", image, copy, NULL };
	const struct bench_command ours = { .argv = import, .fresh = session };
	const struct bench_command reference = { .argv = copying, .fresh = copy };
	int rc;

	bench_doing(b, "%s", row.name);
	bench_path(b, image, "ett.img");
	bench_path(b, session, "ett-session");
	bench_path(b, copy, "ett-copy.img");
	rc = make_image(b, image);
	bench_heads(b);
	if (!rc)
		rc = bench_compare(b, &row, RUNS, &ours, &reference);
	remove(image);
	remove(copy);
	bench_remove(session);
	return rc;
}
