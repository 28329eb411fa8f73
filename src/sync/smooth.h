/* SPDX-License-Identifier: MIT */
/** Shared by the files of the smoother: a window of marks, and the noise it is smoothed with. */
#ifndef SYNC_SMOOTH_H
#define SYNC_SMOOTH_H

#include "sync/kalman.h"
#include "sync/problem.h"
#include "sync/smooth_lanes.h"
#include "sync/track.h"

#define SMOOTH_PERIODS 64  /* over which correlation is counted */
#define SMOOTH_WINDOW 1536 /* marks */
#define SMOOTH_DOF 4.0     /* of Student's t */
#define SMOOTH_CORE 0.83   /* squared scale of the t that matches a normal in the middle */

/** The grid of noise. */
#define SMOOTH_RATES 8
#define SMOOTH_DRIFTS 9
#define SMOOTH_CORRELATIONS 7
#define SMOOTH_SDS 9 /* of wander, relative to the jitter; the first is none */
#define SMOOTH_TAUS 6
extern const double smooth_taus[SMOOTH_TAUS]; /* time constants of wander, s */

/* Means over the candidates, weighted by likelihood; offsets relative to the first one's. */
struct mixture {
	double first, offset, square, u2, rate, var_rate;
};

struct point {
	int64_t x;
	double z, var;     /* of the mark */
	double weight;     /* 0: no mark, or a rejected one */
	double jump, kick; /* variance added to phase and rate before this point */
	double slip;       /* the same, for a known slip */
	bool mark;
	uint32_t source;
	/* s since the previous mark of the same source, the same in periods, and its z; 0: none */
	double gap, z_before;
	unsigned periods;
	struct kalman_step step;
	double u;   /* normalised innovation */
	double loc; /* local variance relative to the usual, at least 1 */
	double offset, var_offset, rate, var_rate, drift; /* smoothed */
	struct mixture mixed;
};

/* A place on the grid of noise. */
struct noise {
	int rate, drift, correlation, sd, tau;
	double jitter2; /* variance of the white part */
};

struct smoother {
	struct track_setup setup;
	struct track_report *r;
	struct track_mark *mark;
	size_t n;        /* marks waiting */
	int64_t emitted; /* x up to which knots were emitted */
	bool any;
	struct point *p;
	size_t n_points, cap_points;
	size_t first, last; /* points that are the first and last marks */
	double *scratch;
	struct noise at;
	struct kalman_noise q; /* noise densities of @at */
	struct noise calm;     /* the likeliest noise without wander */
	double calm_likelihood;
	/*
	 * stamps are coarser than what they stamp: their errors beat slowly and do not average out
	 */
	bool rounded;
	double power[SMOOTH_PERIODS]; /* of the correlation */
	/* the points as filtered to learn their noise, innovations, and likelihoods of some noises */
	struct lane_reading *reading;
	size_t n_readings;
	double *u;
	size_t n_known;
	struct known {
		struct noise asked, scaled;
		double likelihood;
		bool fits;
		int tries;
	} known[LANES];
	struct knot_thinner thinner;
	struct residual_sums residuals;
	double jitter_sum, correlation_sum;
	double wander2_sum, tau_sum; /* over windows with wander */
	unsigned windows, wandering;
};

/* ---- passes over a window: smooth_pass.c ---- */

void smooth_set_noise(struct smoother *s, struct noise at);

/** The least variance of the white part: that of a stamp's own steps. */
double smooth_jitter_floor(const struct smoother *s);

/** What the mark of @p reads, how, and with which variance. */
double smooth_reading(const struct smoother *s, const struct point *p, double h[3], double *var);

/** One pass forward; @robust: innovations are held within bounds. */
void smooth_forward(struct smoother *s, const struct kalman *start, bool robust);

/**
 * One pass back: smoothed offsets, and if @whole rates and drifts. Returns the point before which
 * the rate most clearly jumped, and by how much (squared).
 */
size_t smooth_backward(struct smoother *s, bool whole, double *shock, double *size);

/** Weights or steps of points changed: likelihoods are no longer known. */
void smooth_forget(struct smoother *s);

/** Log-likelihood, the white part being scaled so that the median innovation is as expected. */
double smooth_likelihood(struct smoother *s, const struct kalman *start);

/** Whether that of @at is known already. */
bool smooth_knows(const struct smoother *s, const struct noise *at);

/**
 * Learn the likelihoods of @n noises without wander and correlation (at most LANES), which are about
 * to be asked for, at once. @steps: they are steps from the first, and will be asked for with its
 * white part, scaled.
 */
void smooth_foresee(struct smoother *s, const struct kalman *start, const struct noise *list,
		    size_t n, bool steps);

/* ---- noise: smooth_noise.c ---- */

/** Find the noise of the window, from that of the last one. */
void smooth_learn(struct smoother *s, const struct kalman *start);

/** Smooth with each noise that is likely, and average. */
void smooth_mix(struct smoother *s, const struct kalman *start);

#endif
