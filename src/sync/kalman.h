/* SPDX-License-Identifier: MIT */
/**
 * Kalman filter of a clock: offset (ns), slope (ns/s) and curvature (ns/s^2), each driven by white
 * noise; and, where the reference is thought to wander, that wander g (ns) and its slope (ns/s).
 *
 * The clock's model is the usual one of oscillators (Zucca, Tavella: The clock model and its
 * relationship with the Allan and related variances, IEEE UFFC 52(2), 2005): q1 drives the rate's
 * random walk, q2 the drift's. The wander is a Matern process of order 3/2 (Hartikainen, Saerkkae:
 * Kalman filtering and smoothing solutions to temporal Gaussian process regression models, MLSP
 * 2010): stationary, with a continuous slope, as a servo produces.
 *
 * The offset is that of the clock against the reference as it stands, wander included: a reading, a
 * slip and a jump therefore affect the first state only, and that state is the output. When the
 * wander moves, the offset moves with it.
 */
#ifndef SYNC_KALMAN_H
#define SYNC_KALMAN_H

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "sync/middle.h"

#define KALMAN_CLOCK 3 /* states of a clock */
#define KALMAN_ALL 5   /* with the reference's wander */
#define KALMAN_PAIRS (KALMAN_ALL * (KALMAN_ALL + 1) / 2)

/* Twice as fast where the number of states is known to the compiler. */
#define KALMAN_INLINE __attribute__((always_inline)) static inline

/**
 * Noise densities: rate ns/s per sqrt(s), drift ns/s^2 per sqrt(s); and sd (ns) and time (s) of the
 * wander.
 */
struct kalman_noise {
	double rate, drift;
	double wander, tau; /* wander 0: none, only three states */
};

/**
 * Symmetric matrices are packed row by row up to the diagonal, so that the clock's part comes
 * first.
 */
struct kalman {
	double a[KALMAN_ALL];
	double p[KALMAN_PAIRS];
};

/** Of packed matrices: the variances of offset, rate, drift, wander and its slope. */
enum { KALMAN_OFFSET = 0, KALMAN_RATE = 2, KALMAN_DRIFT = 5, KALMAN_WANDER = 9, KALMAN_SLOPE = 14 };

static inline int kalman_at(int i, int j)
{
	return i > j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
}

static inline int kalman_states(const struct kalman_noise *q)
{
	return q->wander > 0 ? KALMAN_ALL : KALMAN_CLOCK;
}

/** Prior of the wander, before any reading; the offset includes it. */
static inline void kalman_begin_wander(struct kalman *k, const struct kalman_noise *q)
{
	double s2 = q->wander * q->wander;

	if (!(s2 > 0))
		return;
	k->p[kalman_at(0, 0)] += s2;
	k->p[kalman_at(0, 3)] = k->p[kalman_at(3, 3)] = s2;
	k->p[kalman_at(4, 4)] = s2 / (q->tau * q->tau);
}

/** Transition of the wander and its slope over some time, and the noise added. */
struct kalman_drag {
	double gg, gs, sg, ss; /* wander from wander, wander from slope, ... */
	double q11, q12, q22;
};

static inline struct kalman_drag kalman_drag(double dt, const struct kalman_noise *q)
{
	double s2 = q->wander * q->wander, l = 1 / q->tau, z = l * dt, e = exp(-z), e2 = e * e;

	return (struct kalman_drag){
		.gg = e * (1 + z),
		.gs = e * dt,
		.sg = -e * l * z,
		.ss = e * (1 - z),
		/* where the difference would cancel, the first terms of its series */
		.q11 = z < 1e-3 ? s2 * z * z * z * (4.0 / 3 - 2 * z) :
				  s2 * (1 - e2 * (1 + 2 * z + 2 * z * z)),
		.q12 = 2 * s2 * l * z * z * e2,
		.q22 = z < 1e-3 ? s2 * l * l * 4 * z * (1 - 2 * z) :
				  s2 * l * l * (1 - e2 * (1 - 2 * z + 2 * z * z)),
	};
}

