/* SPDX-License-Identifier: MIT */
/* HTTP: who may ask, and what for. */
#include <coeval/view.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_MICROHTTPD

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <sys/random.h>

#include "core/out_keep.h"
#include "view/answers.h"
#include "view/events.h"
#include "view/metrics.h"
#include "view/page.h"
#include "view/places.h"

#define TOKEN_BYTES 16
#define TOKEN_MOST 128
#define TOKEN_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
#define CONNECTIONS_MAX 64
#define IDLE_S 30

struct cvl_view {
	struct places places;
	struct events *events;
	struct MHD_Daemon *daemon;
	char token[TOKEN_MOST + 1];
	char hosts[2][40]; /* names it is reached by */
	char address[80 + TOKEN_MOST];
};

/* ---- who may ask ---- */

/* Takes the same time wherever they differ. */
static bool is_token(const struct cvl_view *v, const char *given)
{
	const size_t n = strlen(v->token);
	unsigned char differ = 0;

	if (!given || strlen(given) != n)
		return false;
	for (size_t i = 0; i < n; i++)
		differ |= (unsigned char)(v->token[i] ^ given[i]);
	return !differ;
}

static bool is_host(const struct cvl_view *v, const char *host)
{
	return host && (!strcmp(host, v->hosts[0]) || !strcmp(host, v->hosts[1]));
}

/* ---- answers ---- */

static enum MHD_Result respond(struct MHD_Connection *c, unsigned status, const char *type,
			       struct MHD_Response *r)
{
	static const char *const headers[][2] = {
		{ "Content-Security-Policy",
		  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
		  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" },
		{ "X-Content-Type-Options", "nosniff" },
		{ "Referrer-Policy", "no-referrer" },
		{ "Cross-Origin-Resource-Policy", "same-origin" },
		{ "Cross-Origin-Opener-Policy", "same-origin" },
		{ "Cache-Control", "no-store" },
	};
	enum MHD_Result done;

	if (!r)
		return MHD_NO;
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		MHD_add_response_header(r, headers[i][0], headers[i][1]);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	done = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return done;
}

static enum MHD_Result respond_text(struct MHD_Connection *c, unsigned status, const char *text)
{
	return respond(c, status, "text/plain; charset=utf-8",
		       MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
						       MHD_RESPMEM_MUST_COPY));
}

static const char *parameter(void *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
}

/* The sessions in the folder, or of the only one its name. */
static void put_places(const struct places *p, struct cvl_out *o)
{
	cvl_out_text(o, "{\"folder\":");
	cvl_out_json(o, p->folder ? p->folder : "", p->folder ? strlen(p->folder) : 0);
	cvl_out_text(o, ",\"sessions\":[");
	for (size_t i = 0; i < p->n; i++) {
		if (i)
			cvl_out_char(o, ',');
		cvl_out_json(o, p->list[i].path, strlen(p->list[i].path));
	}
	cvl_out_text(o, "]}");
}

/* Number of the session that is asked about: the first, if none is named. */
static bool place_of(const struct cvl_view *v, struct MHD_Connection *c, size_t *i)
{
	const char *text = parameter(c, "session");
	char *end;

	*i = text ? strtoull(text, &end, 10) : 0;
	return (!text || (*text >= '0' && *text <= '9' && !*end)) && *i < v->places.n;
}

#define METRICS "metrics" /* the only request that is not the page's */

static int put_answer(struct cvl_view *v, struct MHD_Connection *c, const char *what, bool changes,
		      struct cvl_out *o, const char **type, struct cvl_error *err)
{
	const struct view_query query = { parameter, c, changes };
	struct model *m;
	size_t i;
	int rc;

	if (!strcmp(what, "places")) {
		*type = "application/json";
		put_places(&v->places, o);
		return 0;
	}
	if (!place_of(v, c, &i))
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET, "session is out of range");
	rc = places_model(&v->places, i, &m, err);
	if (rc)
		return rc;
	if (strcmp(what, METRICS) != 0)
		return view_answer(m, what, &query, o, type, err);
	*type = "text/plain; version=0.0.4; charset=utf-8";
	return view_metrics(m, o, err);
}

