/* SPDX-License-Identifier: MIT */
#include "store/maps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/knots.h"
#include "core/spill.h"
#include "store/jsonfile.h"

#define DIGITS 16
#define ENDING ".knots"
#define LONG_KNOTS 1024
#define FOLLOWER "follower"

_Static_assert(MAP_NAME == DIGITS + sizeof(ENDING), "a name is digits and ending");

static int place(char path[CVL_PATH_MAX], const char *folder, const char *name,
		 struct cvl_error *err)
{
	return cvl_path_join(path, folder, name) ?
		       0 :
		       cvl_fail(err, CVL_E_LIMIT, CVL_NO_OFFSET, "%s: path too long", folder);
}

int maps_lock(const char *folder, bool write)
{
	int fd;

	if (write)
		mkdir(folder, 0777); /* what is wrong with it is found when it is used */
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (fd >= 0 && flock(fd, write ? LOCK_EX : LOCK_SH) && errno == EINTR)
		;
	return fd;
}

void maps_unlock(int lock)
{
	if (lock >= 0)
		close(lock);
}

int maps_follow(const char *folder, int *lock, struct cvl_error *err)
{
	char path[CVL_PATH_MAX];
	int rc = place(path, folder, FOLLOWER, err);

	*lock = -1;
	if (!rc && mkdir(folder, 0777) && errno != EEXIST)
		rc = cvl_fail_errno(err, "create", folder);
	if (rc)
		return rc;
	*lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (*lock < 0)
		return cvl_fail_errno(err, "create", path);
	if (!flock(*lock, LOCK_EX | LOCK_NB))
		return 0;
	close(*lock);
	*lock = -1;
	return cvl_fail(err, CVL_E_ENV, CVL_NO_OFFSET,
			"%s: another process follows this session and keeps its clock maps",
			folder);
}

void maps_follow_end(const char *folder, int lock)
{
	char path[CVL_PATH_MAX];

	if (!place(path, folder, FOLLOWER, NULL))
		unlink(path);
	close(lock);
	rmdir(folder); /* if there is nothing else in it */
}

static bool is_name(const char *name)
{
	return strspn(name, "0123456789abcdef") == DIGITS && !strcmp(name + DIGITS, ENDING);
}

int maps_put(const char *folder, const struct cvl_map *map, char name[MAP_NAME],
	     struct cvl_error *err)
{
	char digest[CVL_MAP_DIGEST], temp[CVL_PATH_MAX], path[CVL_PATH_MAX];
	const char *is = cvl_map_path(map), *slash = is ? strrchr(is, '/') : NULL;
	int rc = place(temp, folder, "new", err);

	if (!rc && slash && is_name(slash + 1) && !place(path, folder, slash + 1, NULL) &&
	    !strcmp(path, is)) {
		snprintf(name, MAP_NAME, "%s", slash + 1);
		return 0;
	}
	if (!rc && mkdir(folder, 0777) && errno != EEXIST)
		rc = cvl_fail_errno(err, "create", folder);
	if (!rc)
		unlink(temp); /* of a process that was killed */
	rc = rc ? rc : cvl_map_save(map, temp, digest, err);
	if (rc)
		return rc;
	snprintf(name, MAP_NAME, "%.*s%s", DIGITS, digest, ENDING);
	rc = place(path, folder, name, err);
	if (!rc && rename(temp, path))
		rc = cvl_fail_errno(err, "rename", temp);
	if (rc)
		unlink(temp);
	return rc;
}

int maps_get(struct cvl_map **map, const char *folder, const char *name, struct cvl_error *err)
{
	char path[CVL_PATH_MAX];
	int rc;

	if (!is_name(name))
		return cvl_fail(err, CVL_E_SYNTAX, 0, "'%s' is not the name of a map", name);
	rc = place(path, folder, name, err);
	return rc ? rc : cvl_map_load(map, path, err);
}

int maps_move(const char *folder, struct cvl_map **map, struct cvl_error *err)
{
	struct cvl_map *moved;
	char name[MAP_NAME];
	int rc = maps_put(folder, *map, name, err);

	rc = rc ? rc : maps_get(&moved, folder, name, err);
	if (!rc) {
		cvl_map_free(*map);
		*map = moved;
	}
	return rc;
}

void maps_lay_down(struct cvl_map **map)
{
	char path[40];
	struct cvl_map *down;
	int fd;

	if (cvl_map_path(*map) || cvl_map_ends(*map, NULL, NULL) < LONG_KNOTS)
		return;
	fd = spill_open();
	if (fd < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!cvl_map_save(*map, path, NULL, NULL) && !cvl_map_load(&down, path, NULL)) {
		cvl_map_free(*map);
		*map = down;
	}
	close(fd);
}

/* ---- a map that grows ---- */

struct maps_growing {
	struct knots_writer *w;
	char folder[CVL_PATH_MAX], name[MAP_NAME];
	bool named; /* its name survives a crash of the machine */
};

static int random_name(char name[MAP_NAME], struct cvl_error *err)
{
	uint64_t digits;

	if (getrandom(&digits, sizeof(digits), 0) != sizeof(digits))
		return cvl_fail_errno(err, "draw", "a random name");
	snprintf(name, MAP_NAME, "%016" PRIx64 ENDING, digits);
	return 0;
}

int maps_grow(struct maps_growing **out, const char *folder, char name[MAP_NAME],
	      struct cvl_error *err)
{
	struct maps_growing *g = calloc(1, sizeof(*g));
	char path[CVL_PATH_MAX];
	int lock, rc;