/* One column of the transition. */
static inline void kalman_carry(double x[KALMAN_ALL], double dt, const struct kalman_drag *d)
{
	double g = d->gg * x[3] + d->gs * x[4];

	x[0] += dt * x[1] + dt * dt / 2 * x[2] + g - x[3];
	x[1] += dt * x[2];
	x[4] = d->sg * x[3] + d->ss * x[4];
	x[3] = g;
}

/* The same, transposed. */
static inline void kalman_carry_back(double x[KALMAN_ALL], double dt, const struct kalman_drag *d)
{
	double g = x[0] + x[3], s = x[4];

	x[2] += dt * dt / 2 * x[0] + dt * x[1];
	x[1] += dt * x[0];
	x[3] = d->gg * g + d->sg * s - x[0];
	x[4] = d->gs * g + d->ss * s;
}

/* m becomes T m T', by @carry over each column and then over each row. */
static inline void kalman_carry_both(double p[KALMAN_PAIRS], double dt, const struct kalman_drag *d,
				     void (*carry)(double *x, double dt,
						   const struct kalman_drag *d))
{
	double m[KALMAN_ALL][KALMAN_ALL], x[KALMAN_ALL];

	for (int j = 0; j < KALMAN_ALL; j++) {
		for (int i = 0; i < KALMAN_ALL; i++)
			m[j][i] = p[kalman_at(i, j)];
		carry(m[j], dt, d);
	}
	for (int i = 0, at = 0; i < KALMAN_ALL; i++) {
		for (int j = 0; j < KALMAN_ALL; j++)
			x[j] = m[j][i];
		carry(x, dt, d);
		for (int j = 0; j <= i; j++)
			p[at++] = x[j];
	}
}

/* Predict the three states of a clock. */
static inline void kalman_predict_clock(struct kalman *k, double dt)
{
	double *p = k->p, *a = k->a, h = dt * dt / 2;
	double p00 = p[0], p01 = p[1], p11 = p[2], p02 = p[3], p12 = p[4], p22 = p[5];
	double dt2 = dt * dt;

	a[0] += a[1] * dt + a[2] * h;
	a[1] += a[2] * dt;
	p[0] = p00 + 2 * dt * p01 + 2 * h * p02 + dt2 * p11 + 2 * dt * h * p12 + h * h * p22;
	p[1] = p01 + dt * p02 + dt * p11 + (h + dt2) * p12 + h * dt * p22;
	p[2] = p11 + 2 * dt * p12 + dt2 * p22;
	p[3] = p02 + dt * p12 + h * p22;
	p[4] = p12 + dt * p22;
}

/** Predict @dt seconds ahead. */
KALMAN_INLINE void kalman_predict(struct kalman *k, double dt, const struct kalman_noise *q)
{
	double q1 = q->rate * q->rate, q2 = q->drift * q->drift, *p = k->p;
	double dt2 = dt * dt, dt3 = dt2 * dt;

	if (q->wander > 0) {
		struct kalman_drag d = kalman_drag(dt, q);

		kalman_carry(k->a, dt, &d);
		kalman_carry_both(p, dt, &d, kalman_carry);
		p[0] += d.q11;
		p[kalman_at(3, 0)] += d.q11;
		p[kalman_at(3, 3)] += d.q11;
		p[kalman_at(4, 0)] += d.q12;
		p[kalman_at(4, 3)] += d.q12;
		p[kalman_at(4, 4)] += d.q22;
	} else {
		kalman_predict_clock(k, dt);
	}
	p[0] += q1 * (dt3 * (1.0 / 3)) + q2 * (dt3 * dt2 * (1.0 / 20));
	p[1] += q1 * (dt2 / 2) + q2 * (dt2 * dt2 / 8);
	p[2] += q1 * dt + q2 * (dt3 * (1.0 / 3));
	p[3] += q2 * (dt3 * (1.0 / 6));
	p[4] += q2 * (dt2 / 2);
	p[5] += q2 * dt;
}

/**
 * Update with a reading of h[0] a[0] + h[1] a[1] + h[2] a[2]: innovation @v of variance @f, and
 * @g = P h.
 */
