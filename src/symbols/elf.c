/* SPDX-License-Identifier: MIT */
#include "symbols/symbols_internal.h"

#ifdef HAVE_LIBDW

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/files.h>

#define FILE_MAX ((size_t)1 << 30)
#define SYMBOLS_MAX ((size_t)1 << 24)
/** Ranks of symbols at one place: the lowest gives the name. */
enum { RANK_GLOBAL, RANK_WEAK, RANK_LOCAL };

struct section {
	uint64_t from, end, flags, offset;
	const char *name;
	bool has_bytes;
};

struct reader {
	struct symbols *s;
	const char *path;
	size_t n_bytes;
	GElf_Ehdr head;
	struct section *section;
	size_t n_sections;
	Elf_Data *table; /* of symbols */
	uint64_t strings;
	size_t n_symbols;
	uint64_t *start; /* of code symbols, sorted: where one without a size ends */
	size_t n_starts;
	struct cvl_error *err;
};

static int damaged(const struct reader *r, uint64_t offset, const char *what)
{
	return cvl_fail(r->err, CVL_E_RANGE, offset,
			"%s: %s cannot be read (%s): the file is damaged", r->path, what,
			elf_errmsg(-1));
}

/* ---- headers ---- */

static int read_head(struct reader *r)
{
	const unsigned char *bytes = r->s->bytes;
	Elf *elf;

	if (r->n_bytes < 4 || memcmp(bytes, ELFMAG, 4))
		return cvl_fail(
			r->err, CVL_E_MAGIC, 0,
			"%s: not an ELF file; name the linker's output (often .elf, .axf or .out)",
			r->path);
	if (r->n_bytes < EI_NIDENT ||
	    r->n_bytes < (bytes[EI_CLASS] == ELFCLASS64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)))
		return cvl_fail(r->err, CVL_E_TRUNCATED, r->n_bytes,
				"%s: ends inside its ELF header: copy it again", r->path);
	if (elf_version(EV_CURRENT) == EV_NONE)
		return damaged(r, 0, "the ELF header");
	r->s->file = elf = elf_memory(r->s->bytes, r->n_bytes);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &r->head))
		return damaged(r, 0, "the ELF header");
	if (r->head.e_type == ET_REL)
		return cvl_fail(
			r->err, CVL_E_UNSUPPORTED, 16,
			"%s: an unlinked object file, in which nothing has an address yet: name the linked program",
			r->path);
	if (r->head.e_shoff > r->n_bytes ||
	    (uint64_t)r->head.e_shnum * r->head.e_shentsize > r->n_bytes - r->head.e_shoff)
		return cvl_fail(
			r->err, CVL_E_TRUNCATED, r->n_bytes,
			"%s: ends at byte %zu, before the end of its section table, which begins at byte %llu: copy it again",
			r->path, r->n_bytes, (unsigned long long)r->head.e_shoff);
	r->s->thumb = r->head.e_machine == EM_ARM;
	return 0;
}

static int read_section(struct reader *r, size_t i, size_t names)
{
	struct section *section = &r->section[i];
	Elf_Scn *scn = elf_getscn(r->s->file, i);
	GElf_Shdr head;

	if (!scn || !gelf_getshdr(scn, &head))
		return damaged(r, r->head.e_shoff, "a section header");
	section->name = elf_strptr(r->s->file, names, head.sh_name);
	section->name = section->name ? section->name : "";
	section->has_bytes = head.sh_type != SHT_NOBITS && head.sh_type != SHT_NULL;
	section->offset = head.sh_offset;
	if (section->has_bytes &&
	    (head.sh_offset > r->n_bytes || head.sh_size > r->n_bytes - head.sh_offset))
		return cvl_fail(
			r->err, CVL_E_TRUNCATED, r->n_bytes,
			"%s: ends at byte %zu, before the end of its section '%.40s': copy it again",
			r->path, r->n_bytes, section->name);
	if ((head.sh_flags & SHF_ALLOC) && head.sh_addr + head.sh_size >= head.sh_addr) {
		section->from = head.sh_addr;
		section->end = head.sh_addr + head.sh_size;
		section->flags = head.sh_flags;
	}
	if ((section->flags & SHF_EXECINSTR) &&
	    spans_add(&r->s->text, (struct span){ .from = section->from,
						  .end = section->end,
						  .start = section->from,
						  .name = section->name }))
		return cvl_no_memory(r->err);
	if (head.sh_type == SHT_SYMTAB || (head.sh_type == SHT_DYNSYM && !r->table)) {
		Elf_Data *data = elf_getdata(scn, NULL);

		if (!data)
			return damaged(r, head.sh_offset, "the symbol table");
		r->table = data;
		r->strings = head.sh_link;
		r->n_symbols = head.sh_entsize ? (size_t)(head.sh_size / head.sh_entsize) : 0;
	}
	return 0;
}

