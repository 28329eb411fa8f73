/* SPDX-License-Identifier: MIT */
/**
 * Events in which a polling loop records its own timing: that of `coeval capture --driver poll` and
 * any similar one. `coeval precision` reads them. All ticks are of the clock that the events are
 * on.
 *
 *   poll_loop   steps, longest, widest, gap_ticks   longest step; widest span of two; spans beyond
 *               gap_ticks are reported as gaps
 *   poll_step   low, high, count, ticks       count of steps of low to high ticks, and their sum
 *   poll_span   low, high, count, ticks       the same for two steps, the bracket that an event
 *               would have got
 *   poll_gap    ticks, cause, detail          not observed for that long, up to its own tick
 *   poll_counter cpu, step, apart, limit      the clock's CPU compared with another: the
 *                                            step in which they advance, the most ticks by which
 *                                            they were seen to differ, and the most by which they
 *                                            may differ
 *   poll_fact   name, value, state            of the machine: state "good", "bad" or "unknown"
 *
 * Numbers are u64, the others strings. Several poll_loop events of one clock (a resumed capture)
 * add up.
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
