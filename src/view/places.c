/* SPDX-License-Identifier: MIT */
#include "view/places.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <coeval/array.h>
#include <coeval/files.h>

#define OPEN_MOST 8
#define DEPTH 2 /* of folders */
#define PLACES_MOST 10000

int places_open(struct places *p, struct cvl_session *session, const struct cvl_view_opts *opts,
		struct cvl_error *err)
{
	int rc;

	p->opts = *opts;
	if (cvl_room(&p->list, 0, &p->room, sizeof(*p->list)))
		return cvl_no_memory(err);
	p->list[0] = (struct place){ .path = strdup(cvl_session_path(session)) };
	p->n = 1;
	if (!p->list[0].path)
		return cvl_no_memory(err);
	rc = model_open(&p->list[0].model, session, &p->opts, p->changed, p->ctx, err);
	p->list[0].open = !rc;
	return rc;
}

/* ---- a folder ---- */

static int add(struct places *p, const char *path, struct cvl_error *err)
{
	if (p->n >= PLACES_MOST)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: more than %d sessions",
				p->folder, PLACES_MOST);
	if (cvl_room(&p->list, p->n, &p->room, sizeof(*p->list)))
		return cvl_no_memory(err);
	p->list[p->n] = (struct place){ .path = strdup(path) };
	return p->list[p->n++].path ? 0 : cvl_no_memory(err);
}

static int scan(struct places *p, const char *folder, int depth, struct cvl_error *err)
{
	DIR *dir = opendir(folder);
	struct dirent *e;
	int rc = 0;

	if (!dir)
		return depth == DEPTH ? cvl_fail_errno(err, "read", folder) : 0;
	while (!rc && (e = readdir(dir))) {
		char path[CVL_PATH_MAX], file[CVL_PATH_MAX];

		if (*e->d_name == '.' || !cvl_path_join(path, folder, e->d_name) ||
		    !cvl_is_dir(path))
			continue;
		if (cvl_path_join(file, path, "session.json") && cvl_is_file(file))
			rc = add(p, path, err);
		else if (depth > 1)
			rc = scan(p, path, depth - 1, err);
	}
	closedir(dir);
	return rc;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct place *)a)->path, ((const struct place *)b)->path);
}

int places_scan(struct places *p, const char *folder, const struct cvl_view_opts *opts,
		struct cvl_error *err)
{
	int rc;

	p->opts = *opts;
	p->folder = strdup(folder);
	if (!p->folder)
		return cvl_no_memory(err);
	rc = scan(p, folder, DEPTH, err);
	if (!rc && !p->n)
		rc = cvl_fail(err, CVL_E_MISSING, CVL_NO_OFFSET, "%s: no session is in it", folder);
	if (p->n)
		qsort(p->list, p->n, sizeof(*p->list), by_path);
	return rc;
}

static void shut(struct place *x)
{
	if (x->open)
		model_close(&x->model);
	x->open = false;
	cvl_session_close(x->session);
	x->session = NULL;
}

void places_close(struct places *p)
{
	for (size_t i = 0; i < p->n; i++) {
		shut(&p->list[i]);
		free(p->list[i].path);
	}
	free(p->list);
	free(p->folder);
	*p = (struct places){ 0 };
}

static void make_room(struct places *p)
{
	struct place *oldest = NULL;
	size_t open = 0;

	for (size_t i = 0; i < p->n; i++) {
		struct place *x = &p->list[i];

		open += x->open;
		if (x->open && (!oldest || x->used < oldest->used))
			oldest = x;
	}
	if (open >= OPEN_MOST)
		shut(oldest);
}

struct model *places_opened(struct places *p, size_t i)
{
	struct place *x = &p->list[i];

	x->used = ++p->turn;
	return x->open ? &x->model : NULL;
}

int places_model(struct places *p, size_t i, struct model **m, struct cvl_error *err)
{
	struct place *x = &p->list[i];
	int rc;

	x->used = ++p->turn;
	*m = &x->model;
	if (x->open)
		return 0;
	make_room(p);
	rc = cvl_session_open(&x->session, x->path, NULL, err);
	rc = rc ? rc : model_open(&x->model, x->session, &p->opts, p->changed, p->ctx, err);
	x->open = !rc;
	if (rc)
		shut(x);
	return rc;
}
