/* SPDX-License-Identifier: MIT */
#include "view.h"

#include <string.h>

#include "keys.h"
#include "rate.h"

void ett_view_open(struct ett_view *v)
{
	ett_events_count(&v->events);
	v->top = ett_first(&v->events);
	v->message[0] = '\0';
	v->asking = 0;
	v->sought = -1;
}

static void say(struct ett_view *v, const char *text)
{
	size_t n = strlen(text);

	n = n < ETT_COLUMNS ? n : ETT_COLUMNS;
	memcpy(v->message, text, n);
	v->message[n] = '\0';
}

static void move(struct ett_view *v, uint64_t by, bool back)
{
	while (by-- && (back ? ett_back(&v->events, &v->top) : ett_next(&v->events, &v->top)))
		;
}

/* The page that ends with the last event. */
static void to_end(struct ett_view *v)
{
	v->top = ett_last(&v->events);
	move(v, ETT_PAGE - 1, true);
}

static void to_number(struct ett_view *v, uint64_t number)
{
	v->top = ett_first(&v->events);
	move(v, number, false);
}

/* To the next event of the code that is sought, from the one behind the top on. */
static void seek(struct ett_view *v)
{
	struct ett_place p = v->top;

	while (v->sought >= 0 && ett_next(&v->events, &p)) {
		const struct ett_record *r = &v->events.record[p.record];

		if (ett_code(r->value, p.probe, v->events.bits) == (unsigned)v->sought) {
			v->top = p;
			return;
		}
	}
	say(v, v->sought < 0 ? "nothing sought yet: / and a code" : "not found");
}

static void ask(struct ett_view *v, int what)
{
	v->asking = (char)what;
	v->answer = 0;
	v->typed = 0;
}

static void answer(struct ett_view *v, int key)
{
	unsigned base = v->asking == '/' ? 16 : 10;
	int digit = key >= '0' && key <= '9' ? key - '0' :
		    key >= 'A' && key <= 'F' ? key - 'A' + 10 :
					       -1;

	if (digit >= 0 && (unsigned)digit < base && v->typed < (base == 16 ? 2u : 15u)) {
		v->answer = v->answer * base + (unsigned)digit;
		v->typed++;
	} else if (key == '\b' && v->typed) {
		v->answer /= base;
		v->typed--;
	} else if (key == ETT_KEY_ESC) {
		v->asking = 0;
	} else if (key == '\n') {
		char asked = v->asking;

		v->asking = 0;
		if (!v->typed)
			return;
		if (asked == 'G') {
			to_number(v, v->answer);
		} else {
			v->sought = (int)v->answer;
			seek(v);
		}
	}
}

enum ett_wish ett_view_key(struct ett_view *v, int key)
{
	v->message[0] = '\0';
	if (v->asking) {
		answer(v, key);
		return ETT_WISH_NONE;
	}
	switch (key) {
	case ETT_KEY_UP: move(v, 1, true); break;
	case ETT_KEY_DOWN: move(v, 1, false); break;
	case ETT_KEY_PAGE_UP: move(v, ETT_PAGE, true); break;
	case ETT_KEY_PAGE_DOWN:
		if (v->top.number + ETT_PAGE < v->events.events)
			move(v, ETT_PAGE, false);
		break;
	case ETT_KEY_HOME: v->top = ett_first(&v->events); break;
	case ETT_KEY_END: to_end(v); break;
	case '/':
	case 'G': ask(v, key); break;
	case 'N': seek(v); break;
	case 'S': return ETT_WISH_SAVE;
	case 'T': return ETT_WISH_SEND;
	case ETT_KEY_ESC: return ETT_WISH_AGAIN;
	default: break;
	}
	return ETT_WISH_NONE;
}

static void draw_event(const struct ett_view *v, const struct ett_place *p, char *row)
{
	const struct ett_record *r = &v->events.record[p->record];
	uint64_t width = ett_width(r), ticks = r->tick - width - v->begin;
	struct ett_text t = { row, 0 };

	/* Its first read may lie ahead of the capture's beginning by a step. */
	if (r->tick - width < v->begin)
		ticks = 0;
	ett_put_dec(&t, p->number, 14);
	ett_put_dec(&t, p->probe + 1, 7);
	ett_put_to(&t, 25);
	ett_put_hex(&t, ett_code(r->value, p->probe, v->events.bits), v->events.bits > 4 ? 2 : 1);
	ett_put_to(&t, 28);
	ett_put_dec(&t, ett_ns(ticks, v->hz), 24);
	ett_put_dec(&t, ett_ns(ticks + width, v->hz) + 1 - ett_ns(ticks, v->hz), 16);
}

void ett_view_draw(const struct ett_view *v, char screen[ETT_ROWS][ETT_COLUMNS])
{
	struct ett_text t = { screen[0], 0 };
	struct ett_place p = v->top;

	memset(screen, ' ', (size_t)ETT_ROWS * ETT_COLUMNS);
	ett_put(&t, v->title);
	t = (struct ett_text){ screen[1], 0 };
	ett_put(&t, "         event  probe  code          not before, ns    for up to, ns");
	for (unsigned i = 0; i < ETT_PAGE && p.record < v->events.n; i++) {
		draw_event(v, &p, screen[2 + i]);
		if (!ett_next(&v->events, &p))
			break;
	}
	t = (struct ett_text){ screen[ETT_ROWS - 2], 0 };
	if (v->asking) {
		ett_put(&t, v->asking == 'G' ? "event: " : "code (hex): ");
		if (v->typed && v->asking == 'G')
			ett_put_dec(&t, v->answer, 0);
		else if (v->typed)
			ett_put_hex(&t, v->answer, v->typed);
	} else {
		ett_put(&t, v->message);
	}
	t = (struct ett_text){ screen[ETT_ROWS - 1], 0 };
	ett_put(&t,
		"PgUp PgDn Home End  G event  / code  N next  S save  T send  Esc capture again");
}