static enum MHD_Result respond_data(struct cvl_view *v, struct MHD_Connection *c, const char *what,
				    bool changes)
{
	struct cvl_out *o = malloc(sizeof(*o));
	const char *type = "text/plain; charset=utf-8";
	struct cvl_error err;
	enum MHD_Result done;
	int rc;

	if (!o)
		return MHD_NO;
	out_keep(o, false);
	rc = put_answer(v, c, what, changes, o, &type, &err);
	cvl_out_drain(o);
	if (rc || o->error) {
		free(o->kept);
		free(o);
		return respond_text(c,
				    rc == CVL_E_MISSING ? MHD_HTTP_NOT_FOUND :
				    rc == CVL_E_USAGE || rc == CVL_E_LIMIT ?
							  MHD_HTTP_BAD_REQUEST :
							  MHD_HTTP_INTERNAL_SERVER_ERROR,
				    rc ? err.text : "out of memory");
	}
	done = respond(c, MHD_HTTP_OK, type,
		       MHD_create_response_from_buffer(o->n_kept, o->kept, MHD_RESPMEM_MUST_FREE));
	free(o);
	return done;
}

/* What is new, for as long as the page is there. */
static enum MHD_Result respond_events(struct cvl_view *v, struct MHD_Connection *c)
{
	struct cvl_error err;
	struct model *m;
	size_t i;

	if (!place_of(v, c, &i))
		return respond_text(c, MHD_HTTP_BAD_REQUEST, "session is out of range");
	if (places_model(&v->places, i, &m, &err))
		return respond_text(c, MHD_HTTP_INTERNAL_SERVER_ERROR, err.text);
	return respond(c, MHD_HTTP_OK, "text/event-stream", events_stream(v->events, c, i));
}

/* By the page's header, or, of whoever collects metrics, by the usual one. */
static bool may_ask(const struct cvl_view *v, struct MHD_Connection *c)
{
	static const char scheme[] = "Bearer ";
	const char *bearer =
		MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);

	return is_token(v, MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Coeval-Token")) ||
	       (bearer && !strncmp(bearer, scheme, sizeof(scheme) - 1) &&
		is_token(v, bearer + sizeof(scheme) - 1));
}

static enum MHD_Result handle(void *ctx, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_bytes, void **state)
{
	static const char data[] = "/api/";
	struct cvl_view *v = ctx;
	const struct page_file *file;
	bool changes;

	(void)version, (void)upload;
	if (!*state) { /* the headers are there, a body may follow */
		*state = v;
		return MHD_YES;
	}
	if (*upload_bytes) {
		*upload_bytes = 0;
		return MHD_YES;
	}
	if (!is_host(v, MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST)))
		return respond_text(c, MHD_HTTP_MISDIRECTED_REQUEST,
				    "requests for this host name are not answered\n");
	changes = !strcmp(method, MHD_HTTP_METHOD_POST) && !strcmp(url, "/api/note");
	if (!changes && strcmp(method, MHD_HTTP_METHOD_GET) != 0)
		return respond_text(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n");
	if (!strncmp(url, data, sizeof(data) - 1) || !strcmp(url, "/" METRICS)) {
		if (!may_ask(v, c))
			return respond_text(
				c, MHD_HTTP_FORBIDDEN,
				"open the whole address that coeval view printed, with what follows the #\n");
		if (!strcmp(url, "/api/events") && !changes)
			return respond_events(v, c);
		return respond_data(v, c, url[1] == 'm' ? METRICS : url + sizeof(data) - 1,
				    changes);
	}
	file = page_find(url);
	if (!file)
		return respond_text(c, MHD_HTTP_NOT_FOUND, "no such page\n");
	return respond(c, MHD_HTTP_OK, file->type,
		       MHD_create_response_from_buffer(*file->n, (void *)(uintptr_t)file->bytes,
						       MHD_RESPMEM_PERSISTENT));
}

/* ---- begin and end ---- */

static int take_token(struct cvl_view *v, const char *given, struct cvl_error *err)
{
	const size_t n = strlen(given);

	if (n < TOKEN_BYTES || n > TOKEN_MOST || strspn(given, TOKEN_LETTERS) != n)
		return cvl_fail(err, CVL_E_USAGE, CVL_NO_OFFSET,
				"a secret has %d to %d letters, digits, - and _", TOKEN_BYTES,
				TOKEN_MOST);
	memcpy(v->token, given, n + 1);
	return 0;
}

