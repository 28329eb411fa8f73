/* SPDX-License-Identifier: MIT */
/**
 * Included by every public header: which names the shared library exports, and C linkage for C++.
 */
#ifndef COEVAL_API_H
#define COEVAL_API_H

/** A function or object that belongs to the public interface. Everything else is hidden. */
#define CVL_API __attribute__((visibility("default")))

#ifdef __cplusplus
#define CVL_BEGIN_DECLS extern "C" {
#define CVL_END_DECLS }
#else
#define CVL_BEGIN_DECLS
#define CVL_END_DECLS
#endif

#endif
