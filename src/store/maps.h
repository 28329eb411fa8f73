/* SPDX-License-Identifier: MIT */
/**
 * The clock maps of a session as files of knots, each named by a digest of what it holds: a folder
 * may have those of two versions of sync.json (or truth.json) while one replaces the other. A map
 * that grows has a random name.
 */
#ifndef STORE_MAPS_H
#define STORE_MAPS_H

#include <coeval/clockmap.h>
#include <coeval/files.h>
#include <coeval/session.h>
#include <coeval/sync.h>

/** Folders below the session. */
#define MAPS_OF_SYNC "derived"
#define MAPS_OF_TRUTH "truth"

/** "0123456789abcdef.knots" and NUL. */
#define MAP_NAME 23

/**
 * Lock @folder against others who write or clean it, and wait for them; to write, which creates it
 * if need be, also against readers. Returns a descriptor for maps_unlock(), or -1 if it cannot be
 * locked.
 */
int maps_lock(const char *folder, bool write);
void maps_unlock(int lock);

/**
 * Lock @folder, which is created if need be, as the process whose maps grow in it; others write and
 * read meanwhile. CVL_E_ENV: another process has it. The descriptor is for maps_follow_end().
 */
int maps_follow(const char *folder, int *lock, struct cvl_error *err);
void maps_follow_end(const char *folder, int lock);

/**
 * Write @map to @folder, which is created if need be, unless it is a file of it already, and tell
 * its name.
 */
int maps_put(const char *folder, const struct cvl_map *map, char name[MAP_NAME],
	     struct cvl_error *err);

/** Open map @name of @folder. CVL_E_SYNTAX if it is no name of a map. */
int maps_get(struct cvl_map **map, const char *folder, const char *name, struct cvl_error *err);

/**
 * Move *@map from memory to a file of @folder. A later maps_put() finds it there: for those who
 * make many maps before they can save what names them.
 */
int maps_move(const char *folder, struct cvl_map **map, struct cvl_error *err);

/**
 * Move *@map from memory to an unnamed file, if it is long and there can be one. Its answers stay
 * the same.
 */
void maps_lay_down(struct cvl_map **map);

/**
 * A map of a folder that grows while others read it: they see it as it was last committed when they
 * opened it. One thread may use it. A call that failed may be repeated.
 */
struct maps_growing;

/**
 * Begin one in @folder, which is created if need be, and tell its name. There is nothing to read
 * before the first commit, and maps_clean() removes it if no one names it.
 */
int maps_grow(struct maps_growing **g, const char *folder, char name[MAP_NAME],
	      struct cvl_error *err);

/** Append a knot: CVL_E_ORDER, CVL_E_RANGE (its bound), or as cvl_fail_errno(). */
int maps_grow_put(struct maps_growing *g, const struct cvl_knot *k, struct cvl_error *err);

/**
 * Let others see what was put, with @spec as for cvl_map_new(), whose knots are ignored. With
 * @durable it survives a crash of the machine, else of the process. CVL_E_RANGE: no knots yet. That
 * the file was removed meanwhile is told by sync_save_growing() alone.
 */
int maps_grow_commit(struct maps_growing *g, const struct cvl_map_spec *spec, bool durable,
		     struct cvl_error *err);

const char *maps_grow_name(const struct maps_growing *g);

/** What was committed stays. NULL is allowed. */
void maps_grow_end(struct maps_growing *g);

/** Let the maps @name survive a crash of the machine. */
int maps_sync(const char *folder, char (*name)[MAP_NAME], size_t n, struct cvl_error *err);

/**
 * Remove maps of @folder that are not among @name, then @folder if it is empty. What cannot be
 * removed stays. @see, if not NULL, is called with each path before; false keeps it.
 */
void maps_clean(const char *folder, char (*name)[MAP_NAME], size_t n,
		bool (*see)(void *ctx, const char *path), void *ctx);

/**
 * The maps that @path, a sync.json, names; none if there is no such file. *@name, to be freed, has
 * room for @more. Fails as jsonfile_read().
 */
int maps_named(const char *path, char (**name)[MAP_NAME], size_t *n, size_t more,
	       struct cvl_error *err);

/** The same for the folders of sync.json and truth.json, by what these name. */
int maps_clean_session(const struct cvl_session *s, bool (*see)(void *ctx, const char *path),
		       void *ctx, struct cvl_error *err);

/**
 * As cvl_sync_save(), for many times a minute. After a crash of the machine, not of the process,
 * maps may be missing. Those of the file that was replaced stay until the next time, so that
 * whoever has just read it finds them.
 */
int sync_save_soon(const struct cvl_sync *sync, const struct cvl_session *session,
		   struct cvl_error *err);

/**
 * Write sync.json with growing maps: @name has that of each clock of @sync, "" if it has none; maps
 * of @sync itself are not written. Each must have been committed, and still be there: fails as
 * cvl_map_load(). Then maps that sync.json does not name are removed.
 */
int sync_save_growing(const struct cvl_sync *sync, const struct cvl_session *session,
		      char (*name)[MAP_NAME], struct cvl_error *err);

#endif
