/* SPDX-License-Identifier: MIT */
#include "capture/drivers/ring/guard.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

struct guard {
	volatile uintptr_t at;
	volatile size_t n;
	volatile sig_atomic_t hit;
};

static struct guard guards[GUARDS_MAX];
static volatile size_t page;
static struct sigaction before;

static void on_bus_error(int signal, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)info->si_addr;

	(void)signal;
	(void)context;
	for (size_t i = 0; i < GUARDS_MAX; i++) {
		struct guard *g = &guards[i];

		if (!g->n || at < g->at || at - g->at >= g->n)
			continue;
		g->hit = 1;
		if (mmap((void *)(at & ~(page - 1)), page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
			return;
	}
	/* not ours: it will recur, and take its usual course */
	sigaction(SIGBUS, &before, NULL);
}

static struct guard *find(uintptr_t at)
{
	for (size_t i = 0; i < GUARDS_MAX; i++)
		if (guards[i].at == at)
			return &guards[i];
	return NULL;
}

bool guard_add(void *memory, size_t n)
{
	struct sigaction now = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO };
	struct sigaction there;
	struct guard *g = find(0);

	page = (size_t)sysconf(_SC_PAGESIZE);
	sigemptyset(&now.sa_mask);
	if (!g || sigaction(SIGBUS, NULL, &there))
		return false;
	if (there.sa_sigaction != on_bus_error) {
		before = there;
		if (sigaction(SIGBUS, &now, NULL))
			return false;
	}
	g->hit = 0;
	g->n = n;
	g->at = (uintptr_t)memory;
	return true;
}

bool guard_hit(const void *memory)
{
	const struct guard *g = find((uintptr_t)memory);

	return g && g->hit;
}

void guard_remove(const void *memory)
{
	struct guard *g = find((uintptr_t)memory);

	if (g)
		*g = (struct guard){ 0 };
}
