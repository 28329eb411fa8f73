/* SPDX-License-Identifier: MIT */
#include "uplinkopts.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <strings.h>
#include <sys/signalfd.h>

#define AT(member) offsetof(struct cvl_uplink_opts, member)

const struct cli_option uplink_options[] = {
	{ "server", 0, "URL", OPTION_TEXT, AT(url),
	  "NATS server with JetStream: nats://HOST:PORT, or several with commas between them" },
	{ "testbed", 0, "NAME", OPTION_TEXT, AT(testbed),
	  "which of several that share a server (default: coeval)" },
	{ "key", 0, "FILE", OPTION_FILE, AT(key),
	  "who we are: a .nk file of `coeval collect keys`, or a creds file of NATS" },
	{ "ca", 0, "FILE", OPTION_FILE, AT(ca),
	  "speak TLS, and check the server by this certificate" },
	{ 0 },
};

int take_size(const struct verb *verb, void *to, char *text)
{
	static const char units[] = "kMGT";
	char *end;
	double v = strtod(text, &end), unit = 1;
	const char *u;

	end += strspn(end, " ");
	if (end != text && *end && (u = strchr(units, *end == 'K' ? 'k' : *end))) {
		const double step = end[1] == 'i' ? 1024 : 1000;

		for (const char *k = units; k <= u; k++)
			unit *= step;
		end += 1 + (end[1] == 'i');
	}
	end += *end == 'B';
	if (*end || end == text || !(v > 0) || v * unit > 9e18)
		return cli_usage(verb, "'%s' is not a size; expected one like 500MB or 64GiB",
				 text);
	*(uint64_t *)to = (uint64_t)(v * unit);
	return 0;
}

void uplink_tell(void *progress, bool problem, const char *text)
{
	progress_clear(progress);
	fprintf(stderr, "coeval: %s%s\n", problem ? "warning: " : "", text);
}

void uplink_exit(int status)
{
	fflush(NULL);
	_exit(status);
}

int cli_stop_fd(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}
