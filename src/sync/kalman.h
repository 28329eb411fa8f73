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
	double r;    /* part of f that is the reading's own */
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
 * The same for a reading of a[0] alone, h = (1, 0, 0), by 1 - g0 = r / f. Where little is known before the reading, as behind a slip
 * of a part of a second, g0 is so near 1 that its difference from it is lost, and with it the variance that comes of it.
 */
static inline void kalman_take_back_clearly(struct kalman_back *b, const struct kalman_step *p)
{
	const double g1 = p->predicted.p[1] / p->f, g2 = p->predicted.p[2] / p->f, u = p->r / p->f;
	double *n = b->n, *r = b->r;
	/* N times the first column of I - g h', which is (u, -g1, -g2) */
	const double m0 = u * n[0] - g1 * n[1] - g2 * n[2];
	const double m1 = u * n[1] - g1 * n[3] - g2 * n[4];
	const double m2 = u * n[2] - g1 * n[4] - g2 * n[5];

	r[0] = p->v / p->f + u * r[0] - g1 * r[1] - g2 * r[2];
	n[0] = 1 / p->f + u * m0 - g1 * m1 - g2 * m2;
	n[1] = m1;
	n[2] = m2;
}

/** Back over a reading: with g = P h / f, h v / f + (I - h g') r and h h' / f + (I - h g') N (I - g h'). */
static inline void kalman_take_back(struct kalman_back *b, const struct kalman_step *p)
{
	double g[3], m[3], rg = 0, gng = 0, *n = b->n;

	if (p->h[0] == 1 && p->h[1] == 0 && p->h[2] == 0) {
		kalman_take_back_clearly(b, p);
		return;
	}
	kalman_gain(p->predicted.p, p->h, g);
	for (int i = 0; i < 3; i++)
		g[i] /= p->f;
	kalman_gain(n, g, m);
	for (int i = 0; i < 3; i++) {
		rg += b->r[i] * g[i];
		gng += m[i] * g[i];
	}
	for (int i = 0, at = 0; i < 3; i++) {
		b->r[i] += p->h[i] * (p->v / p->f - rg);
		for (int j = i; j < 3; j++, at++)
			n[at] += p->h[i] * p->h[j] * (1 / p->f + gng) - p->h[i] * m[j] -
				 m[i] * p->h[j];
	}
}

/** x' N x for x = (a, b, c). */
static inline double kalman_quadratic(const double *n, double a, double b, double c)
{
	return n[0] * a * a + n[3] * b * b + n[5] * c * c +
	       2 * (n[1] * a * b + n[2] * a * c + n[4] * b * c);
}

#endif
