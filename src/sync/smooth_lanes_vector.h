/* SPDX-License-Identifier: MIT */
/*
 * The filters of smooth_lanes.c, in vectors of VECTOR_BYTES; included once for each such size.
 * VECTOR_NAME is the function's name, VECTOR_TARGET its attributes.
 */
#define WIDTH (VECTOR_BYTES / 8)

#define vector VECTOR_NAME(vector)
#define mask VECTOR_NAME(mask)
#define filter VECTOR_NAME(filter)
#define predict VECTOR_NAME(predict)
#define update VECTOR_NAME(update)
#define any VECTOR_NAME(any)
#define take_logarithms VECTOR_NAME(take_logarithms)
#define read_one VECTOR_NAME(read_one)

/* One double of each of some lanes; a comparison gives a mask of each. */
typedef double vector __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t mask __attribute__((vector_size(VECTOR_BYTES)));

struct filter {
	vector a0, a1, a2, p00, p01, p11, p02, p12, p22;
	vector q1, q2, jitter2;
	vector sum, product; /* of the likelihood */
};

/* As kalman_predict(), in the same order of operations. */
VECTOR_TARGET static inline void predict(struct filter *k, double dt)
{
	const double h = dt * dt / 2, dt2 = dt * dt, dt3 = dt2 * dt;
	const vector p00 = k->p00, p01 = k->p01, p11 = k->p11, p02 = k->p02, p12 = k->p12,
		     p22 = k->p22, q1 = k->q1, q2 = k->q2;

	k->a0 += k->a1 * dt + k->a2 * h;
	k->a1 += k->a2 * dt;
	k->p00 = p00 + 2 * dt * p01 + 2 * h * p02 + dt2 * p11 + 2 * dt * h * p12 + h * h * p22;
	k->p01 = p01 + dt * p02 + dt * p11 + (h + dt2) * p12 + h * dt * p22;
	k->p11 = p11 + 2 * dt * p12 + dt2 * p22;
	k->p02 = p02 + dt * p12 + h * p22;
	k->p12 = p12 + dt * p22;
	k->p00 += q1 * (dt3 * (1.0 / 3)) + q2 * (dt3 * dt2 * (1.0 / 20));
	k->p01 += q1 * (dt2 / 2) + q2 * (dt2 * dt2 / 8);
	k->p11 += q1 * dt + q2 * (dt3 * (1.0 / 3));
	k->p02 += q2 * (dt3 * (1.0 / 6));
	k->p12 += q2 * (dt2 / 2);
	k->p22 += q2 * dt;
}

VECTOR_TARGET static inline bool any(mask m)
{
	int64_t all = m[0];

	for (int i = 1; i < WIDTH; i++)
		all |= m[i];
	return all;
}

/* Logarithms are taken of products, when those grow. */
VECTOR_TARGET static inline void take_logarithms(struct filter *k)
{
	const mask full = (k->product < 1e-80) | (k->product > 1e80);

	if (!any(full))
		return;
	for (int i = 0; i < WIDTH; i++)
		if (full[i]) {
			k->sum[i] -= 0.5 * log(k->product[i]);
			k->product[i] = 1;
		}
}

#define NOT_BELOW_ZERO(v) ((vector)((mask)(v) & ((v) > 0)))

/* As kalman_update() of a reading of the offset; @by: 1 / f. */
VECTOR_TARGET static inline void update(struct filter *k, vector by, const vector *v)
{
	const vector g0 = k->p00, g1 = k->p01, g2 = k->p02;
	vector gain = g0 * by, p;

	k->a0 += gain * *v;
	p = k->p00 - gain * g0;
	k->p00 = NOT_BELOW_ZERO(p);
	gain = g1 * by;
	k->a1 += gain * *v;
	k->p01 -= gain * g0;
	p = k->p11 - gain * g1;
	k->p11 = NOT_BELOW_ZERO(p);
	gain = g2 * by;
	k->a2 += gain * *v;
	k->p02 -= gain * g0;
	k->p12 -= gain * g1;
	p = k->p22 - gain * g2;
	k->p22 = NOT_BELOW_ZERO(p);
}

/* As innovate() of smooth_pass.c. */
VECTOR_TARGET static inline void read_one(struct filter *k, const struct lane_reading *r, double *u)
{
	const vector var = (k->jitter2 + r->var) * r->by_weight, v = r->z - k->a0, f = k->p00 + var;
	vector by = 1 / f;

	if (r->counted) {
		const vector ratio = v * v * by, t = 1 + ratio * (1 / (SMOOTH_DOF * SMOOTH_CORE));
		const mask wild = ratio > 9;

		k->product *= f * t * t * t * t * t;
		take_logarithms(k);
		memcpy(u, &ratio, sizeof(ratio));
		if (any(wild)) {
			const vector held = 1 / (k->p00 + var * ratio * (1.0 / 9));

			by = (vector)(((mask)held & wild) | ((mask)by & ~wild));
		}
	}
	update(k, by, &v);
}

VECTOR_TARGET static size_t VECTOR_NAME(weigh)(const struct lane_reading *r, size_t n,
					       const struct kalman *start, struct lane *lane,
					       size_t lanes, double *u)
{
	const double *a = start->a, *p = start->p;
	const vector zero = { 0 };
	struct filter k[LANES / WIDTH];
	const size_t vectors = (lanes + WIDTH - 1) / WIDTH;
	size_t counted = 0;

	for (size_t j = 0; j < vectors; j++) {
		k[j] = (struct filter){ a[0] + zero, a[1] + zero,        a[2] + zero, p[0] + zero,
					p[1] + zero, p[2] + zero,        p[3] + zero, p[4] + zero,
					p[5] + zero, .product = 1 + zero };
		for (size_t i = 0; i < WIDTH; i++) {
			const size_t at = WIDTH * j + i;
			const struct lane *l = &lane[at < lanes ? at : 0]; /* one more, unused */

			k[j].q1[i] = l->rate * l->rate;
			k[j].q2[i] = l->drift * l->drift;
			k[j].jitter2[i] = l->jitter2;
		}
	}
	for (size_t i = 0; i < n; i++, r++) {
		for (size_t j = 0; j < vectors; j++) {
			if (i)
				predict(&k[j], r->dt);
			k[j].p00 += r->jump;
			k[j].p11 += r->kick;
			if (r->by_weight > 0)
				read_one(&k[j], r, u + LANES * counted + WIDTH * j);
		}
		counted += r->by_weight > 0 && r->counted;
	}
	for (size_t i = 0; i < lanes; i++)
		lane[i].likelihood =
			k[i / WIDTH].sum[i % WIDTH] - 0.5 * log(k[i / WIDTH].product[i % WIDTH]);
	return counted;
}

#undef vector
#undef mask
#undef filter
#undef predict
#undef update
#undef any
#undef take_logarithms
#undef read_one
#undef NOT_BELOW_ZERO
#undef WIDTH
#undef VECTOR_BYTES
#undef VECTOR_NAME
#undef VECTOR_TARGET
