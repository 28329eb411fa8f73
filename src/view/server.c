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
#include "view/page.h"

#define TOKEN_BYTES 16
#define CONNECTIONS_MAX 64
#define IDLE_S 30

struct cvl_view {
	struct model model;
	struct MHD_Daemon *daemon;
	char token[2 * TOKEN_BYTES + 1];
	char hosts[2][40]; /* names it is reached by */
	char address[120];
};

/* ---- who may ask ---- */

/* Takes the same time wherever they differ. */
static bool is_token(const struct cvl_view *v, const char *given)
{
	unsigned char differ = 0;

	if (!given || strlen(given) != 2 * TOKEN_BYTES)
		return false;
	for (size_t i = 0; i < 2 * TOKEN_BYTES; i++)
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

static enum MHD_Result respond_data(struct cvl_view *v, struct MHD_Connection *c, const char *what,
				    bool changes)
{
	const struct view_query query = { parameter, c, changes };
	struct cvl_out *o = malloc(sizeof(*o));
	const char *type = "text/plain; charset=utf-8";
	struct cvl_error err;
	enum MHD_Result done;
	int rc;

	if (!o)
		return MHD_NO;
	out_keep(o, false);
	rc = view_answer(&v->model, what, &query, o, &type, &err);
	cvl_out_drain(o);
	if (rc || o->error) {
		free(o->kept);
		free(o);
		return respond_text(c,
				    rc == CVL_E_MISSING ? MHD_HTTP_NOT_FOUND :
				    rc == CVL_E_USAGE   ? MHD_HTTP_BAD_REQUEST :
							  MHD_HTTP_INTERNAL_SERVER_ERROR,
				    rc ? err.text : "out of memory");
	}
	done = respond(c, MHD_HTTP_OK, type,
		       MHD_create_response_from_buffer(o->n_kept, o->kept, MHD_RESPMEM_MUST_FREE));
	free(o);
	return done;
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
	if (!strncmp(url, data, sizeof(data) - 1)) {
		if (!is_token(v, MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Coeval-Token")))
			return respond_text(
				c, MHD_HTTP_FORBIDDEN,
				"open the whole address that coeval view printed, with what follows the #\n");
		return respond_data(v, c, url + sizeof(data) - 1, changes);
	}
	file = page_find(url);
	if (!file)
		return respond_text(c, MHD_HTTP_NOT_FOUND, "no such page\n");
	return respond(c, MHD_HTTP_OK, file->type,
		       MHD_create_response_from_buffer(*file->n, (void *)(uintptr_t)file->bytes,
						       MHD_RESPMEM_PERSISTENT));
}

/* ---- begin and end ---- */

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
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL, port, NULL, NULL, handle, v,
		MHD_OPTION_SOCK_ADDR, &at, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S, MHD_OPTION_END);
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

int cvl_view_open(struct cvl_view **out, struct cvl_session *session,
		  const struct cvl_view_opts *opts, struct cvl_error *err)
{
	struct cvl_view *v = calloc(1, sizeof(*v));
	int rc;

	*out = NULL;
	if (!v)
		return cvl_no_memory(err);
	rc = model_open(&v->model, session, opts, err);
	rc = rc ? rc : make_token(v, err);
	rc = rc ? rc : listen_on(v, opts->port, err);
	if (rc)
		cvl_view_close(v);
	else
		*out = v;
	return rc;
}

void cvl_view_close(struct cvl_view *v)
{
	if (!v)
		return;
	if (v->daemon)
		MHD_stop_daemon(v->daemon);
	model_close(&v->model);
	free(v);
}

const char *cvl_view_address(const struct cvl_view *v)
{
	return v->address;
}

#else

int cvl_view_open(struct cvl_view **out, struct cvl_session *session,
		  const struct cvl_view_opts *opts, struct cvl_error *err)
{
	(void)session, (void)opts;
	*out = NULL;
	return cvl_fail(
		err, CVL_E_UNSUPPORTED, CVL_NO_OFFSET,
		"this coeval was built without libmicrohttpd; install libmicrohttpd-dev and build it again");
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
