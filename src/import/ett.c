/* SPDX-License-Identifier: MIT */
/*
 * Output of the event timestamping kernel (firmware/apps/ett): a disk, a disk image, or what its
 * serial port sent. See wire/ett_image.h for the bytes, ett_store.h for what is stored.
 */
#include <wire/ett_image.h>

#include <endian.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/crc32c.h"
#include "ett_store.h"
#include "importers.h"
#include "input.h"
#include "core/text.h"

struct ett {
	struct cvl_input *in;
	const struct cvl_import_opts *opts;
	const char *name;
	struct ett_header h;
	struct ett_store store;
	struct cvl_tally bad;
};

static bool is_header(const unsigned char *p)
{
	return !memcmp(p, ETT_MAGIC, sizeof(ETT_MAGIC) - 1);
}

/* Sector at which the image begins according to our boot sector; 0: not our boot sector. */
static uint32_t boot_image(const unsigned char *p)
{
	uint32_t lba;

	if (memcmp(p + ETT_BOOT_MARK_AT, ETT_BOOT_MARK, sizeof(ETT_BOOT_MARK) - 1))
		return 0;
	memcpy(&lba, p + ETT_BOOT_IMAGE_AT, sizeof(lba));
	return le32toh(lba);
}

/* Skip @n bytes; false at the end of the file. */
static int skip(struct ett *e, uint64_t n, struct cvl_error *err)
{
	const unsigned char *p;

	while (n) {
		uint64_t want = n < ETT_BLOCK_BYTES ? n : ETT_BLOCK_BYTES;
		ssize_t have = cvl_input_peek(e->in, (size_t)want, &p, err);

		if (have < 0)
			return (int)have;
		if (!have)
			return cvl_fail(err, CVL_E_TRUNCATED, cvl_input_offset(e->in),
					"%s:%" PRIu64
					": the file ends before the image given by its boot sector",
					e->name, cvl_input_offset(e->in));
		want = (uint64_t)have < n ? (uint64_t)have : n;
		cvl_input_skip(e->in, (size_t)want);
		n -= want;
	}
	return 0;
}

static uint32_t header_crc(struct ett_header h)
{
	h.crc = 0;
	return cvl_crc32c(0, &h, sizeof(h));
}

static int check_header(const struct ett_header *h, uint64_t at, const char *name,
			struct cvl_error *err)
{
	const uint64_t blocks_max = UINT64_C(1) << 40;

	if (!is_header((const unsigned char *)h->magic))
		return cvl_fail(err, CVL_E_MAGIC, at, "%s:%" PRIu64 ": nothing was saved here",
				name, at);
	if (le32toh(h->version) != ETT_VERSION)
		return cvl_fail(err, CVL_E_UNSUPPORTED, at + 8,
				"%s:%" PRIu64 ": unsupported image version %" PRIu32
				"; this reads version %d",
				name, at + 8, le32toh(h->version), ETT_VERSION);
	if (header_crc(*h) != le32toh(h->crc))
		return cvl_fail(err, CVL_E_CHECKSUM, at + 12,
				"%s:%" PRIu64 ": wrong checksum in the header and in its copy",
				name, at + 12);
	if (!h->rate_hz || le64toh(h->rate_hz) > UINT64_C(1) << 40)
		return cvl_fail(err, CVL_E_RANGE, at + offsetof(struct ett_header, rate_hz),
				"%s:%" PRIu64 ": a clock of %" PRIu64 " Hz", name,
				at + offsetof(struct ett_header, rate_hz), le64toh(h->rate_hz));
	if ((h->probes != 1 && h->probes != 2 && h->probes != 8) || h->bits != 8 / h->probes)
		return cvl_fail(err, CVL_E_RANGE, at + offsetof(struct ett_header, probes),
				"%s:%" PRIu64 ": %u probes of %u bits", name,
				at + offsetof(struct ett_header, probes), h->probes, h->bits);
	if (le64toh(h->records) / ETT_BLOCK_RECORDS >= blocks_max ||
	    le64toh(h->truths) / ETT_BLOCK_RECORDS >= blocks_max)
		return cvl_fail(err, CVL_E_RANGE, at + offsetof(struct ett_header, records),
				"%s:%" PRIu64 ": impossible number of records", name,
				at + offsetof(struct ett_header, records));
	return 0;
}

