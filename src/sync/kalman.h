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

/** Take in a reading of h[0] a[0] + h[1] a[1] + h[2] a[2], @v away from it, @f being the variance of that innovation and
 * @g = P h. */
static inline void kalman_update(struct kalman *k, const double g[3], double v, double f)
{
	double *p = k->p;

	for (int i = 0; i < 3; i++)
		k->a[i] += g[i] / f * v;
	p[0] -= g[0] * g[0] / f;
	p[1] -= g[0] * g[1] / f;
	p[2] -= g[0] * g[2] / f;
	p[3] -= g[1] * g[1] / f;
	p[4] -= g[1] * g[2] / f;
	p[5] -= g[2] * g[2] / f;
	for (int i = 0; i < 6; i += i ? 2 : 3) /* rounding must not make a variance negative */
		p[i] = p[i] > 0 ? p[i] : 0;
}

/** g = P h, for P packed as in struct kalman. */
static inline void kalman_gain(const double p[6], const double h[3], double g[3])
{
	g[0] = p[0] * h[0] + p[1] * h[1] + p[2] * h[2];
	g[1] = p[1] * h[0] + p[3] * h[1] + p[4] * h[2];
	g[2] = p[2] * h[0] + p[4] * h[1] + p[5] * h[2];
}

/** What the filter did at one point, for going back over it. */
struct kalman_step {
	struct kalman predicted;
	double h[3];
	double v, f; /* innovation and its variance; f 0: nothing was read */
	double r;    /* the part of f that is the reading's own */
	double dt;   /* s since the point before */
};

/** The smoother's r and N, going back (de Jong 1989). */
struct kalman_back {
	double r[3], n[6]; /* n packed as p of struct kalman */
};

/** Back over a transition of @dt seconds: T' r and T' N T. */
static inline void kalman_pull_back(struct kalman_back *b, double dt)
{
	double h = dt * dt / 2, *n = b->n, *r = b->r;
	double n00 = n[0], n01 = n[1], n02 = n[2], n11 = n[3], n12 = n[4], n22 = n[5];

	r[2] += h * r[0] + dt * r[1];
	r[1] += dt * r[0];
	n[1] = n01 + dt * n00;
	n[2] = n02 + dt * n01 + h * n00;
	n[3] = n11 + 2 * dt * n01 + dt * dt * n00;
	n[4] = n12 + dt * n11 + h * n01 + dt * (n02 + dt * n01 + h * n00);
	n[5] = n22 + dt * dt * n11 + h * h * n00 + 2 * dt * n12 + 2 * h * n02 + 2 * dt * h * n01;
}

/**
 * Back over a reading: with g = P h / f and L = I - g h', r becomes L' r + h v / f, and N becomes L' N L + h h' / f.
 *
 * Where little was known before, as after a slip, g[0] h[0] is 1 but for the twelfth digit. That rest decides, so it is
 * taken from the reading's own variance, and not from 1 - g[0] h[0].
 */
static inline void kalman_take_back(struct kalman_back *b, const struct kalman_step *p)
{
	const double *h = p->h;
	const double n[6] = { b->n[0], b->n[1], b->n[2], b->n[3], b->n[4], b->n[5] };
	const double r[3] = { b->r[0], b->r[1], b->r[2] };
	double g[3], l[3][3], m[3][3];

	kalman_gain(p->predicted.p, h, g);
	for (int i = 0; i < 3; i++)
		g[i] /= p->f;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			l[i][j] = (i == j) - g[i] * h[j];
	l[0][0] = p->r / p->f + g[1] * h[1] + g[2] * h[2];
	for (int j = 0; j < 3; j++) { /* N L */
		m[0][j] = n[0] * l[0][j] + n[1] * l[1][j] + n[2] * l[2][j];
		m[1][j] = n[1] * l[0][j] + n[3] * l[1][j] + n[4] * l[2][j];
		m[2][j] = n[2] * l[0][j] + n[4] * l[1][j] + n[5] * l[2][j];
	}
	for (int i = 0, at = 0; i < 3; i++)
		for (int j = i; j < 3; j++, at++)
			b->n[at] = l[0][i] * m[0][j] + l[1][i] * m[1][j] + l[2][i] * m[2][j] +
				   h[i] * h[j] / p->f;
	for (int i = 0; i < 3; i++)
		b->r[i] = l[0][i] * r[0] + l[1][i] * r[1] + l[2][i] * r[2] + h[i] * p->v / p->f;
}

/** x' N x for x = (a, b, c). */
static inline double kalman_quadratic(const double *n, double a, double b, double c)
{
	return n[0] * a * a + n[3] * b * b + n[5] * c * c +
	       2 * (n[1] * a * b + n[2] * a * c + n[4] * b * c);
}

#endif
