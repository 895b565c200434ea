/* The helper thread. Code that runs in it makes system calls directly, not through libc. */
#include "image.h"

#include "pfw/line-write.h"
#include "ringplace.h"
#include "tracer/tracer.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define STACK_BYTES (256u << 10)
#define TLS_BYTES \
	(64u << 10) /* unused; code that accesses thread-local storage finds zeros, far below and slightly above the pointer */
#define TLS_ABOVE 4096u
#define NAP_FIRST_NS 100000000ll /* first poll interval without a wakeup; it doubles */
#define NAP_MAX_NS 3200000000ll
#define FLUSH_NS 1000000000ll /* maximum delay of lines before a gzip member is flushed */
#define SETTLE_TRIES 40       /* waits for hooks of other threads that are about to finish */
#define SETTLE_NAP_NS 500000
#define START_WAITS 20000 /* of one millisecond each */

enum wish { WISH_NOTHING, WISH_WORK, WISH_STOP, WISH_FINISH };
enum report { REPORT_NONE, REPORT_READY, REPORT_FAILED };

static struct {
	uint32_t wish;        /* atomic, futex */
	uint32_t is_asleep;   /* atomic */
	uint32_t report;      /* atomic, futex */
	uint32_t tid;         /* atomic, futex: the kernel clears it when the thread is gone */
	uint32_t is_starting; /* atomic flag */
	uint32_t is_lost;     /* it failed: the ring is no longer read */
	int error;
	int64_t end_at;
	uint64_t end_events;
	char *stack;
	bool is_fresh; /* start a new log instead of appending */
	struct pfwlog_setup setup;
	struct pfwlog_clock clock;
} helper;

static void futex_wait(uint32_t *word, uint32_t value, int64_t ns)
{
	struct timespec limit = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
	sys4(SYS_futex, word, FUTEX_WAIT, value,
			&limit); /* not FUTEX_PRIVATE: the kernel's wake at thread exit is not private */
}

static void futex_wake(uint32_t *word)
{
	sys3(SYS_futex, word, FUTEX_WAKE, INT32_MAX);
}

/* In the thread. */

