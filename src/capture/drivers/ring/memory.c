/* SPDX-License-Identifier: MIT */
#include "capture/drivers/ring/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/drivers/ring/guard.h"
#include "wire/trace_ring.h"

static int bad_device(const char *text, struct cvl_error *err)
{
	return cvl_hint(
		err, CVL_HINT_DEVICE,
		cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
			 "'%s': name the memory that holds rings: [NAME=]PATH[@OFFSET[+BYTES]],...",
			 text));
}

static int read_device(struct memory *m, const char *text, struct cvl_error *err)
{
	char copy[CVL_PATH_MAX], *path = copy, *at, *plus, *end;

	*m = (struct memory){ 0 };
	if ((size_t)snprintf(copy, sizeof(copy), "%s", text) >= sizeof(copy))
		return bad_device(text, err);
	at = strrchr(copy, '@');
	if (at) {
		*at = '\0';
		m->offset = strtoull(at + 1, &end, 0);
		plus = *end == '+' ? end + 1 : NULL;
		if (plus)
			m->length = strtoull(plus, &end, 0);
		if (*end || end == at + 1 || end == plus || (plus && !m->length))
			return bad_device(text, err);
	}
	end = strchr(copy, '=');
	if (end) {
		*end = '\0';
		path = end + 1;
		snprintf(m->name, sizeof(m->name), "%.90s", copy);
	} else {
		cvl_path_base(m->name, sizeof(m->name), copy);
		if (strrchr(m->name, '.') > m->name)
			*strrchr(m->name, '.') = '\0';
	}
	snprintf(m->path, sizeof(m->path), "%s", path);
	return *path && *m->name ? 0 : bad_device(text, err);
}

int memory_read(struct memory_list *l, const char *text, struct cvl_error *err)
{
	char *copy = text ? strdup(text) : NULL, *rest = NULL;
	int rc = 0;

	*l = (struct memory_list){ .n = 0 };
	if (!copy)
		return bad_device(text ? text : "", err);
	for (char *one = strtok_r(copy, ",", &rest); one && !rc; one = strtok_r(NULL, ",", &rest)) {
		if (l->n == MEMORIES_MAX)
			rc = cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "more than %d memories",
				      MEMORIES_MAX);
		else
			rc = read_device(&l->item[l->n++], one, err);
	}
	if (!rc && !l->n)
		rc = bad_device(text, err);
	free(copy);
	return rc;
}

int memory_map(struct memory *m, struct cvl_error *err)
{
	const long page = sysconf(_SC_PAGESIZE);
	uint64_t length = m->length;
	struct stat st;
	void *at;
	int fd = open(m->path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ?
			       0 :
		       errno == EACCES || errno == EPERM ?
			       cvl_fail(
				       err, CVL_E_ENV, CVL_NO_OFFSET,
				       "%s: no permission to read it, and to say in it what was read",
				       m->path) :
			       cvl_fail_errno(err, "open", m->path);
	if (fstat(fd, &st)) {
		close(fd);
		return cvl_fail_errno(err, "look at", m->path);
	}
	if (S_ISREG(st.st_mode)) {
		uint64_t left =
			(uint64_t)st.st_size > m->offset ? (uint64_t)st.st_size - m->offset : 0;

		length = !length || length > left ? left : length;
	}
	if (m->offset % (uint64_t)page || (!length && !S_ISREG(st.st_mode))) {
		close(fd);
		return cvl_hint(
			err, CVL_HINT_DEVICE,
			cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				 "%s: its part needs an offset of whole pages (%ld) and a length: "
				 "NAME=%s@OFFSET+BYTES",
				 m->path, page, m->path));
	}
	if (length < sizeof(struct tracer_ring)) {
		close(fd);
		return 0; /* it may still grow */
	}
	at = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)m->offset);
	close(fd);
	if (at == MAP_FAILED)
		return cvl_fail_errno(err, "map", m->path);
	if (!guard_add(at, length)) {
		munmap(at, length);
		return cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET,
				"%s: too many memories are mapped already", m->path);
	}
	m->at = at;
	m->bytes = length;
	m->device = st.st_dev;
	m->inode = st.st_ino;
	return 0;
}

enum memory_state memory_look(const struct memory *m)
{
	struct stat st;

	if (guard_hit(m->at))
		return MEMORY_CUT;
	if (stat(m->path, &st) || st.st_dev != m->device || st.st_ino != m->inode)
		return MEMORY_REPLACED;
	return S_ISREG(st.st_mode) && (uint64_t)st.st_size < m->offset + m->bytes ? MEMORY_CUT :
										    MEMORY_THERE;
}

void memory_unmap(struct memory_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->item[i].at) {
			munmap(l->item[i].at, l->item[i].bytes);
			guard_remove(l->item[i].at);
		}
	l->n = 0;
}