	*out = NULL;
	if (!g)
		return cvl_no_memory(err);
	rc = random_name(g->name, err);
	rc = rc ? rc : place(path, folder, g->name, err);
	if (!rc) {
		lock = maps_lock(folder, true); /* it is not removed before the file is in it */
		rc = knots_create(&g->w, path, err);
		maps_unlock(lock);
	}
	if (rc) {
		free(g);
		return rc;
	}
	snprintf(g->folder, sizeof(g->folder), "%s", folder);
	memcpy(name, g->name, MAP_NAME);
	*out = g;
	return 0;
}

int maps_grow_put(struct maps_growing *g, const struct cvl_knot *k, struct cvl_error *err)
{
	return knots_put(g->w, k, err);
}

int maps_grow_commit(struct maps_growing *g, const struct cvl_map_spec *spec, bool durable,
		     struct cvl_error *err)
{
	int rc = knots_commit(g->w, spec, durable, err);

	if (rc || !durable || g->named)
		return rc;
	rc = cvl_sync_dir(g->folder, err);
	rc = rc ? rc : cvl_sync_parent(g->folder, err);
	g->named = !rc;
	return rc;
}

const char *maps_grow_name(const struct maps_growing *g)
{
	return g->name;
}

void maps_grow_end(struct maps_growing *g)
{
	if (g)
		knots_finish(g->w, NULL, NULL, NULL);
	free(g);
}

int maps_sync(const char *folder, char (*name)[MAP_NAME], size_t n, struct cvl_error *err)
{
	char path[CVL_PATH_MAX];
	int rc = 0;

	if (!n)
		return 0;
	for (size_t i = 0; i < n && !rc; i++) {
		int fd = -1;

		rc = place(path, folder, name[i], err);
		if (rc)
			break;
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || fsync(fd))
			rc = cvl_fail_errno(err, "sync", path);
		if (fd >= 0)
			close(fd);
	}
	rc = rc ? rc : cvl_sync_dir(folder, err);
	return rc ? rc : cvl_sync_parent(folder, err);
}

/* A file of others that did not get its name: observations.1234.new */
static bool is_unfinished(const char *name)
{
	const size_t n = strlen(name);

	return n > 4 && !strcmp(name + n - 4, ".new");
}

void maps_clean(const char *folder, char (*name)[MAP_NAME], size_t n,
		bool (*see)(void *ctx, const char *path), void *ctx)
{
	char path[CVL_PATH_MAX];
	const struct dirent *d;
	DIR *dir = opendir(folder);

	while (dir && (d = readdir(dir))) {
		bool used = false;

		for (size_t i = 0; i < n && !used; i++)
			used = !strcmp(d->d_name, name[i]);
		if (!used &&
		    (is_name(d->d_name) || !strcmp(d->d_name, "new") ||
		     (see && is_unfinished(d->d_name))) &&
		    !place(path, folder, d->d_name, NULL) && (!see || see(ctx, path)))
			unlink(path);
	}
	if (dir)
		closedir(dir);
	rmdir(folder);
}

/* The files that @root, a sync.json, names. */
static size_t names_in(const json_t *root, char (*name)[MAP_NAME])
{
	const json_t *clock, *map;
	size_t n = 0, i, k;

	json_array_foreach(json_object_get(root, "clocks"), i, clock)
		json_array_foreach(json_object_get(clock, "maps"), k, map)
	{
		const char *file = json_string_value(json_object_get(map, "file"));

		if (name && file)
			snprintf(name[n], MAP_NAME, "%s", file);
		n += file != NULL;
	}
	return n;
}

int maps_named(const char *path, char (**name)[MAP_NAME], size_t *n, size_t more,
	       struct cvl_error *err)
{
	json_t *root = NULL;

	*name = NULL;
	*n = 0;
	if (cvl_is_file(path) &&
	    !(root = jsonfile_read_as_it_is(path, "coeval_sync", JSONFILE_SYNC, err)))
		return err ? (int)err->code : CVL_E_SYNTAX;
	*name = malloc((names_in(root, NULL) + more + 1) * sizeof(**name));
	if (*name)
		*n = names_in(root, *name);
	json_decref(root);
	return *name ? 0 : cvl_no_memory(err);
}

static int clean_one(const struct cvl_session *s, const char *file, const char *maps,
		     bool (*see)(void *ctx, const char *path), void *ctx, struct cvl_error *err)
{
	char path[CVL_PATH_MAX], folder[CVL_PATH_MAX], (*name)[MAP_NAME];
	struct cvl_error inner;
	size_t n;
	int rc, lock, follower;

	if (!cvl_path_join(path, cvl_session_path(s), file) ||
	    !cvl_path_join(folder, cvl_session_path(s), maps) || !cvl_is_dir(folder))
		return 0;
	if (!maps_follow(folder, &follower, &inner))
		maps_follow_end(folder, follower); /* left by one that was killed */
	lock = maps_lock(folder, true);
	rc = maps_named(path, &name, &n, 0, &inner);
	if (!rc)
		maps_clean(folder, name, n, see, ctx);
	maps_unlock(lock);
	free(name);
	/* of a file that cannot be read it is unknown what it names */
	return rc == CVL_E_NOMEM ? cvl_no_memory(err) : 0;
}

int maps_clean_session(const struct cvl_session *s, bool (*see)(void *ctx, const char *path),
		       void *ctx, struct cvl_error *err)
{
	int rc = clean_one(s, "sync.json", MAPS_OF_SYNC, see, ctx, err);

	return rc ? rc : clean_one(s, "truth.json", MAPS_OF_TRUTH, see, ctx, err);
}
