/* SPDX-License-Identifier: MIT */
/*
 * Requests to a view: whatever is asked with whatever parameters, the answer is whole JSON or cells, or
 * an error, and the session can be asked again.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <coeval/files.h>
#include <coeval/session.h>

#include "core/out_keep.h"
#include "view/answers.h"

static struct model model;
static struct cvl_session *session;
static char folder[] = "/tmp/fuzz_view_XXXXXX";

static void must(int rc, const struct cvl_error *err)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "%s\n", err->text);
	abort();
}

/* Edges, readings, events, spans, a beacon and a gap, of two clocks. */
static void write_clock(struct cvl_session *s, const char *name)
{
	static const struct cvl_origin origin = { .format = "fuzz", .path = "-" };
	const struct cvl_store_field field = { "value", CVL_STORE_U64 };
	const char *lines[] = { "A", "B" }, *channels[] = { "mA" };
	const struct cvl_store_desc desc = { .clock = name,
					     .rate_hz = 1000000,
					     .lines = lines,
					     .n_lines = 2,
					     .channels = channels,
					     .n_channels = 1 };
	struct cvl_error err;
	struct cvl_writer *w;
	int event;

	must(cvl_session_add(s, &desc, &origin, &w, &err), &err);
	event = cvl_writer_declare(w, "something", &field, 1, &err);
	for (uint64_t k = 0; k < 300; k++) {
		const struct cvl_tick tick = { 100 * k + 10 };
		const uint64_t levels = k % 4;
		const union cvl_store_value v = { .u = k };

		must(cvl_writer_edges(w, &tick, &levels, 1, &err), &err);
		must(cvl_writer_sample(w, tick, 0, (double)k, &err), &err);
		must(cvl_writer_event(w, tick, event, &v, &err), &err);
		must(cvl_writer_span(w, tick, !(k & 1), k / 2, "span", &err), &err);
		if (k == 150)
			must(cvl_writer_gap(w, (struct cvl_tick){ tick.count + 1 },
					    (struct cvl_tick){ tick.count + 50 }, 7,
					    CVL_GAP_OVERFLOW, &err),
			     &err);
	}
	must(cvl_session_finish(s, w, (struct cvl_tick){ 40000 }, &err), &err);
}

static void remove_folder(void)
{
	model_close(&model);
	cvl_session_close(session);
	cvl_remove_tree(folder, NULL);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const struct cvl_view_opts opts = { 0 };
	struct cvl_session *s;
	struct cvl_error err;

	(void)argc, (void)argv;
	if (!mkdtemp(folder))
		abort();
	must(cvl_session_create(&s, folder, &err), &err);
	write_clock(s, "one");
	write_clock(s, "two");
	cvl_session_close(s);
	must(cvl_session_open(&session, folder, NULL, &err), &err);
	must(model_open(&model, session, &opts, NULL, NULL, &err), &err);
	studies_wait(model.studies, 60);
	model.read_only = true; /* the file of notes would grow */
	atexit(remove_folder);
	return 0;
}

/* A parameter of lines "name=value". */
static const char *parameter(void *ctx, const char *name)
{
	static char value[2000];
	const size_t n = strlen(name);
	const char *line = ctx;

	for (line = strchr(line, '\n'); line; line = strchr(line, '\n')) {
		size_t length;

		line++;
		if (strncmp(line, name, n) != 0 || line[n] != '=')
			continue;
		length = strcspn(line + n + 1, "\n");
		if (length >= sizeof(value))
			return NULL;
		memcpy(value, line + n + 1, length);
		value[length] = '\0';
		return value;
	}
	return NULL;
}

/* Brackets and quotes are paired. */
static void is_json(const char *text, size_t n)
{
	size_t depth = 0;
	bool quoted = false;

	for (size_t i = 0; i < n; i++) {
		const char c = text[i];

		if (quoted) {
			i += c == '\\';
			quoted = c != '"';
			continue;
		}
		quoted = c == '"';
		depth += c == '{' || c == '[';
		if ((c == '}' || c == ']') && !depth--)
			abort();
	}
	if (depth || quoted || !n)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *request = malloc(n + 1), what[40];
	const struct view_query query = { parameter, request, n && data[0] & 1 };
	struct cvl_out *o = malloc(sizeof(*o));
	const char *type = "";
	struct cvl_error err;

	if (!request || !o)
		abort();
	memcpy(request, data, n);
	request[n] = '\0';
	snprintf(what, sizeof(what), "%.*s", (int)strcspn(request, "\n"), request);
	out_keep(o, false);
	if (!view_answer(&model, what, &query, o, &type, &err)) {
		cvl_out_drain(o);
		if (o->error)
			abort();
		if (!strcmp(type, "application/json"))
			is_json(o->kept, o->n_kept);
	} else if (!*err.text) {
		abort();
	}
	free(o->kept);
	free(o);
	free(request);
	return 0;
}