KALMAN_INLINE void kalman_update(struct kalman *k, int states, const double g[KALMAN_ALL], double v,
				 double f)
{
	double by = 1 / f;

	for (int i = 0, at = 0; i < states; i++) {
		double gain = g[i] * by;

		k->a[i] += gain * v;
		for (int j = 0; j < i; j++)
			k->p[at++] -= gain * g[j];
		/* rounding must not make a variance negative */
		k->p[at] = greater(k->p[at] - gain * g[i], 0);
		at++;
	}
}

/** g = P h, for P packed as in struct kalman. */
KALMAN_INLINE void kalman_gain(const double *p, int states, const double h[3], double g[KALMAN_ALL])
{
	g[0] = p[0] * h[0] + p[1] * h[1] + p[3] * h[2];
	g[1] = p[1] * h[0] + p[2] * h[1] + p[4] * h[2];
	g[2] = p[3] * h[0] + p[4] * h[1] + p[5] * h[2];
	if (states == KALMAN_CLOCK)
		return;
	g[3] = p[6] * h[0] + p[7] * h[1] + p[8] * h[2];
	g[4] = p[10] * h[0] + p[11] * h[1] + p[12] * h[2];
}

/** One filter step, for the backward pass. */
struct kalman_step {
	struct kalman predicted;
	double h[3];
	double v, f; /* innovation and its variance; f 0: nothing was read */
	double r;    /* the part of f that is the reading's own */
	double dt;   /* s since the point before */
};

/** The smoother's r and N, backwards (de Jong 1989). */
struct kalman_back {
	double r[KALMAN_ALL], n[KALMAN_PAIRS]; /* n packed as p of struct kalman */
};

/** Back over a transition of @dt seconds: T' r and T' N T. */
static inline void kalman_pull_back(struct kalman_back *b, double dt, const struct kalman_noise *q)
{
	double h = dt * dt / 2, *n = b->n, *r = b->r;
	double n00 = n[0], n01 = n[1], n11 = n[2], n02 = n[3], n12 = n[4], n22 = n[5];

	if (q->wander > 0) {
		struct kalman_drag d = kalman_drag(dt, q);

		kalman_carry_back(r, dt, &d);
		kalman_carry_both(n, dt, &d, kalman_carry_back);
		return;
	}
	r[2] += h * r[0] + dt * r[1];
	r[1] += dt * r[0];
	n[1] = n01 + dt * n00;
	n[2] = n11 + 2 * dt * n01 + dt * dt * n00;
	n[3] = n02 + dt * n01 + h * n00;
	n[4] = n12 + dt * n11 + h * n01 + dt * (n02 + dt * n01 + h * n00);
	n[5] = n22 + dt * dt * n11 + h * h * n00 + 2 * dt * n12 + 2 * h * n02 + 2 * dt * h * n01;
}

/**
 * Back over a reading: with g = P h / f and L = I - g h', r becomes L' r + h v / f, and N becomes
 * L' N L + h h' / f.
 *
 * L' x = x - h (g' x). Where little was known before, as after a slip, g[0] h[0] is 1 up to the
 * twelfth digit. The rest matters, so it is computed from the reading's own variance and not as 1 -
 * g[0] h[0].
 */
KALMAN_INLINE void kalman_take_back(struct kalman_back *b, const struct kalman_step *p, int states)
{
	const double *h = p->h, by = 1 / p->f;
	double g[KALMAN_ALL], rest, pull = 0, m[KALMAN_ALL][KALMAN_ALL];

	kalman_gain(p->predicted.p, states, h, g);
	for (int i = 0; i < states; i++)
		g[i] *= by;
	rest = p->r * by + g[1] * h[1] + g[2] * h[2]; /* 1 - g[0] h[0] */
	for (int i = 1; i < states; i++)
		pull += g[i] * b->r[i];
	/* N L, and then L' of that; readings are of the first three states alone */
	for (int i = 0; i < states; i++) {
		double ng = 0;

		for (int j = 1; j < states; j++)
			ng += b->n[kalman_at(i, j)] * g[j];
		m[i][0] = b->n[kalman_at(i, 0)] * rest - h[0] * ng;
		for (int j = 1; j < states; j++)
			m[i][j] = b->n[kalman_at(i, j)] -
				  (j < 3 ? h[j] * (b->n[kalman_at(i, 0)] * g[0] + ng) : 0);
	}
	for (int j = 0; j < states; j++) {
		double gm = 0;

		for (int i = 1; i < states; i++)
			gm += g[i] * m[i][j];
		for (int i = j; i < states; i++) {
			double v = i ? m[i][j] - (i < 3 ? h[i] * (g[0] * m[0][j] + gm) : 0) :
				       m[0][j] * rest - h[0] * gm;

			b->n[kalman_at(i, j)] = i < 3 ? v + h[i] * h[j] * by : v;
		}
	}
	for (int i = 1; i < 3; i++)
		b->r[i] += h[i] * (p->v * by - g[0] * b->r[0] - pull);
	b->r[0] = rest * b->r[0] + h[0] * (p->v * by - pull);
}