static int64_t mono_now(void)
{
	struct timespec ts = { 0 };
	sys2(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static uint64_t take(struct pfwlog *log, enum pfwlog_pass pass, bool is_flushed)
{
	uint32_t made = __atomic_load_n(&tracer.segment_count, __ATOMIC_ACQUIRE);
	for (uint32_t i = pfwlog_segments(log); i < made; i++)
		pfwlog_add_segment(log, tracer.segments[i],
				SONDE_SEGMENT_HEAD_BYTES + (size_t)tracer.segments[i]->chunk_count * SONDE_CHUNK_BYTES);
	return pfwlog_consume(log, pass, is_flushed);
}

/*
 * True if the program's last thread has exited without ending the process: this thread would keep it alive. A leader
 * that has exited is a zombie as long as there are other threads.
 */
static bool is_alone(void)
{
	char path[64], state[64], *at = PUT(path, "/proc/self/task/");
	char entries[512];
	*put_text(put_int(at, tracer.pid), "/stat") = '\0';
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? 0 : sys3(SYS_read, fd, state, sizeof(state) - 1);
	if (fd >= 0)
		sys_close(fd);
	state[n > 0 ? n : 0] = '\0';
	const char *end = strrchr(state, ')');
	if (!end || strncmp(end, ") Z", 3) != 0)
		return false;
	fd = sys_open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	n = fd < 0 ? 0 : sys3(SYS_getdents64, fd, entries, sizeof(entries));
	if (fd >= 0)
		sys_close(fd);
	unsigned count = 0;
	for (long i = 0; i + 18 < n; i += *(unsigned short *)(void *)(entries + i + 16))
		count++;
	return n > 0 && count <= 4; /* ".", "..", the leader, and this thread */
}

static enum wish wait_for_wish(int64_t ns)
{
	uint32_t wish = __atomic_load_n(&helper.wish, __ATOMIC_ACQUIRE);
	if (wish == WISH_NOTHING) {
		__atomic_store_n(&helper.is_asleep, 1, __ATOMIC_SEQ_CST);
		futex_wait(&helper.wish, WISH_NOTHING, ns);
		__atomic_store_n(&helper.is_asleep, 0, __ATOMIC_RELAXED);
		wish = __atomic_load_n(&helper.wish, __ATOMIC_ACQUIRE);
	}
	uint32_t work = WISH_WORK; /* keep other requests */
	__atomic_compare_exchange_n(&helper.wish, &work, WISH_NOTHING, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	return wish;
}

static enum wish serve(struct pfwlog *log)
{
	bool is_gzip = pfwlog_state(log)->setup.is_gzip;
	int64_t nap_ns = NAP_FIRST_NS, flushed_ns = mono_now();
	for (;;) {
		enum wish wish = wait_for_wish(nap_ns);
		if (wish >= WISH_STOP)
			return wish;
		bool is_woken = wish == WISH_WORK, is_due = !is_gzip || mono_now() - flushed_ns > FLUSH_NS;
		uint64_t count = take(log, PFWLOG_LIVE, is_due);
		if (is_due)
			flushed_ns = mono_now();
		if (!is_woken)
			pfwlog_reap(log);
		if (!is_woken && is_alone())
			return WISH_FINISH;
		if (count || is_woken)
			nap_ns = NAP_FIRST_NS;
		else if (nap_ns < NAP_MAX_NS)
			nap_ns *= 2;
	}
}

static struct pfwlog *open_log(void)
{
	struct pfwlog *log;
	if (helper.is_fresh)
		log = pfwlog_open(tracer.ring_dir, tracer.control, tracer.process, tracer.pid, &helper.setup,
				&helper.clock, &helper.error);
	else
		log = pfwlog_reopen(tracer.ring_dir, &helper.error);
	helper.is_fresh = false;
	return log;
}

static void report(enum report report)
{
	__atomic_store_n(&helper.report, report, __ATOMIC_RELEASE);
	futex_wake(&helper.report);
}

static void run(void)
{
	sys1(SYS_chdir, "/");
	if (sys3(SYS_close_range, 0, UINT32_MAX, 0) != 0)
		for (int fd = 0; fd < 65536; fd++) /* kernels without close_range */
			sys_close(fd);
	sys2(SYS_prctl, PR_SET_NAME, "dftracer");
	struct pfwlog *log = open_log();
	if (!log) {
		helper.is_lost = 1;
		report(REPORT_FAILED);
		return;
	}
	report(REPORT_READY);
	enum wish wish = serve(log);
	if (wish == WISH_FINISH) {
		/* Hooks of other threads that started before the end may still be writing: wait briefly for them. */
		take(log, PFWLOG_LIVE, true);
		for (unsigned i = 0; i < SETTLE_TRIES && pfwlog_is_waiting(log); i++) {
			struct timespec time = { .tv_sec = 0, .tv_nsec = SETTLE_NAP_NS };
			sys2(SYS_nanosleep, &time, NULL);
			take(log, PFWLOG_LIVE, true);
		}
		take(log, PFWLOG_LAST, true);
		pfwlog_end(log, false);
		helper.end_at = pfwlog_end_at(log);
		helper.end_events = pfwlog_end_events(log);
		ring_place_remove();
		family_finish_dead();
	} else {
		take(log, PFWLOG_LIVE, true);
	}
	pfwlog_free(log);
}

__attribute__((used, visibility("hidden"))) void helper_main(void)
{
	run();
	sys1(SYS_exit, 0);
	__builtin_unreachable();
}

/* Starting. */

/* clone, and helper_main on the new stack. */
static long clone_thread(unsigned long flags, void *stack, uint32_t *tid, void *tls)
{
	register long r10 __asm__("r10") = (long)tid;
	register long r8 __asm__("r8") = (long)tls;
	long ret = SYS_clone;
	__asm__ volatile("syscall\n"
			 "	testq %%rax, %%rax\n"
			 "	jnz 1f\n"
			 "	xorl %%ebp, %%ebp\n"
			 "	call helper_main\n"
			 "	hlt\n"
			 "1:\n"
			 : "+a"(ret)
			 : "D"(flags), "S"(stack), "d"(tid), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return ret;
}

static bool stack_make(void)
{
	if (!helper.stack)
		helper.stack = sys_map(STACK_BYTES + TLS_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				-1);
	return helper.stack != NULL;
}

static int thread_start(void)
{
	const unsigned long flags = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
			CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
	uint64_t all = ~0ull, old = 0;
	if (!stack_make())
		return -ENOMEM;
	void **tls = (void **)(void *)(helper.stack + STACK_BYTES + TLS_BYTES - TLS_ABOVE);
	tls[0] = tls[2] = tls; /* fields that thread-local storage code expects */
	__atomic_store_n(&helper.wish, WISH_NOTHING, __ATOMIC_RELAXED);
	__atomic_store_n(&helper.report, REPORT_NONE, __ATOMIC_RELAXED);
	sys4(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, sizeof(old));
	long rc = clone_thread(flags, helper.stack + STACK_BYTES - 64, &helper.tid, tls);
	sys4(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof(old));
	if (sys_failed(rc)) {
		helper.tid = 0;
		return (int)rc;
	}
	for (unsigned i = 0; i < START_WAITS && !__atomic_load_n(&helper.report, __ATOMIC_ACQUIRE) &&
			__atomic_load_n(&helper.tid, __ATOMIC_ACQUIRE);
			i++)
		futex_wait(&helper.report, REPORT_NONE, 1000000);
	return helper.report == REPORT_READY ? 0 : helper.error ? helper.error : -EIO;
}

int helper_start(const struct pfwlog_setup *setup, const struct pfwlog_clock *clock)
{
	helper.setup = *setup;
	helper.clock = *clock;
	helper.is_fresh = true;
	helper.is_lost = 0;
	helper.end_at = -1;
	helper.error = 0;
	return thread_start();
}

/* Start another helper after one that stopped. */
static void start_again(void)
{
	if (helper.is_lost || tracer.is_seccomped || __atomic_exchange_n(&helper.is_starting, 1, __ATOMIC_ACQUIRE))
		return;
	if (!__atomic_load_n(&helper.tid, __ATOMIC_ACQUIRE))
		thread_start();
	__atomic_store_n(&helper.is_starting, 0, __ATOMIC_RELEASE);
}

void helper_poke(void)
{
	uint32_t nothing = WISH_NOTHING;
	if (unlikely(!__atomic_load_n(&helper.tid, __ATOMIC_ACQUIRE)))
		start_again();
	__atomic_compare_exchange_n(&helper.wish, &nothing, WISH_WORK, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
	if (__atomic_load_n(&helper.is_asleep, __ATOMIC_SEQ_CST))
		futex_wake(&helper.wish);
}

static void wish_and_wait(enum wish wish)
{
	__atomic_store_n(&helper.wish, wish, __ATOMIC_SEQ_CST);
	futex_wake(&helper.wish);
	for (uint32_t tid; (tid = __atomic_load_n(&helper.tid, __ATOMIC_ACQUIRE));)
		futex_wait(&helper.tid, tid, 1000000000);
}

void helper_stop(void)
{
	if (__atomic_load_n(&helper.tid, __ATOMIC_ACQUIRE))
		wish_and_wait(WISH_STOP);
}

int64_t helper_finish(uint64_t *events)
{
	if (!__atomic_load_n(&helper.tid, __ATOMIC_ACQUIRE))
		start_again();
	if (__atomic_load_n(&helper.tid, __ATOMIC_ACQUIRE))
		wish_and_wait(WISH_FINISH);
	*events = helper.end_events;
	return helper.end_at;
}

void helper_forget(void)
{
	helper.tid = helper.wish = helper.is_asleep = helper.is_starting = helper.report = 0;
}
