/* SPDX-License-Identifier: MIT */
/**
 * Errors are values with a place.
 *
 * Functions that can fail return 0 (or a count) on success and a negative enum cvl_code
 * on failure, and fill the struct cvl_error that they were given. One code means one thing.
 * Nothing here allocates; a struct cvl_error may live on the stack and be copied.
 */
#ifndef COEVAL_ERROR_H
#define COEVAL_ERROR_H

#include <stdbool.h>
#include <stdint.h>

#include <coeval/api.h>

CVL_BEGIN_DECLS

#define CVL_ERROR_TEXT 400
/** Offset of an error that has no place in a file. */
#define CVL_NO_OFFSET UINT64_MAX

enum cvl_code {
	CVL_OK = 0,
	CVL_E_NO = -1,           /* the answer is no: sync impossible, a check failed */
	CVL_E_USAGE = -2,        /* invalid request by the caller */
	CVL_E_TRUNCATED = -3,    /* input ends early */
	CVL_E_MAGIC = -4,        /* not the kind of file it should be */
	CVL_E_SYNTAX = -5,       /* text that does not parse */
	CVL_E_RANGE = -6,        /* an impossible value or size */
	CVL_E_UNKNOWN_ID = -7,   /* a reference to something never declared */
	CVL_E_CHECKSUM = -8,     /* stored and computed checksum differ */
	CVL_E_ORDER = -9,        /* time or sequence that goes back */
	CVL_E_LIMIT = -10,       /* larger or deeper than allowed */
	CVL_E_MISSING = -11,     /* a required part is missing */
	CVL_E_UNSUPPORTED = -12, /* valid, but not handled here */
	CVL_E_IO = -13,          /* the system could not read or write */
	CVL_E_NOMEM = -14,       /* out of memory */
	CVL_E_ENV = -15,         /* a device, program or permission is missing */
	CVL_E_MISMATCH = -16,    /* two parts that should agree do not, though both can be read */
	/* no room to write: disk full, quota, or file size limit */
	CVL_E_FULL = -17,
	CVL_E_CANCELLED = -18, /* the caller's progress function said so */
};

/**
 * What would help, for a program to word in its own terms: options of a command, buttons of a
 * window.
 */
enum cvl_hint {
	CVL_HINT_NONE,
	CVL_HINT_NO_SESSION,  /* import something into a session of that name */
	CVL_HINT_NOT_SESSION, /* import it into a session */
	CVL_HINT_NAMES,       /* see what the session holds: clocks and lines */
	CVL_HINT_CLOCK_RATE,  /* state the rate of a trace's clock */
	CVL_HINT_RULES,       /* give rules for messages, or pulses */
	CVL_HINT_MESSAGES,    /* give rules for messages */
	CVL_HINT_PULSES,      /* name a line of pulses */
	CVL_HINT_SYNC,        /* synchronise again */
	CVL_HINT_CALIBRATE,   /* calibrate (again) */
	/* what to import, and how */
	CVL_HINT_RATE, /* state the rate at which samples were taken, or ticks are counted */
	CVL_HINT_CHANNELS_RATE, /* state that, and how many digital channels there are */
	CVL_HINT_RAW,           /* the same, of samples without a header */
	CVL_HINT_LINES,         /* choose lines by their names */
	CVL_HINT_LINE_NAMES,    /* name lines */
	CVL_HINT_TPIU,          /* read it as TPIU frames */
	CVL_HINT_STREAM,        /* choose a stream of the frames */
	CVL_HINT_DECODE_STREAM, /* the same of frames that are decoded from a line */
	/* what to capture, and how */
	CVL_HINT_DEVICE,     /* name the device */
	CVL_HINT_DEVICES,    /* see what devices there are */
	CVL_HINT_PIPE,       /* read it by the driver of pipes */
	CVL_HINT_RATE_LINES, /* state rate and number of lines */
	CVL_HINT_BELL,       /* name the doorbell */
	CVL_HINT_METADATA,   /* give the metadata of a traced program */
	CVL_HINT_MASK,       /* choose lines of an observer */
	CVL_HINT_MODE,       /* choose an observer's mode */
	CVL_HINT_POWER,      /* choose how often it reads the power */
	/* what to send to, or collect by */
	CVL_HINT_KEYS,   /* make keys, and name their folder */
	CVL_HINT_KEY,    /* choose a key and a certificate */
	CVL_HINT_LISTEN, /* choose an address */
	/* what to look at */
	CVL_HINT_NODE,   /* choose a node */
	CVL_HINT_POLICY, /* choose a policy, adaption and cache */
	CVL_HINT_CHECK,  /* give rules to check by */
	CVL_HINT_WATTS,  /* name the channel of power */
	CVL_HINTS
};

struct cvl_error {
	enum cvl_code code;
	enum cvl_hint hint;
	uint64_t offset; /* byte in the input, or CVL_NO_OFFSET */
	char text[CVL_ERROR_TEXT];
};

/** Receives problems that a reader could recover from. @ctx as given. */
struct cvl_report {
	void (*fn)(void *ctx, const struct cvl_error *problem);
	void *ctx;
};

/**
 * Reports the progress of a long call, in bytes or what its options say; @total 0: unknown. Called
 * in the thread that made the call. Returning false cancels it: the call ends soon with
 * CVL_E_CANCELLED, what it opened is closed, and what was stored so far is kept.
 */
struct cvl_progress {
	bool (*fn)(void *ctx, uint64_t done, uint64_t total); /* NULL: not called */
	void *ctx;
};

/** Call @progress, which may be NULL. Returns 0 or CVL_E_CANCELLED. */
CVL_API int cvl_progress_tell(const struct cvl_progress *progress, uint64_t done, uint64_t total,
			      struct cvl_error *err);

/**
 * Fill @err (which may be NULL) and return @code, so that a function can say
 * `return cvl_fail(err, CVL_E_RANGE, offset, "...", ...)`.
 */
CVL_API int cvl_fail(struct cvl_error *err, enum cvl_code code, uint64_t offset, const char *fmt,
		     ...) __attribute__((format(printf, 4, 5)));

/** Add @hint to @err, which may be NULL and was just filled. Returns @rc. */
CVL_API int cvl_hint(struct cvl_error *err, enum cvl_hint hint, int rc);

/** Out of memory: CVL_E_NOMEM. */
CVL_API int cvl_no_memory(struct cvl_error *err);

/**
 * The same for a failed system call: appends strerror(errno). CVL_E_IO, CVL_E_FULL or CVL_E_NOMEM.
 */
CVL_API int cvl_fail_errno(struct cvl_error *err, const char *what, const char *path);

/** Pass @problem to @report, which may be NULL. */
CVL_API void cvl_tell(const struct cvl_report *report, const struct cvl_error *problem);

/** Short stable name of a code, e.g. "truncated". Never NULL. */
CVL_API const char *cvl_code_name(enum cvl_code code);

/** Exit status of the command: 0 done, 1 no, 2 usage, 3 bad input, 4 environment. */
CVL_API int cvl_exit_status(enum cvl_code code);

CVL_END_DECLS

#endif
