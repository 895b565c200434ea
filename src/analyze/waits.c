#include "analyze/waits.h"

#include "calls/calls-find.h"
#include "store/schema.h"

#include <stdbool.h>
#include <string.h>

/* Parts of function names, most specific first: the first row that matches any frame of a stack decides. */
static const struct {
	const char *part;
	enum wait_reason reason;
} parts[] = {
	{ "lll_lock_wait", WAIT_LOCK },
	{ "pthread_mutex_lock", WAIT_LOCK },
	{ "pthread_mutex_timedlock", WAIT_LOCK },
	{ "pthread_mutex_clocklock", WAIT_LOCK },
	{ "pthread_rwlock_", WAIT_LOCK },
	{ "pthread_spin_lock", WAIT_LOCK },
	{ "take_gil", WAIT_LOCK },
	{ "rwsem_down_", WAIT_LOCK },
	{ "mutex_lock_slowpath", WAIT_LOCK },
	{ "flock_lock_inode", WAIT_LOCK },
	{ "posix_lock_inode", WAIT_LOCK },
	{ "PyThread_acquire_lock", WAIT_CONDITION }, /* Python's queues, joins and events wait here, its locks rarely */
	{ "pthread_cond_", WAIT_CONDITION },
	{ "pthread_barrier", WAIT_CONDITION },
	{ "pthread_clockjoin", WAIT_CONDITION },
	{ "pthread_join", WAIT_CONDITION },
	{ "sem_wait", WAIT_CONDITION },
	{ "sem_timedwait", WAIT_CONDITION },
	{ "do_new_sem_wait", WAIT_CONDITION },
	{ "do_nanosleep", WAIT_SLEEP },
	{ "hrtimer_nanosleep", WAIT_SLEEP },
	{ "tcp_recvmsg", WAIT_NETWORK },
	{ "tcp_sendmsg", WAIT_NETWORK },
	{ "sk_wait_data", WAIT_NETWORK },
	{ "sk_stream_wait", WAIT_NETWORK },
	{ "inet_csk_accept", WAIT_EVENT }, /* an idle server */
	{ "inet_csk_wait_for_connect", WAIT_EVENT },
	{ "inet_stream_connect", WAIT_NETWORK },
	{ "skb_wait_for_more_packets", WAIT_NETWORK },
	{ "unix_stream_read", WAIT_NETWORK },
	{ "unix_stream_data_wait", WAIT_NETWORK },
	{ "inet_wait_for_connect", WAIT_NETWORK },
	{ "exc_page_fault", WAIT_FAULT },
	{ "io_schedule", WAIT_DISK },
	{ "folio_wait", WAIT_DISK },
	{ "blk_mq_", WAIT_DISK },
	{ "submit_bio_wait", WAIT_DISK },
	{ "jbd2_", WAIT_DISK },
	{ "pipe_read", WAIT_PIPE },
	{ "pipe_write", WAIT_PIPE },
	{ "n_tty_read", WAIT_PIPE },
	{ "do_epoll_wait", WAIT_EVENT },
	{ "do_sys_poll", WAIT_EVENT },
	{ "do_select", WAIT_EVENT },
	{ "do_wait", WAIT_CHILD },
	{ "futex_wait", WAIT_CONDITION },
};
enum { PARTS = sizeof(parts) / sizeof(*parts) };

const char *wait_reason_word(int reason)
{
	static const char *const words[WAIT_REASONS] = { "lock", "condition", "network", "disk", "page fault", "pipe",
		"event", "child", "sleep", "other" };

	return words[reason];
}

static size_t meet(const char *function, size_t best)
{
	for (size_t i = 0; i < best; i++)
		if (strstr(function, parts[i].part))
			return i;
	return best;
}

/*
 * The call that a thread waits in, for stacks that end there: without kernel frames a read may be of a file, a pipe
 * or a socket, and is not reported.
 */
static enum wait_reason call_reason(const char *function)
{
	static const enum wait_reason reasons[CALL_WAIT_COUNT] = {
		[CALL_WAIT_NONE] = WAIT_OTHER,
		[CALL_WAIT_FD] = WAIT_OTHER,
		[CALL_WAIT_NETWORK] = WAIT_NETWORK,
		[CALL_WAIT_EVENT] = WAIT_EVENT,
		[CALL_WAIT_CHILD] = WAIT_CHILD,
		[CALL_WAIT_SLEEP] = WAIT_SLEEP,
		[CALL_WAIT_LOCK] = WAIT_LOCK,
		[CALL_WAIT_CONDITION] = WAIT_CONDITION,
		[CALL_WAIT_DISK] = WAIT_DISK,
	};
	const struct call_info *info = calls_find(function, strlen(function));

	return info ? reasons[info->wait] : WAIT_OTHER;
}

enum wait_reason wait_reason_of(struct model_stacks *stacks, int64_t stack)
{
	enum wait_reason otherwise = WAIT_OTHER;
	const struct model_frame *innermost;
	size_t best = PARTS;

	if (stack != STORE_NULL && model_stack_place(stacks, stack, &innermost) && !innermost->is_kernel &&
			innermost->function)
		otherwise = call_reason(innermost->function);
	for (; stack != STORE_NULL; stack = model_stack_parent(stacks, stack)) {
		const struct model_frame *frames;
		size_t count = model_stack_place(stacks, stack, &frames);

		for (size_t i = 0; i < count; i++)
			best = frames[i].function ? meet(frames[i].function, best) : best;
	}
	return best < PARTS ? parts[best].reason : otherwise;
}

bool wait_is_fault(struct model_stacks *stacks, int64_t stack)
{
	for (; stack != STORE_NULL; stack = model_stack_parent(stacks, stack)) {
		const struct model_frame *frames;
		size_t count = model_stack_place(stacks, stack, &frames);

		for (size_t i = 0; i < count; i++)
			if (frames[i].function && frames[i].is_kernel &&
					(strstr(frames[i].function, "exc_page_fault") ||
							strstr(frames[i].function, "handle_mm_fault")))
				return true;
		if (count && !frames[count - 1].is_kernel)
			return false; /* kernel frames are innermost */
	}
	return false;
}