static int read_sections(struct reader *r)
{
	size_t names;
	int rc = 0;

	if (elf_getshdrnum(r->s->file, &r->n_sections) || elf_getshdrstrndx(r->s->file, &names))
		return damaged(r, r->head.e_shoff, "the section table");
	r->section = calloc(r->n_sections + 1, sizeof(*r->section));
	if (!r->section)
		return cvl_no_memory(r->err);
	for (size_t i = 0; i < r->n_sections && !rc; i++)
		rc = read_section(r, i, names);
	if (!rc && spans_flatten(&r->s->text))
		rc = cvl_no_memory(r->err);
	if (rc)
		return rc;
	if (!r->n_symbols)
		return cvl_fail(r->err, CVL_E_MISSING, CVL_NO_OFFSET,
				"%s: no symbols: name the file from before `strip`", r->path);
	if (r->n_symbols > SYMBOLS_MAX)
		return cvl_fail(r->err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: more than %zu symbols",
				r->path, SYMBOLS_MAX);
	return 0;
}

/* ---- symbols ---- */

/* A named symbol of a loaded section; false: not relevant. */
static bool symbol_at(const struct reader *r, size_t i, GElf_Sym *sym, struct span *out,
		      const struct section **section)
{
	const char *name;

	if (!gelf_getsym(r->table, (int)i, sym) || sym->st_shndx == SHN_UNDEF ||
	    sym->st_shndx >= r->n_sections)
		return false;
	*section = &r->section[sym->st_shndx];
	name = elf_strptr(r->s->file, (size_t)r->strings, sym->st_name);
	/* $t, $d and the like mark the kind of code, and name nothing */
	if (!((*section)->flags & SHF_ALLOC) || !name || !*name || *name == '$')
		return false;
	*out = (struct span){ .from = sym->st_value, .name = name };
	switch (GELF_ST_BIND(sym->st_info)) {
	case STB_GLOBAL: out->rank = RANK_GLOBAL; break;
	case STB_WEAK: out->rank = RANK_WEAK; break;
	default: out->rank = RANK_LOCAL;
	}
	return true;
}

static bool is_function(const GElf_Sym *sym)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);

	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

/* A label of assembly code, which has no type. */
static bool is_label(const GElf_Sym *sym, const struct section *section)
{
	return GELF_ST_TYPE(sym->st_info) == STT_NOTYPE && (section->flags & SHF_EXECINSTR);
}

/* Some compilers' helpers have a size, but no type. */
static bool is_object(const GElf_Sym *sym, const struct section *section)
{
	return GELF_ST_TYPE(sym->st_info) == STT_OBJECT ||
	       (GELF_ST_TYPE(sym->st_info) == STT_NOTYPE && !(section->flags & SHF_EXECINSTR));
}

static int by_number(const void *va, const void *vb)
{
	uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return a < b ? -1 : a > b;
}

static uint64_t code_start(const struct reader *r, const GElf_Sym *sym)
{
	return r->s->thumb ? sym->st_value & ~(uint64_t)1 : sym->st_value;
}

static int find_starts(struct reader *r)
{
	const struct section *section;
	struct span span;
	GElf_Sym sym;

	r->start = calloc(r->n_symbols, sizeof(*r->start));
	if (!r->start)
		return cvl_no_memory(r->err);
	for (size_t i = 0; i < r->n_symbols; i++)
		if (symbol_at(r, i, &sym, &span, &section) &&
		    (is_function(&sym) || is_label(&sym, section)))
			r->start[r->n_starts++] = code_start(r, &sym);
	qsort(r->start, r->n_starts, sizeof(*r->start), by_number);
	return 0;
}

/* A symbol without a size extends to the next code symbol, or the end of its section. */
static uint64_t code_end(const struct reader *r, const struct section *section, uint64_t from)
{
	size_t low = 0, high = r->n_starts;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (r->start[mid] <= from)
			low = mid + 1;
		else
			high = mid;
	}
	return low < r->n_starts && r->start[low] < section->end ? r->start[low] : section->end;
}

static uint64_t end_of(uint64_t from, uint64_t size)
{
	return size < UINT64_MAX - from ? from + size : UINT64_MAX;
}

static int add(struct reader *r, struct spans *to, struct span span, uint64_t end)
{
	span.start = span.from;
	span.end = end;
	return spans_add(to, span) ? cvl_no_memory(r->err) : 0;
}

static int read_functions_and_objects(struct reader *r)
{
	const struct section *section;
	struct span span;
	GElf_Sym sym;
	int rc = 0;

	for (size_t i = 0; i < r->n_symbols && !rc; i++) {
		if (!symbol_at(r, i, &sym, &span, &section))
			continue;
		if (is_function(&sym)) {
			span.from = code_start(r, &sym);
			rc = add(r, &r->s->code, span,
				 sym.st_size ? end_of(span.from, sym.st_size) :
					       code_end(r, section, span.from));
		} else if (is_object(&sym, section)) {
			rc = add(r, &r->s->data, span, end_of(span.from, sym.st_size));
		}
	}
	if (!rc && (spans_flatten(&r->s->code) || spans_flatten(&r->s->data)))
		rc = cvl_no_memory(r->err);
	return rc;
}