/** The same for readings of the offset alone, h = (1, 0, 0). */
KALMAN_INLINE void kalman_take_back_offset(struct kalman_back *b, const struct kalman_step *p,
					   int states)
{
	const double by = 1 / p->f, rest = p->r * by; /* 1 - g[0] */
	double g[KALMAN_ALL], pull = 0, gm = 0;

	for (int i = 1; i < states; i++) {
		g[i] = p->predicted.p[kalman_at(i, 0)] * by;
		pull += g[i] * b->r[i];
	}
	for (int i = 0; i < states; i++) {
		double ng = 0;

		for (int j = 1; j < states; j++)
			ng += b->n[kalman_at(i, j)] * g[j];
		b->n[kalman_at(i, 0)] = b->n[kalman_at(i, 0)] * rest - ng;
	}
	for (int i = 1; i < states; i++)
		gm += g[i] * b->n[kalman_at(i, 0)];
	b->n[0] = b->n[0] * rest - gm + by;
	b->r[0] = rest * b->r[0] + (p->v * by - pull);
}

/** x' N x. */
KALMAN_INLINE double kalman_quadratic(const double *n, int states, const double x[KALMAN_ALL])
{
	double sum = 0;

	for (int i = 0, at = 0; i < states; i++) {
		double row = 0;

		for (int j = 0; j < i; j++)
			row += n[at++] * x[j];
		sum += x[i] * (2 * row + n[at++] * x[i]);
	}
	return sum;
}

/** Smoothed state @i and its variance at @step, @b having come back over the later marks. */
KALMAN_INLINE double kalman_smoothed(const struct kalman_step *step, int states,
				     const struct kalman_back *b, int i, double *var)
{
	const struct kalman *k = &step->predicted;
	double c[KALMAN_ALL], a = k->a[i];

	for (int j = 0; j < states; j++) {
		c[j] = k->p[kalman_at(i, j)];
		a += c[j] * b->r[j];
	}
	*var = greater(c[i] - kalman_quadratic(b->n, states, c), 0);
	return a;
}

/**
 * After how many marks, @dt seconds apart and of variance @r, later ones reduce the variance by less
 * than the part @rest; at most @most. @k: the filter after a mark, once it is steady.
 *
 * With A = F (I - K h'), the marks after the next L reduce it by the sum over j > L of (h' A^j P
 * h)^2 / f, P being that before a mark.
 */
static inline size_t kalman_horizon(const struct kalman *after, const struct kalman_noise *q,
				    double dt, double r, double rest, size_t most)
{
	struct kalman_drag drag = { 0 };
	struct kalman k = *after;
	double f, sum = 0, left;
	size_t marks = 0;

	kalman_predict(&k, dt, q);
	f = k.p[0] + r;
	if (q->wander > 0)
		drag = kalman_drag(dt, q);
	for (int pass = 0; pass < 2; pass++) {
		double w[KALMAN_ALL], gain[KALMAN_ALL] = { 0 };

		for (int i = 0; i < kalman_states(q); i++)
			gain[i] = k.p[kalman_at(i, 0)];
		memcpy(w, gain, sizeof(w));
		left = sum;
		for (marks = 0; marks < most && (!pass || left > rest * (k.p[0] - sum)); marks++) {
			double c = w[0];

			sum += pass ? 0 : c * c / f;
			left -= c * c / f;
			for (int i = 0; i < KALMAN_ALL; i++)
				w[i] -= gain[i] / f * c;
			kalman_carry(w, dt, &drag);
		}
	}
	return marks;
}

#endif
