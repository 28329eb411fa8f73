/* SPDX-License-Identifier: MIT */
/*
 * The first program of a Linux in an emulator: threads whose waits are scripted, while the kernel traces itself;
 * then the trace, and what each wait was for, go to a serial line. seed= and rounds= are of the kernel's command
 * line.
 *
 * A line of a wait: "wait TID BEGIN END WHAT BY", times by the processor's counter, which the trace is stamped
 * with. BY: who ended it, a thread; 0: WHAT tells.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <net/if.h>
#include <x86intrin.h>

#define TRACING "/sys/kernel/tracing/"
#define WAITS_MAX 100000

struct waited {
	int tid, by;
	uint64_t begin, end;
	const char *what;
};

/* Shared with the processes that fork: in one that does, others wait for its memory. */
static struct list {
	pthread_mutex_t lock;
	size_t n;
	struct waited at[WAITS_MAX];
} * list;

static unsigned rounds;

static int self(void)
{
	return (int)syscall(SYS_gettid);
}

/* A name that no other has. */
static void name_it(void)
{
	char name[16];

	snprintf(name, sizeof(name), "w%d", self());
	prctl(PR_SET_NAME, name);
}

static void die(const char *what)
{
	printf("linux_init: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	sync();
	reboot(RB_POWER_OFF);
}

static unsigned draw(unsigned *state, unsigned below)
{
	*state = *state * 1103515245 + 12345;
	return (*state >> 16) % below;
}

static void note(const char *what, int by, uint64_t begin, uint64_t end)
{
	pthread_mutex_lock(&list->lock);
	if (list->n < WAITS_MAX)
		list->at[list->n++] = (struct waited){ self(), by, begin, end, what };
	pthread_mutex_unlock(&list->lock);
}

static void make_list(void)
{
	pthread_mutexattr_t shared;

	list = mmap(NULL, sizeof(*list), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (list == MAP_FAILED)
		die("mmap");
	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&list->lock, &shared);
}

static void nap(unsigned us)
{
	const struct timespec t = { 0, (long)us * 1000 };

	nanosleep(&t, NULL);
}

static void spin(unsigned loops)
{
	for (volatile unsigned i = 0; i < loops; i++)
		;
}

/* ---- two ends, of which one waits for the other ---- */

enum kind { PIPE, UNIX, LOOPBACK, SIGNAL, FUTEX, KINDS };

static const char *const names[KINDS] = { "pipe", "unix", "loopback", "signal", "futex" };

struct pair {
	enum kind kind;
	int fd[2]; /* of who waits, of who ends it */
	volatile int waiter, waker;
	pthread_t thread; /* who waits */
	pthread_mutex_t lock;
	pthread_cond_t change;
	unsigned given, seed;
	volatile bool over;
};

static void give(struct pair *p)
{
	char byte = 1;

	switch (p->kind) {
	case SIGNAL: /* one that is queued */
		syscall(SYS_tgkill, getpid(), p->waiter, SIGRTMIN);
		break;
	case FUTEX:
		pthread_mutex_lock(&p->lock);
		p->given++;
		pthread_mutex_unlock(&p->lock);
		pthread_cond_signal(&p->change);
		break;
	default:
		if (write(p->fd[1], &byte, 1) != 1)
			die("write");
	}
}

static void take(struct pair *p, unsigned round)
{
	sigset_t set;
	char byte;
	int got;

	switch (p->kind) {
	case SIGNAL:
		sigemptyset(&set);
		sigaddset(&set, SIGRTMIN);
		sigwait(&set, &got);
		break;
	case FUTEX:
		pthread_mutex_lock(&p->lock);
		while (p->given <= round)
			pthread_cond_wait(&p->change, &p->lock);
		pthread_mutex_unlock(&p->lock);
		break;
	default:
		if (read(p->fd[0], &byte, 1) != 1)
			die("read");
	}
}

static void *wait_all(void *closure)
{
	struct pair *p = closure;

	name_it();
	p->waiter = self();
	for (unsigned i = 0; i < rounds; i++) {
		const uint64_t begin = __rdtsc();

		take(p, i);
		note(names[p->kind], p->waker, begin, __rdtsc());
		spin(draw(&p->seed, 20000));
	}
	p->over = true;
	return NULL;
}

static void *wake_all(void *closure)
{
	struct pair *p = closure;
	unsigned seed = p->seed + 1;

	name_it();
	p->waker = self();
	while (!p->waiter)
		nap(1000);
	for (unsigned i = 0; i < rounds && !p->over; i++) {
		nap(200 + draw(&seed, 3000)); /* it waits by then, mostly */
		spin(draw(&seed, 20000));
		give(p);
	}
	return NULL;
}

static void connect_loopback(struct pair *p)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);

	p->fd[0] = socket(AF_INET, SOCK_DGRAM, 0);
	p->fd[1] = socket(AF_INET, SOCK_DGRAM, 0);
	if (bind(p->fd[0], (struct sockaddr *)&a, sizeof(a)) ||
	    getsockname(p->fd[0], (struct sockaddr *)&a, &n) ||
	    connect(p->fd[1], (struct sockaddr *)&a, sizeof(a)))
		die("loopback");
}

static void open_pair(struct pair *p)
{
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->change, NULL);
	if (p->kind == PIPE && pipe(p->fd))
		die("pipe");
	if (p->kind == UNIX && socketpair(AF_UNIX, SOCK_STREAM, 0, p->fd))
		die("socketpair");
	if (p->kind == LOOPBACK)
		connect_loopback(p);
}

