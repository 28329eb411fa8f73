/* SPDX-License-Identifier: MIT */
/**
 * Shared by the files of this directory: the parsed trace and the flat programs that its layout is
 * compiled to.
 */
#ifndef CTF_INTERNAL_H
#define CTF_INTERNAL_H

#include <coeval/ctf.h>

#define CTF_MAGIC 0xc1fc1fc1u
#define TSDL_MAGIC 0x75d11d57u

/**
 * Limits that no legitimate trace reaches: depth of nested types, tokens of a declaration, ops of a
 * program.
 */
#define CTF_DEPTH_MAX 64
#define CTF_OPS_MAX 65536
#define CTF_MEMBERS_MAX 4096
#define CTF_OPS_TOTAL (1u << 20)
#define CTF_METADATA_MAX (64u << 20)
#define CTF_SLOTS_MAX 4096
#define CTF_STREAMS_MAX 4096
#define CTF_CLOCKS_MAX 256

/* ---- arena: all memory of a trace, freed at once ---- */

struct arena_block;
struct arena {
	struct arena_block *head;
};

/** Zeroed memory, or NULL. */
void *arena_alloc(struct arena *arena, size_t n);
char *arena_text(struct arena *arena, const char *s, size_t n);
void arena_free(struct arena *arena);

/* ---- programs ---- */

/**
 * One step of decoding. A program is a flat array of these, ended by OP_STOP; running it does not
 * need the metadata.
 */
enum op_code {
	OP_STOP,
	OP_ADVANCE, /* align, then skip @bits: fields not requested */
	OP_INT,     /* integer or enum of @bits into a value, a slot, a role */
	OP_VARINT,  /* the same, of as many bytes as it has: LEB128 */
	OP_TURNED,  /* the same of @bits, or a float, whose bits are the other way round */
	OP_FLOAT,
	OP_STRING,
	OP_TEXT,     /* array of characters, @count of them */
	OP_TEXT_SEQ, /* the same, as many as slot @from says */
	OP_SKIP_SEQ, /* skip @bits, as many times as slot @from says */
	OP_BEGIN,    /* struct begins (align) */
	OP_END,      /* struct, array or variant ends */
	OP_LOOP,     /* array of @count: jump to @target if it is empty */
	OP_LOOP_SEQ, /* the same, as many as slot @from says */
	OP_NEXT,     /* back to @target while elements are left */
	OP_CHOOSE, /* variant: jump to the option that slot @from selects; else to @target, unless it is 0 */
	OP_JUMP,
};

/** Fields that the reader itself uses. */
enum op_role {
	ROLE_NONE,
	ROLE_MAGIC,
	ROLE_STREAM_ID,
	ROLE_PACKET_SIZE,
	ROLE_CONTENT_SIZE,
	ROLE_BEGIN,
	ROLE_PACKET_END,
	ROLE_DISCARDED,
	ROLE_SEQUENCE,
	ROLE_EVENT_ID,
	ROLE_UUID,
	ROLE_EXPORT,   /* added by our exporter */
	ROLE_STAMP,    /* the clock, of a packet's beginning or an event */
	ROLE_INSTANCE, /* which stream of its class it is */
	ROLES
};

struct choice {
	int64_t low, high;
	uint32_t target;
	uint32_t option;
};

#define NO_SLOT UINT16_MAX

struct op {
	uint8_t code;
	uint8_t bits8;       /* log2 class of a fast integer: 1, 2, 4, 8 bytes, or 0 */
	bool clocked;        /* updates the clock of the stream */
	uint16_t roles;      /* bits 1 << enum op_role */
	uint16_t slot;       /* where the value is kept for others, or NO_SLOT */
	uint16_t from;       /* slot of length or tag */
	uint32_t align_mask; /* bits - 1 */
	uint32_t target;
	uint64_t bits; /* size, or count of a text */
	uint64_t count;
	const struct cvl_type *type;
	const char *name;
	const struct choice *choice; /* of OP_CHOOSE, count of them */
};

struct program {
	struct op *op;
	uint32_t n;
};

struct some_fields {
	struct program program[CVL_SCOPES]; /* n is 0: nothing is needed of that scope */
	bool plain;                         /* machine_take() does, but for the packet's context */
};

struct some_set {
	struct arena arena;
};

/* ---- the trace ---- */

