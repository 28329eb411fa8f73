/* SPDX-License-Identifier: MIT */
/**
 * Events by which a loop that stamps tells what it saw and how it did: of `coeval capture --driver
 * poll`, and of whatever else has such a loop. `coeval precision` reads them. All ticks are of the
 * clock that they stand on.
 *
 *   poll_loop   steps, longest, widest, gap_ticks   longest step; widest span of two; spans beyond
 *               gap_ticks are told as gaps
 *   poll_step   low, high, count, ticks       so many steps of low to high ticks, and their sum
 *   poll_span   low, high, count, ticks       the same of two steps, the bracket that an event
 *               would have got
 *   poll_gap    ticks, cause, detail          not observed for so long, up to its own tick
 *   poll_counter cpu, step, apart, limit      of the clock's processor beside that of another: the
 *                                            step in which they advance, by how many ticks they
 *                                            were shown to differ at worst, and by how many they
 *                                            may at most
 *   poll_fact   name, value, state            of the machine: state is "good", "bad" or "unknown"
 *
 * Numbers are u64, the others strings. Several poll_loop of one clock (a resumed capture) add
 * up.
 */
#ifndef FORMATS_LOOP_EVENTS_H
#define FORMATS_LOOP_EVENTS_H

#define LOOP_LOOP "poll_loop"
#define LOOP_STEP "poll_step"
#define LOOP_SPAN "poll_span"
#define LOOP_GAP "poll_gap"
#define LOOP_COUNTER "poll_counter"
#define LOOP_FACT "poll_fact"

#endif
