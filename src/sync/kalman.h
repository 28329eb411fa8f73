/* SPDX-License-Identifier: MIT */
/**
 * Kalman filter of a clock: offset (ns), slope (ns/s) and curvature (ns/s^2), each driven by white noise.
 *
 * The model is the usual one of oscillators (Zucca, Tavella: The clock model and its relationship with the Allan and
 * related variances, IEEE UFFC 52(2), 2005): q1 drives the rate's random walk, q2 the drift's.
 */
#ifndef SYNC_KALMAN_H
#define SYNC_KALMAN_H

/** Noise densities: rate ns/s per sqrt(s), drift ns/s^2 per sqrt(s). */
struct kalman_noise {
	double rate, drift;
};

struct kalman {
	double a[3];
	double p[6]; /* 00 01 02 11 12 22 */
};

/** Carry on over @dt seconds. */
static inline void kalman_predict(struct kalman *k, double dt, const struct kalman_noise *q)
{
	double *p = k->p, *a = k->a, h = dt * dt / 2, q1 = q->rate * q->rate,
	       q2 = q->drift * q->drift;
	double p00 = p[0], p01 = p[1], p02 = p[2], p11 = p[3], p12 = p[4], p22 = p[5];
	double dt2 = dt * dt, dt3 = dt2 * dt;

	a[0] += a[1] * dt + a[2] * h;
	a[1] += a[2] * dt;
	p[0] = p00 + 2 * dt * p01 + 2 * h * p02 + dt2 * p11 + 2 * dt * h * p12 + h * h * p22 +
	       q1 * dt3 / 3 + q2 * dt3 * dt2 / 20;
	p[1] = p01 + dt * p02 + dt * p11 + (h + dt2) * p12 + h * dt * p22 + q1 * dt2 / 2 +
	       q2 * dt2 * dt2 / 8;
	p[2] = p02 + dt * p12 + h * p22 + q2 * dt3 / 6;
	p[3] = p11 + 2 * dt * p12 + dt2 * p22 + q1 * dt + q2 * dt3 / 3;
	p[4] = p12 + dt * p22 + q2 * dt2 / 2;
	p[5] = p22 + q2 * dt;
}

/** Take in an offset seen @v away from a[0], with variance @f of that innovation. */
static inline void kalman_update(struct kalman *k, double v, double f)
{
	double *p = k->p, g0 = p[0] / f, g1 = p[1] / f, g2 = p[2] / f;
	double p0 = p[0], p1 = p[1], p2 = p[2];

	k->a[0] += g0 * v;
	k->a[1] += g1 * v;
	k->a[2] += g2 * v;
	p[0] -= g0 * p0;
	p[1] -= g0 * p1;
	p[2] -= g0 * p2;
	p[3] -= g1 * p1;
	p[4] -= g1 * p2;
	p[5] -= g2 * p2;
}

#endif
