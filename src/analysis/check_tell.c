/* SPDX-License-Identifier: MIT */
/*
 * News wait until there are some for each rule: told record by record, every one would be to another rule than the one before,
 * and the processor would guess wrong at each turn. Rules know nothing of each other, and the news of one stay in order,
 * so that nothing else changes by it.
 */
#include "analysis/check_internal.h"

void tell_all(struct check *c)
{
	for (size_t r = 0; r < c->rules->n; r++) {
		struct inbox *in = &c->inbox[r];
		enum check_kind kind = c->rules->rule[r].kind;

		for (size_t i = 0; i < in->n; i++) {
			const struct news *n = &in->news[i];
			const struct occ *o = &c->occ[n->occ];

			switch (kind) {
			case CHECK_THEN:
			case CHECK_THEN_NOT: after_event(c, n->monitor, n->role, o); break;
			case CHECK_NEVER: never_event(c, n->monitor, n->role, o, n->level); break;
			default: row_event(c, n->monitor, kind, n->role, o, n->level);
			}
		}
		in->n = 0;
	}
}

void tell_end(struct check *c, struct source *s)
{
	s->ended = true;
	tell_dark(c, s, &s->end);
}

void tell_dark(struct check *c, struct source *s, const struct occ *from)
{
	tell_all(c);
	if (s->blind++)
		return;
	for (size_t i = 0; i < s->n_listeners; i++) {
		struct monitor *m = &c->monitor[s->listener[i].monitor];
		size_t role = s->listener[i].role;

		switch (m->rule->kind) {
		case CHECK_THEN:
		case CHECK_THEN_NOT: after_dark(c, m, role, from); break;
		case CHECK_NEVER: never_dark(c, m, role, from); break;
		default: row_dark(c, m, role, from);
		}
	}
}

void tell_light(struct check *c, struct source *s, const struct occ *at, bool level)
{
	bool first = !s->began;

	tell_all(c);
	if (--s->blind)
		return;
	s->began = true;
	s->seen = s->seen || level;
	for (size_t i = 0; i < s->n_listeners; i++) {
		struct monitor *m = &c->monitor[s->listener[i].monitor];
		size_t role = s->listener[i].role;

		switch (m->rule->kind) {
		case CHECK_THEN:
		case CHECK_THEN_NOT: after_light(c, m, role, at, first); break;
		case CHECK_NEVER: never_light(c, m, role, at, level, first); break;
		default: row_light(c, m, at, level);
		}
	}
}