struct event_class {
	struct cvl_event_class pub;
	struct stream_class *stream;
	struct program full[CVL_SCOPES]; /* of STREAM_CONTEXT, EVENT_CONTEXT, FIELDS */
	struct program skip[CVL_SCOPES];
	uint32_t index;
	size_t declared_at; /* byte of the metadata */
	/* all scopes together are of fixed size and byte-aligned: one addition per event */
	bool simple;
	uint64_t simple_bits;
	bool bare;         /* of an export: its common context holds only what we added */
	uint8_t bracketed; /* bytes of CVL_HALF_WIDTH if that is its first field, else 0 */
	bool masked;       /* of lines: its last field is the mask of unknown levels */
};

enum header_shape { HEADER_GENERAL, HEADER_COMPACT, HEADER_LARGE };

#define QUICK_EVENTS 31

/** An event that is no record of ours, as the reader meets it after a compact or large header. */
struct quick_event {
	const struct event_class *class; /* NULL: some other */
	uint32_t bits;                   /* its fixed size, in whole bytes; 0: by its program */
};

struct stream_class {
	uint64_t id;
	bool declared;
	const struct cvl_type *packet_context, *event_header, *event_context;
	struct program context, header;
	enum header_shape shape; /* little-endian LTTng headers have a fast path */
	int clock;
	unsigned stamp_bits;            /* of the widest timestamp an event can have, 0: none */
	const struct event_class *edge; /* for edges_decode(), or NULL */
	/* by id, of those up to 30 with a fast header; NULL: none */
	struct quick_event *quick;
	struct event_class **event; /* sorted by id */
	uint32_t n_events;
	struct stream_class *next;
};

struct env_entry {
	const char *name, *value;
	struct env_entry *next;
};

struct stream_file {
	char *name;
};

struct cvl_trace {
	struct arena arena;
	char *path;
	char *metadata_path;
	bool big_endian;
	bool byte_order_known;
	bool has_uuid;
	bool json;      /* CTF 2: roles are stated, not told by names */
	bool ours;      /* written by cvl_writer: event names give our record kinds */
	bool exported;  /* by us, from a timeline: gaps are events, bounds half-widths */
	bool bracketed; /* some events have a half-width of their own */
	uint8_t uuid[16];
	const struct cvl_type *packet_header;
	struct program header;
	struct cvl_clock_class *clock;
	uint32_t n_clocks;
	struct stream_class *streams;
	struct event_class **event;
	uint32_t n_events;
	struct env_entry *env;
	struct stream_file *file;
	size_t n_files;
	uint32_t n_slots;
};

/** Parse @text into @trace (declared types and classes; no programs). */
int tsdl_parse(struct cvl_trace *trace, const char *text, size_t n, const char *name,
	       struct cvl_error *err);

/**
 * The same of CTF 2, whose metadata begins with the byte CTF2_BEGIN. Errors name the fragment and the
 * place in it.
 */
#define CTF2_BEGIN 0x1e
int ctf2_parse(struct cvl_trace *trace, const char *text, size_t n, const char *name,
	       struct cvl_error *err);

/* ---- for both, in metadata.c; NULL or false: there is no memory, or more than the limit ---- */

/** Hash of a name; @seed: 0, or what makes it another one. */
uint32_t metadata_hash(uint32_t seed, const char *name);

/** The stream class @id, added if it is not there yet. */
struct stream_class *metadata_stream(struct cvl_trace *trace, uint64_t id);
/** Add an event class of @s, without its types. */
struct event_class *metadata_add_event(struct cvl_trace *trace, struct stream_class *s,
				       uint64_t id);
/** Add a clock. */
bool metadata_add_clock(struct cvl_trace *trace, const struct cvl_clock_class *clock);
/** Add a value of the environment. */
bool metadata_add_env(struct cvl_trace *trace, const char *name, const char *value);
/**
 * Sort the event classes, and give them the types of their streams. *@twice: one whose id is there
 * already, or NULL.
 */
bool metadata_finish(struct cvl_trace *trace, const struct event_class **twice);

/** What it takes to decode the fields of a batch's records, which are all of one packet. */
struct cvl_packet {
	uint64_t offset;      /* bytes, of the packet in its file */
	uint64_t end;         /* bits */
	uint64_t context_pos; /* of the packet context, bits */
	uint64_t number;
	unsigned uses; /* of those who share it */
	uint64_t slot[];
};

/** From now on read each record by itself, without what is faster for some: for tests. */
void stream_read_plainly(struct cvl_stream *s);

/** What the reader uses field @name of scope @scope for: bits 1 << enum op_role. */
uint32_t layout_roles(const struct cvl_trace *trace, enum cvl_scope scope, const char *name,
		      const struct cvl_type *t);

/** Compile all layouts of a parsed trace into programs. */
int layout_compile(struct cvl_trace *trace, struct cvl_error *err);

#endif