static int make_token(struct cvl_view *v, struct cvl_error *err)
{
	unsigned char bytes[TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return cvl_fail_errno(err, "read random bytes from", "the system");
	for (size_t i = 0; i < TOKEN_BYTES; i++)
		sprintf(v->token + 2 * i, "%02x", bytes[i]);
	return 0;
}

static int listen_on(struct cvl_view *v, uint16_t port, struct cvl_error *err)
{
	const struct sockaddr_in at = { .sin_family = AF_INET,
					.sin_port = htons(port),
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const union MHD_DaemonInfo *info;

	errno = 0;
	v->daemon = MHD_start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_ALLOW_SUSPEND_RESUME, port,
		NULL, NULL, handle, v, MHD_OPTION_SOCK_ADDR, &at, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
		MHD_OPTION_END);
	if (!v->daemon) {
		char name[40];

		snprintf(name, sizeof(name), "127.0.0.1:%u", port);
		return cvl_fail_errno(err, "listen on", name);
	}
	info = MHD_get_daemon_info(v->daemon, MHD_DAEMON_INFO_BIND_PORT);
	port = info ? info->port : port;
	snprintf(v->hosts[0], sizeof(v->hosts[0]), "127.0.0.1:%u", port);
	snprintf(v->hosts[1], sizeof(v->hosts[1]), "localhost:%u", port);
	snprintf(v->address, sizeof(v->address), "http://%s/#%s", v->hosts[0], v->token);
	return 0;
}

/* @session, or what is in @folder. */
static int open_view(struct cvl_view **out, struct cvl_session *session, const char *folder,
		     const struct cvl_view_opts *opts, struct cvl_error *err)
{
	struct cvl_view *v = calloc(1, sizeof(*v));
	int rc;

	*out = NULL;
	if (!v)
		return cvl_no_memory(err);
	rc = opts->secret ? take_token(v, opts->secret, err) : make_token(v, err);
	rc = rc ? rc : events_open(&v->events, &v->places, err);
	v->places.changed = events_wake;
	v->places.ctx = v->events;
	if (!rc)
		rc = session ? places_open(&v->places, session, opts, err) :
			       places_scan(&v->places, folder, opts, err);
	rc = rc ? rc : listen_on(v, opts->port, err);
	if (rc)
		cvl_view_close(v);
	else
		*out = v;
	return rc;
}

int cvl_view_open(struct cvl_view **v, struct cvl_session *session,
		  const struct cvl_view_opts *opts, struct cvl_error *err)
{
	return open_view(v, session, NULL, opts, err);
}

int cvl_view_open_folder(struct cvl_view **v, const char *folder, const struct cvl_view_opts *opts,
			 struct cvl_error *err)
{
	return open_view(v, NULL, folder, opts, err);
}

void cvl_view_close(struct cvl_view *v)
{
	if (!v)
		return;
	if (v->events)
		events_end(v->events);
	if (v->daemon)
		MHD_stop_daemon(v->daemon);
	places_close(&v->places);
	events_close(v->events);
	free(v);
}

const char *cvl_view_address(const struct cvl_view *v)
{
	return v->address;
}

#else

static int built_without(struct cvl_view **out, struct cvl_error *err)
{
	*out = NULL;
	return cvl_fail(
		err, CVL_E_UNSUPPORTED, CVL_NO_OFFSET,
		"this coeval was built without libmicrohttpd; install libmicrohttpd-dev and build it again");
}

int cvl_view_open(struct cvl_view **v, struct cvl_session *session,
		  const struct cvl_view_opts *opts, struct cvl_error *err)
{
	(void)session, (void)opts;
	return built_without(v, err);
}

int cvl_view_open_folder(struct cvl_view **v, const char *folder, const struct cvl_view_opts *opts,
			 struct cvl_error *err)
{
	(void)folder, (void)opts;
	return built_without(v, err);
}

void cvl_view_close(struct cvl_view *v)
{
	(void)v;
}

const char *cvl_view_address(const struct cvl_view *v)
{
	(void)v;
	return "";
}

#endif