static int read_header(struct ett *e, struct cvl_error *err)
{
	const unsigned char *p;
	ssize_t n = cvl_input_peek(e->in, ETT_SECTOR_BYTES, &p, err);
	struct ett_header copy;
	uint64_t at;
	int rc = 0;

	if (n < 0)
		return (int)n;
	if (n >= ETT_SECTOR_BYTES && boot_image(p)) {
		rc = skip(e, (uint64_t)boot_image(p) * ETT_SECTOR_BYTES, err);
		if (rc)
			return rc;
	}
	at = cvl_input_offset(e->in);
	n = cvl_input_peek(e->in, ETT_BLOCK_BYTES, &p, err);
	if (n < 0)
		return (int)n;
	if (n < ETT_BLOCK_BYTES)
		return cvl_fail(err, CVL_E_TRUNCATED, at + (uint64_t)n,
				"%s:%" PRIu64 ": the file ends inside its header", e->name,
				at + (uint64_t)n);
	memcpy(&e->h, p, sizeof(e->h));
	rc = check_header(&e->h, at, e->name, err);
	memcpy(&copy, p + ETT_COPY_AT, sizeof(copy));
	if (rc && !check_header(&copy, at + ETT_COPY_AT, e->name, NULL)) {
		struct cvl_error problem;

		cvl_fail(&problem, CVL_E_CHECKSUM, at,
			 "%s:%" PRIu64 ": the header is damaged; its copy is used", e->name, at);
		cvl_tell(e->opts->report, &problem);
		e->h = copy;
		rc = e->opts->strict ? cvl_fail(err, problem.code, at, "%s", problem.text) : 0;
	}
	cvl_input_skip(e->in, ETT_BLOCK_BYTES);
	return rc;
}

/* ---- blocks ---- */

/* Whether @p is an intact block of this run; @head gets its header. */
static bool is_block(const struct ett *e, const unsigned char *p, struct ett_block *head)
{
	static const unsigned char zeros[sizeof(uint32_t)];
	const size_t at = offsetof(struct ett_block, crc);
	uint32_t crc;

	memcpy(head, p, offsetof(struct ett_block, record));
	if (le32toh(head->magic) != ETT_BLOCK_MAGIC || head->run != e->h.run)
		return false;
	crc = cvl_crc32c(0, p, at);
	crc = cvl_crc32c(crc, zeros, sizeof(zeros));
	crc = cvl_crc32c(crc, p + at + sizeof(zeros), ETT_BLOCK_BYTES - at - sizeof(zeros));
	return crc == le32toh(head->crc);
}

static uint64_t records_from(uint64_t first, uint64_t total)
{
	return total - first < ETT_BLOCK_RECORDS ? total - first : ETT_BLOCK_RECORDS;
}

/* Whether its records are of @kind and from number @from on. */
static bool has_those(const struct ett_block *head, enum ett_kind kind, uint64_t from,
		      uint64_t total)
{
	uint64_t first = le64toh(head->first);

	return le16toh(head->kind) == kind && first >= from && first < total &&
	       first % ETT_BLOCK_RECORDS == 0 && le16toh(head->n) == records_from(first, total);
}

/*
 * How far to skip where a block should be but is not: to the possible start of the next one, since
 * bytes lost on a serial line shift all that follows. In place if none is found within a block.
 */
static ssize_t to_next(struct ett *e, struct cvl_error *err)
{
	const uint32_t magic = htole32(ETT_BLOCK_MAGIC);
	const size_t want = ETT_BLOCK_BYTES + sizeof(magic) - 1;
	const unsigned char *p, *next;
	ssize_t have = cvl_input_peek(e->in, want, &p, err);

	if (have < 0)
		return have;
	next = memmem(p + 1, ((size_t)have < want ? (size_t)have : want) - 1, &magic,
		      sizeof(magic));
	return next ? next - p : ETT_BLOCK_BYTES;
}

/* Report, once, that records are missing from here on. */
static int tell_bad(struct ett *e, bool *bad, struct cvl_error *err)
{
	uint64_t at = cvl_input_offset(e->in);

	if (!*bad)
		cvl_tally_add(&e->bad, at);
	*bad = true;
	return e->opts->strict ?
		       cvl_fail(err, CVL_E_CHECKSUM, at,
				"%s:%" PRIu64 ": block damaged or of another run", e->name, at) :
		       0;
}

/*
 * The blocks of @total records of @kind. *@lost: how many of the last ones are missing because the
 * file is truncated.
 */
static int read_blocks(struct ett *e, enum ett_kind kind, uint64_t total, uint64_t *lost,
		       struct cvl_error *err)
{
	/* where blocks are out of place, search one more block's bytes */
	const uint64_t more = ETT_BLOCK_BYTES;
	uint64_t left =
		(total + ETT_BLOCK_RECORDS - 1) / ETT_BLOCK_RECORDS * ETT_BLOCK_BYTES + more;
	uint64_t i = 0;
	const unsigned char *p;
	bool bad = false;
	int rc = 0;

