/* SPDX-License-Identifier: MIT */
/**
 * Writes FST files, GTKWave's format of waves: blocks of changes with the values at their begin, of
 * some MiB each, compressed by variable (libfst, doc/block_format.txt).
 *
 * Memory does not grow with the file. Errors are kept until fst_close().
 */
#ifndef FST_FILE_H
#define FST_FILE_H

#include <coeval/out.h>

enum fst_type { FST_BIT, FST_REAL, FST_TEXT };

struct fst;

/**
 * Begin the file @path, with times in ns that count from @zero. CVL_E_USAGE if it is a pipe: the
 * file's header is completed at the end. CVL_E_IO, CVL_E_NOMEM.
 */
int fst_open(struct fst **f, const char *path, int64_t zero, struct cvl_error *err);
/** Write what is pending and free @f. */
int fst_close(struct fst *f, struct cvl_error *err);
/** Whether something could not be written. */
bool fst_failed(const struct fst *f);

/** A scope begins, or (NULL) ends. */
void fst_scope(struct fst *f, const char *name);
/** Declare a variable: they are numbered from 0. Its value is x, NaN or none. */
void fst_var(struct fst *f, enum fst_type type, const char *name);
/** All are declared, and those that have another value at time 0 have got it. */
void fst_begin(struct fst *f);

/** What follows happens at @t; if that is not later than before, at the same time. */
void fst_time(struct fst *f, uint64_t t);
void fst_bit(struct fst *f, unsigned var, char level); /* '0', '1' or 'x' */
void fst_real(struct fst *f, unsigned var, double value);
/** @len bytes of UTF-8. */
void fst_text(struct fst *f, unsigned var, const char *s, size_t len);

#endif
