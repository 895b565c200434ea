#include "launch/process-tree.h"

#include "base/cleanup.h"
#include "base/procfs.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>

#define PASSES_MAX 64 /* over a tree that grows faster than it is signalled */

struct linux_dirent64 {
	uint64_t inode;
	int64_t offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

static pid_t pid_of_name(const char *name)
{
	pid_t pid = 0;
	for (; *name >= '0' && *name <= '9' && pid < INT32_MAX / 10; name++)
		pid = pid * 10 + (*name - '0');
	return *name ? 0 : pid;
}

int tree_process_read(struct tree_process *p, pid_t pid)
{
	struct proc_stat s;
	int rc = proc_stat_read(&s, pid);
	if (!rc)
		*p = (struct tree_process){ .pid = pid, .parent = (pid_t)s.fields[PROC_PARENT], .state = s.state };
	return rc;
}

static bool scan_block(const char *block, size_t n, bool (*each)(void *arg, const struct tree_process *p), void *arg)
{
	for (size_t at = 0; at < n;) {
		const struct linux_dirent64 *entry = (const void *)(block + at);
		struct tree_process p;
		pid_t pid = pid_of_name(entry->name);
		if (pid > 0 && !tree_process_read(&p, pid) && !each(arg, &p))
			return false;
		at += entry->length;
	}
	return true;
}

int tree_scan(bool (*each)(void *arg, const struct tree_process *p), void *arg)
{
	_Alignas(struct linux_dirent64) char block[8192];
	CLEANUP(cleanup_fd) int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (;;) {
		long n = syscall(SYS_getdents64, fd, block, sizeof(block));
		if (n <= 0)
			return n ? -errno : 0;
		if (!scan_block(block, (size_t)n, each, arg))
			return 0;
	}
}

struct census {
	struct tree_process *all;
	size_t count, cap;
	bool is_failed;
};

static bool census_add(void *arg, const struct tree_process *p)
{
	struct census *c = arg;
	c->is_failed |= !VEC_GROW(c->all, c->cap, c->count + 1, VEC_MAX);
	if (!c->is_failed)
		c->all[c->count++] = *p;
	return !c->is_failed;
}

static void census_release(struct census *c)
{
	free(c->all);
	*c = (struct census){ 0 };
}

static bool is_among(const struct census *c, pid_t pid)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->all[i].pid == pid)
			return true;
	return false;
}

/* All descendants of root, parents before children as far as one pass found them; root is the first. */
static int descendants(pid_t root, struct census *out)
{
	CLEANUP(census_release) struct census all = { 0 };
	struct tree_process first;
	int rc = tree_process_read(&first, root);
	if (rc)
		return rc == -ENOENT || rc == -ESRCH ? 0 : rc;
	rc = tree_scan(census_add, &all);
	if (rc || all.is_failed)
		return rc ? rc : -ENOMEM;
	if (!census_add(out, &first))
		return -ENOMEM;
	for (size_t next = 0; next < out->count; next++) {
		pid_t parent = out->all[next].pid;
		for (size_t i = 0; i < all.count; i++)
			if (all.all[i].parent == parent && !is_among(out, all.all[i].pid) &&
					!census_add(out, &all.all[i]))
				return -ENOMEM;
	}
	return 0;
}

/*
 * Opens a pidfd, then checks the parent again, because the pid may have been reused. An orphan is reparented to
 * root.
 */
static int signal_one(const struct tree_process *p, pid_t root, int signal)
{
	struct tree_process now;
	CLEANUP(cleanup_fd) int fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	if (fd < 0)
		return errno == ESRCH ? 0 : -errno;
	if (tree_process_read(&now, p->pid) || (now.parent != p->parent && now.parent != root))
		return 0;
	if (syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0))
		return errno == ESRCH ? 0 : -errno;
	return 0;
}

static int signal_new(struct census *done, const struct census *found, size_t from, int signal,
		bool (*is_meant)(pid_t pid), struct sonde_err *err)
{
	int rc = 0;
	for (size_t i = from; i < found->count; i++) {
		const struct tree_process *p = &found->all[i];
		if (p->state == 'Z' || p->state == 'X' || is_among(done, p->pid))
			continue;
		int failed = !is_meant || is_meant(p->pid) ? signal_one(p, found->all[0].pid, signal) : 0;
		if (failed)
			rc = err_sys(err, -failed, "cannot send signal %d to process %d", signal, (int)p->pid);
		if (!census_add(done, p))
			return err_sys(err, ENOMEM, "cannot signal the tree of process %d", (int)found->all[0].pid);
	}
	return rc;
}

int tree_signal_those(pid_t root, bool has_root, int signal, bool (*is_meant)(pid_t pid), struct sonde_err *err)
{
	CLEANUP(census_release) struct census done = { 0 };
	int rc = 0;
	for (int pass = 0; pass < PASSES_MAX; pass++) {
		CLEANUP(census_release) struct census found = { 0 };
		size_t before = done.count;
		int failed = descendants(root, &found);
		if (failed)
			return err_sys(err, -failed, "cannot find the processes below %d", (int)root);
		failed = signal_new(&done, &found, has_root ? 0 : 1, signal, is_meant, err);
		rc = failed ? failed : rc;
		if (done.count == before)
			break;
	}
	return rc;
}

int tree_signal(pid_t root, bool has_root, int signal, struct sonde_err *err)
{
	return tree_signal_those(root, has_root, signal, NULL, err);
}

pid_t tree_find(pid_t root, bool (*is_meant)(pid_t pid))
{
	CLEANUP(census_release) struct census found = { 0 };
	if (descendants(root, &found))
		return 0;
	for (size_t i = 1; i < found.count; i++)
		if (found.all[i].state != 'Z' && is_meant(found.all[i].pid))
			return found.all[i].pid;
	return 0;
}

ssize_t tree_count(pid_t root, pid_t *some)
{
	CLEANUP(census_release) struct census found = { 0 };
	ssize_t live = 0;
	int rc = descendants(root, &found);
	if (rc)
		return rc;
	for (size_t i = 1; i < found.count; i++)
		if (found.all[i].state != 'Z' && found.all[i].state != 'X') {
			*some = found.all[i].pid;
			live++;
		}
	return live;
}