	while (i < total && left >= ETT_BLOCK_BYTES && !rc) {
		ssize_t have = cvl_input_peek(e->in, ETT_BLOCK_BYTES, &p, err), step;
		struct ett_block head;
		bool whole;

		if (have < 0)
			return (int)have;
		if (have < ETT_BLOCK_BYTES) {
			cvl_input_skip(e->in, (size_t)have);
			if (left <= more) /* its last blocks are damaged, not missing */
				break;
			*lost = total - i;
			return 0;
		}
		whole = is_block(e, p, &head);
		step = ETT_BLOCK_BYTES;
		if (whole && has_those(&head, kind, i, total)) {
			uint64_t first = le64toh(head.first), n = records_from(first, total);

			if (first > i) {
				rc = tell_bad(e, &bad, err);
				ett_store_missing(&e->store, first - i);
			}
			if (!rc)
				rc = ett_store_records(&e->store, kind,
						       p + offsetof(struct ett_block, record),
						       (size_t)n, err);
			i = first + n;
			bad = false;
		} else {
			rc = tell_bad(e, &bad, err);
			if (whole && kind == ETT_RECORDS && le16toh(head.kind) == ETT_TRUTH)
				break;
			step = to_next(e, err);
			if (step < 0)
				return (int)step;
		}
		cvl_input_skip(e->in, (size_t)step);
		left -= (uint64_t)step;
	}
	ett_store_missing(&e->store, total - i);
	return rc;
}

static int tell_cut(struct ett *e, uint64_t lost, struct cvl_error *err)
{
	struct cvl_error problem;

	cvl_fail(&problem, CVL_E_TRUNCATED, cvl_input_offset(e->in),
		 "%s:%" PRIu64 ": the file ends before the image does: %" PRIu64
		 " records are missing",
		 e->name, cvl_input_offset(e->in), lost);
	if (e->opts->strict)
		return cvl_fail(err, problem.code, problem.offset, "%s", problem.text);
	cvl_tell(e->opts->report, &problem);
	return 0;
}

/* ---- reports of the kernel ---- */

static void tell(const struct ett *e, uint32_t flag, bool set, enum cvl_code code, const char *what)
{
	struct cvl_error problem;

	if (!(le32toh(e->h.flags) & flag) == set)
		return;
	cvl_fail(&problem, code, CVL_NO_OFFSET, "%s: %s", e->name, what);
	cvl_tell(e->opts->report, &problem);
}

static void tell_flags(const struct ett *e)
{
	tell(e, ETT_NO_PORT, true, CVL_E_UNSUPPORTED,
	     "only FF was read: the port does not exist, or nothing was connected to it");
	tell(e, ETT_INVARIANT, false, CVL_E_UNSUPPORTED,
	     "the processor does not report an invariant TSC; a constant rate is assumed");
	tell(e, ETT_APART, true, CVL_E_MISMATCH,
	     "the self-test's processor has a different TSC: its stores are on a clock of their own");
}

static int ett_import(struct cvl_input *in, struct cvl_session *s,
		      const struct cvl_import_opts *opts, struct cvl_error *err)
{
	struct ett *e = calloc(1, sizeof(*e));
	uint64_t lost = 0;
	int rc;

	if (!e)
		return cvl_no_memory(err);
	e->in = in;
	e->opts = opts;
	e->name = cvl_input_name(in);
	rc = read_header(e, err);
	if (!rc)
		rc = ett_store_open(&e->store, &e->h, in, s, opts, err);
	if (rc)
		goto out;
	tell_flags(e);
	rc = read_blocks(e, ETT_RECORDS, le64toh(e->h.records), &lost, err);
	if (!rc)
		rc = ett_store_end(&e->store, ETT_RECORDS, lost, err);
	if (!rc && !lost && e->h.truths) {
		rc = ett_store_truth(&e->store, in, err);
		if (!rc)
			rc = read_blocks(e, ETT_TRUTH, le64toh(e->h.truths), &lost, err);
		if (!rc)
			rc = ett_store_end(&e->store, ETT_TRUTH, lost, err);
	}
	if (!rc && lost)
		rc = tell_cut(e, lost, err);
	rc = ett_store_close(&e->store, rc, err);
	cvl_tally_tell(
		&e->bad, opts, CVL_E_CHECKSUM, e->name,
		"places where blocks are damaged, of another run, or missing; their records are dropped");
out:
	free(e);
	return rc;
}

static int ett_probe(const uint8_t *head, size_t n, const char *path)
{
	(void)path;
	if (n < ETT_SECTOR_BYTES)
		return 0;
	if (is_header(head) || boot_image(head))
		return 95;
	/* a header of which only the copy is intact */
	return n >= ETT_COPY_AT + ETT_HEADER_BYTES && is_header(head + ETT_COPY_AT) ? 80 : 0;
}

static const struct cvl_option ett_options[] = {
	{ "node", "NAME", "name of the node and its clock (default: from the file's name)" },
	{ 0 },
};

const struct cvl_importer cvl_import_ett = {
	.name = "ett",
	.what = "disk or image saved by the event timestamping kernel",
	.options = ett_options,
	.probe = ett_probe,
	.import = ett_import,
};
