/* SPDX-License-Identifier: MIT */
#include "task/view.h"

#include <coeval/array.h>

#include <stdlib.h>
#include <string.h>

#include <coeval/files.h>

#define NAMES_MAX 4096
#define NAMES_BYTES (1u << 20)

int task_names_add(struct task_view *v, const char *text, struct cvl_error *err)
{
	char *end;
	uint64_t number = strtoull(text, &end, 10);

	if (end == text || (*end != '=' && *end != ' ' && *end != '\t'))
		return 0;
	end += 1 + strspn(end + 1, " \t");
	if (!*end)
		return 0;
	if (v->n_aliases == NAMES_MAX)
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "more than %d names of tasks",
				NAMES_MAX);
	if (cvl_room(&v->alias, v->n_aliases, &v->room_aliases, sizeof(*v->alias)))
		return cvl_no_memory(err);
	v->alias[v->n_aliases] = (struct task_alias){ number, strdup(end) };
	if (!v->alias[v->n_aliases].name)
		return cvl_no_memory(err);
	v->n_aliases++;
	return 1;
}

int task_names_load(struct task_view *v, const char *path, struct cvl_error *err)
{
	size_t n;
	char *text = cvl_read_whole(path, NAMES_BYTES, &n, err), *line, *next;
	int rc = text ? 1 : (int)err->code;

	for (line = text; line && rc == 1; line = next) {
		size_t len;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		line[strcspn(line, "#\r")] = '\0';
		line += strspn(line, " \t");
		len = strlen(line);
		while (len && (line[len - 1] == ' ' || line[len - 1] == '\t'))
			line[--len] = '\0';
		if (!*line)
			continue;
		rc = task_names_add(v, line, err);
		if (!rc)
			rc = cvl_fail(err, CVL_E_SYNTAX, (uint64_t)(line - text),
				      "%s:%llu: not a number and a name, such as `3 fft`", path,
				      (unsigned long long)(line - text));
	}
	free(text);
	return rc < 0 ? rc : 0;
}

void task_names_free(struct task_view *v)
{
	for (size_t i = 0; i < v->n_aliases; i++)
		free(v->alias[i].name);
	free(v->alias);
}

const char *task_view_name(const struct task_view *v, const struct cvl_task *t, char text[24])
{
	if (t->name)
		return t->name;
	for (size_t i = 0; i < v->n_aliases; i++)
		if (v->alias[i].number == t->number)
			return v->alias[i].name;
	snprintf(text, 24, "%llu", (unsigned long long)t->number);
	return text;
}
