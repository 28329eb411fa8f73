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
#include "core/out_keep.h"
#include "fuzz_records.h"
#include "view/answers.h"

static struct model model;
static struct cvl_session *session;
static char folder[] = "/tmp/fuzz_view_XXXXXX";

static void remove_folder(void)
{
	model_close(&model);
	cvl_session_close(session);
	cvl_remove_tree(folder, NULL);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const struct cvl_view_opts opts = { 0 };
	struct cvl_error err;

	(void)argc, (void)argv;
	if (!mkdtemp(folder))
		abort();
	session = session_of_records(folder);
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