/* Labels count only outside functions: many are inside one. */
static int read_labels(struct reader *r)
{
	struct spans labels = { 0 };
	const struct section *section;
	struct span span;
	GElf_Sym sym;
	int rc = 0;

	for (size_t i = 0; i < r->n_symbols && !rc; i++)
		if (symbol_at(r, i, &sym, &span, &section) && is_label(&sym, section)) {
			span.from = code_start(r, &sym);
			if (!spans_find(&r->s->code, span.from))
				rc = add(r, &labels, span, code_end(r, section, span.from));
		}
	for (size_t i = 0; i < labels.n && !rc; i++)
		rc = spans_add(&r->s->code, labels.at[i]) ? cvl_no_memory(r->err) : 0;
	spans_free(&labels);
	return rc ? rc : spans_flatten(&r->s->code) ? cvl_no_memory(r->err) : 0;
}

/* ---- vector table ---- */

static uint32_t word_at(const struct reader *r, const struct section *section, uint64_t address)
{
	const unsigned char *p =
		(const unsigned char *)r->s->bytes + section->offset + (address - section->from);

	return r->head.e_ident[EI_DATA] == ELFDATA2MSB ?
		       (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3] :
		       (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

/* Take the words up to @end, if the first two can be a stack pointer and an entry point. */
static int take_vectors(struct reader *r, const struct section *section, uint64_t from,
			uint64_t end)
{
	struct symbols *s = r->s;
	uint64_t n;

	if (end > section->end)
		end = section->end;
	if (s->vector || !section->has_bytes || from < section->from || from % 4 || end < from ||
	    (end - from) / 4 < 2)
		return 0;
	n = (end - from) / 4;
	n = n < SYMBOLS_EXCEPTIONS ? n : SYMBOLS_EXCEPTIONS;
	if (word_at(r, section, from) % 4 || !(word_at(r, section, from + 4) & 1) ||
	    !spans_find(&s->code, word_at(r, section, from + 4) & ~1u))
		return 0;
	s->vector = calloc((size_t)n, sizeof(*s->vector));
	if (!s->vector)
		return cvl_no_memory(r->err);
	s->n_vectors = (size_t)n;
	for (uint64_t i = 0; i < n; i++)
		s->vector[i] = word_at(r, section, from + 4 * i);
	return 0;
}

static bool named_vectors(const char *name)
{
	return strcasestr(name, "vector") || strcasestr(name, "intvec");
}

static int find_vectors(struct reader *r)
{
	const struct section *section, *lowest = NULL;
	struct span span;
	GElf_Sym sym;
	int rc = 0;

	for (size_t i = 0; i < r->n_symbols && !rc; i++)
		if (symbol_at(r, i, &sym, &span, &section) && named_vectors(span.name)) {
			uint64_t from = sym.st_value & ~(uint64_t)1;

			rc = take_vectors(r, section, from,
					  sym.st_size ? end_of(from, sym.st_size) :
							code_end(r, section, from));
		}
	for (size_t i = 0; i < r->n_sections && !rc; i++) {
		section = &r->section[i];
		if (!(section->flags & SHF_ALLOC) || !section->has_bytes)
			continue;
		if (named_vectors(section->name))
			rc = take_vectors(r, section, section->from, section->end);
		if (section->end > section->from && (!lowest || section->from < lowest->from))
			lowest = section;
	}
	if (!rc && lowest)
		rc = take_vectors(r, lowest, lowest->from, code_end(r, lowest, lowest->from));
	return rc;
}

int symbols_read(struct symbols *s, const char *path, struct cvl_error *err)
{
	struct cvl_error unread;
	struct reader r = { .s = s, .path = path, .err = err ? err : &unread };
	int rc;

	s->bytes = cvl_read_whole(path, FILE_MAX, &r.n_bytes, r.err);
	if (!s->bytes)
		return r.err->code;
	rc = read_head(&r);
	if (!rc)
		rc = read_sections(&r);
	if (!rc)
		rc = find_starts(&r);
	if (!rc)
		rc = read_functions_and_objects(&r);
	if (!rc)
		rc = read_labels(&r);
	if (!rc && s->thumb)
		rc = find_vectors(&r);
	if (!rc && symbols_read_lines(s))
		rc = cvl_no_memory(r.err);
	free(r.section);
	free(r.start);
	return rc;
}

void symbols_release(struct symbols *s)
{
	if (s->dwarf)
		dwarf_end(s->dwarf);
	if (s->file)
		elf_end(s->file);
	free(s->bytes);
}

#else

int symbols_read(struct symbols *s, const char *path, struct cvl_error *err)
{
	(void)s;
	return cvl_fail(
		err, CVL_E_ENV, CVL_NO_OFFSET,
		"%s: this coeval was built without elfutils, which read ELF files: install libdw-dev and "
		"libelf-dev and build again",
		path);
}

void symbols_release(struct symbols *s)
{
	(void)s;
}

#endif