/* ---- those that wait alone ---- */

static void *sleep_all(void *closure)
{
	unsigned seed = *(unsigned *)closure;

	name_it();
	for (unsigned i = 0; i < rounds; i++) {
		const uint64_t begin = __rdtsc();

		nap(100 + draw(&seed, 4000));
		note("timer", 0, begin, __rdtsc());
		spin(draw(&seed, 50000));
	}
	return NULL;
}

/* In a process of its own. */
static void fork_all(unsigned seed)
{
	name_it();
	for (unsigned i = 0; i < rounds / 4; i++) {
		const unsigned more = draw(&seed, 3000);
		uint64_t begin;
		int status;
		pid_t child = fork();

		if (!child) {
			name_it();
			nap(500 + more);
			_exit(0);
		}
		begin = __rdtsc();
		waitpid(child, &status, 0);
		note("child", child, begin, __rdtsc());
	}
	_exit(0);
}

static void *burn(void *closure)
{
	const volatile bool *over = closure;

	name_it();
	while (!*over)
		;
	return NULL;
}

/* ---- the kernel ---- */

static void put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die(file);
	close(fd);
}

static void begin_trace(void)
{
	static const char *const events[] = {
		"sched/sched_switch",
		"sched/sched_waking",
		"sched/sched_wakeup",
		"sched/sched_wakeup_new",
		"sched/sched_process_fork",
		"sched/sched_process_exec",
		"sched/sched_process_exit",
		"sched/sched_process_free",
		"sched/sched_migrate_task",
		"irq/irq_handler_entry",
		"irq/irq_handler_exit",
		"irq/softirq_entry",
		"irq/softirq_exit",
		"timer/hrtimer_expire_entry",
		"timer/hrtimer_expire_exit",
		"irq_vectors/local_timer_entry",
		"irq_vectors/local_timer_exit",
		"irq_vectors/reschedule_entry",
		"irq_vectors/reschedule_exit",
		"irq_vectors/call_function_entry",
		"irq_vectors/call_function_exit",
		"irq_vectors/call_function_single_entry",
		"irq_vectors/call_function_single_exit",
		"irq_vectors/irq_work_entry",
		"irq_vectors/irq_work_exit",
	};
	char path[200];

	put(TRACING "tracing_on", "0"); /* all at once, as tracers do */
	put(TRACING "trace_clock", "x86-tsc");
	put(TRACING "buffer_size_kb", "16384");
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		snprintf(path, sizeof(path), TRACING "events/%s/enable", events[i]);
		if (!access(path, F_OK))
			put(path, "1");
	}
	put(TRACING "tracing_on", "1");
}

static void copy(const char *from, FILE *to)
{
	static char buf[1 << 16];
	int fd = open(from, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		die(from);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		fwrite(buf, 1, (size_t)n, to);
	close(fd);
}

static unsigned setting(const char *name, unsigned otherwise)
{
	const char *text = getenv(name);

	return text ? (unsigned)atoi(text) : otherwise;
}

static void bring_up_loopback(void)
{
	struct ifreq r = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &r))
		die("lo");
	close(fd);
}

int main(void)
{
	static struct pair pair[2 * KINDS];
	static bool over;
	pthread_t thread[4 * KINDS + 8];
	unsigned seed = setting("seed", 1), seeds[2];
	size_t n = 0;
	struct termios plain;
	sigset_t set;
	FILE *out;

	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	if (mount("proc", "/proc", "proc", 0, NULL) || mount("sysfs", "/sys", "sysfs", 0, NULL) ||
	    mount("tracefs", TRACING, "tracefs", 0, NULL) ||
	    mount("devtmpfs", "/dev", "devtmpfs", 0, NULL))
		die("mount");
	rounds = setting("rounds", 20);
	bring_up_loopback();
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (size_t i = 0; i < 2 * KINDS; i++) {
		pair[i].kind = (enum kind)(i % KINDS);
		pair[i].seed = seed + (unsigned)i * 7919;
		open_pair(&pair[i]);
	}
	make_list();
	begin_trace();
	for (unsigned i = 0; i < 2; i++)
		if (!fork())
			fork_all(seed + i);
	for (size_t i = 0; i < 2 * KINDS; i++) {
		pthread_create(&thread[n++], NULL, wait_all, &pair[i]);
		pair[i].thread = thread[n - 1];
		pthread_create(&thread[n++], NULL, wake_all, &pair[i]);
	}
	for (unsigned i = 0; i < 2; i++) {
		seeds[i] = seed + i;
		pthread_create(&thread[n++], NULL, sleep_all, &seeds[i]);
	}
	pthread_create(&thread[n], NULL, burn, &over);
	for (size_t i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	over = true;
	pthread_join(thread[n], NULL);
	while (wait(NULL) > 0)
		;
	put(TRACING "tracing_on", "0");
	out = fopen("/dev/ttyS1", "w");
	if (!out || tcgetattr(fileno(out), &plain))
		die("/dev/ttyS1");
	cfmakeraw(&plain);
	tcsetattr(fileno(out), TCSANOW, &plain);
	for (size_t i = 0; i < list->n; i++)
		fprintf(out, "wait %d %llu %llu %s %d\n", list->at[i].tid,
			(unsigned long long)list->at[i].begin, (unsigned long long)list->at[i].end,
			list->at[i].what, list->at[i].by);
	copy(TRACING "trace", out);
	fprintf(out, "end\n");
	fflush(out);
	tcdrain(fileno(out));
	fclose(out);
	sync();
	reboot(RB_POWER_OFF);
	return 0;
}
