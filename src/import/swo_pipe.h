/* SPDX-License-Identifier: MIT */
/**
 * From SWO bytes to ITM packets, through the frames of a TPIU if there are any, with the time at
 * which each packet was on the line.
 */
#ifndef SWO_PIPE_H
#define SWO_PIPE_H

#include <coeval/error.h>

#include "decode/line.h"
#include "decode/tpiu.h"
#include "itm_store.h"

#define SWO_RING 64

/** Where packets go. Both return 0 or a negative code, which the pipe keeps and returns. */
struct swo_sink {
	int (*packet)(void *ctx, const struct itm_packet *p, struct itm_when when,
		      struct cvl_error *err);
	/** Bytes are missing, broken (corrupt), or the end is missing (truncated). */
	int (*gap)(void *ctx, struct itm_when when, enum cvl_gap why, struct cvl_error *err);
	void *ctx;
};

struct swo_pipe {
	struct swo_sink sink;
	struct cvl_error *err;
	int rc; /* first failure of the sink: nothing is passed on after that */
	bool framed;
	unsigned stream;
	struct tpiu tpiu;
	struct itm itm;
	struct itm_when ring[SWO_RING]; /* of the last bytes of the ITM, by their offset */
	struct itm_when bad;            /* consecutive broken bytes */
	bool is_bad, ending;
	uint64_t last; /* tick at which the last packet ended */
};

/**
 * @stream: TPIU stream to extract; 0: the bytes are not in frames. @err is kept for the sink's
 * failures.
 */
void swo_pipe_init(struct swo_pipe *p, unsigned stream, const struct swo_sink *sink,
		   struct cvl_error *err);
/** Take a byte from a line. Returns 0 or the sink's failure, like the others. */
int swo_pipe_byte(struct swo_pipe *p, const struct line_byte *byte);
/** The line is unknown at @when. */
int swo_pipe_hole(struct swo_pipe *p, struct itm_when when);
/** End of input. */
int swo_pipe_end(struct swo_pipe *p);

/**
 * Report to @report what was wrong with the frames, if frames were expected. @where: for the
 * messages; @hint: how to select a stream.
 */
void swo_pipe_judge(const struct swo_pipe *p, const char *where, enum cvl_hint hint,
		    const struct cvl_report *report);

#endif
