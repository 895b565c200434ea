/*
 * Start of the tracer in a process image: resolution of the real functions, control page, ring, and the record that
 * identifies the process. Each library decides when and where to start: start.c is libsonde's.
 */
#include "tracer/fds.h"
#include "tracer/hook.h"
#include "tracer/resolve.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUN_BYTES_MAX_ALONE (256ull << 20) /* maximum size of a run without a recorder */
#define PROCESS_BYTES_MAX_ALONE (64ull << 20)

static long not_in_this_libc(void)
{
	errno = ENOSYS;
	return -1;
}

void *real_find(unsigned call)
{
	tracer_init();
	void *found = resolve_next(call_info[call].name);
	if (!found)
		found = (void *)not_in_this_libc;
	__atomic_store_n(&real[call], found, __ATOMIC_RELEASE);
	return found;
}

static struct sonde_control *control_map(int fd)
{
	return sys_map(sizeof(struct sonde_control), PROT_READ | PROT_WRITE, MAP_SHARED, fd);
}

/*
 * Without a recorder, the first process creates the control page, under a temporary name, so that no reader sees it
 * incomplete.
 */
static void control_make(const char *path)
{
	char part[PATH_BYTES_MAX + 64];
	sys3(SYS_mkdirat, -100, tracer.ring_dir, 0700);
	snprintf(part, sizeof(part), "%s.%d", path, (int)sys0(SYS_getpid));
	int fd = sys_open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	if (!sys4(SYS_fallocate, fd, 0, 0, sizeof(struct sonde_control))) {
		struct sonde_control *c = control_map(fd);
		if (c) {
			struct timespec mono, real_time;
			struct stat st;
			clock_gettime(CLOCK_MONOTONIC, &mono);
			clock_gettime(CLOCK_REALTIME, &real_time);
			c->version = SONDE_SHM_VERSION;
			c->is_on = 1;
			c->categories = SONDE_CAT_ALL;
			c->run_bytes_max = RUN_BYTES_MAX_ALONE;
			c->process_bytes_max = PROCESS_BYTES_MAX_ALONE;
			c->next_process = 1;
			c->start_ticks = __builtin_ia32_rdtsc();
			c->start_mono_ns = (int64_t)mono.tv_sec * 1000000000 + mono.tv_nsec;
			c->start_real_ns = (int64_t)real_time.tv_sec * 1000000000 + real_time.tv_nsec;
			if (!sys2(SYS_stat, tracer.ring_dir, &st))
				c->inode = st.st_ino;
			c->magic = SONDE_CONTROL_MAGIC;
			sys2(SYS_munmap, c, sizeof(*c));
			sys2(SYS_link, part, path);
		}
	}
	sys_close(fd);
	sys1(SYS_unlink, part);
}

bool tracer_open_control(const char *ring)
{
	size_t len = strlen(ring);
	char *path = __builtin_alloca(len + sizeof("/control"));
	if (len >= sizeof(tracer.ring_dir))
		return false;
	if (ring != tracer.ring_dir)
		memcpy(tracer.ring_dir, ring, len + 1);
	stpcpy(stpcpy(path, tracer.ring_dir), "/control");
	int fd = sys_open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
	if (fd == -ENOENT) {
		control_make(path);
		fd = sys_open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
	}
	if (fd < 0)
		return false;
	struct sonde_control *control = control_map(fd);
	sys_close(fd);
	if (!control || control->magic != SONDE_CONTROL_MAGIC || control->version != SONDE_SHM_VERSION ||
			!control->is_on)
		return false;
	tracer.control = control;
	return true;
}

static bool alive_map(void)
{
	struct alive *page = sys_map(4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!page || sys3(SYS_madvise, page, 4096, MADV_WIPEONFORK))
		return false;
	tracer.alive = page;
	return true;
}

static size_t read_link(const char *link, char *out)
{
	long n = sys4(SYS_readlinkat, -100, link, out, PATH_BYTES_MAX);
	return n > 0 ? (size_t)n : 0;
}

/* The system call, because each access to a new process's /proc costs some ten microseconds. */
static size_t read_cwd(char *out)
{
	long n = sys2(SYS_getcwd, out, PATH_BYTES_MAX);
	return n > 1 && out[0] == '/' ? (size_t)n - 1 : 0;
}

void tracer_introduce(int argc, char **argv)
{
	static char exe[3 * PATH_BYTES_MAX]; /* contiguous: usually they need only one page */
	size_t exe_len = read_link("/proc/self/exe", exe);
	char *cwd = exe + exe_len;
	size_t cwd_len = read_cwd(cwd);
	char *args = cwd + cwd_len + 1;
	/* Join with NUL bytes, truncated to the room. */
	size_t used = 0;
	for (int i = 0; i < argc && argv[i]; i++) {
		size_t n = strlen(argv[i]) + 1;
		if (used + n > PATH_BYTES_MAX - 1)
			break;
		memcpy(args + used, argv[i], n);
		used += n;
	}
	size_t args_len = used ? used - 1 : 0;
	size_t bytes = sizeof(struct sonde_rec_def) + ring_string_bytes(exe_len) + ring_string_bytes(cwd_len) +
			ring_string_bytes(args_len);
	struct sonde_rec_def *r = ring_reserve(bytes);
	if (!r)
		return;
	r->id = tracer.process;
	r->base = 0;
	void *at = ring_put_string(r + 1, exe, exe_len);
	at = ring_put_string(at, cwd, cwd_len);
	ring_put_string(at, args, args_len);
	ring_commit(&r->head, bytes, SONDE_REC_PROCESS, 3, 0);
	if (cwd_len)
		fds_start_in(cwd, cwd_len);
	else
		fds_chdir();
}

/*
 * Switched on when everything is ready. After a failure it stays off, silently: the recorder reports that no process
 * appeared.
 */
bool tracer_switch_on(void)
{
	if (!alive_map() || !fds_init())
		return false;
	int32_t tcb_tid = *(int32_t *)((char *)__builtin_thread_pointer() + 0x2d0);
	tracer.has_tcb_tid = tcb_tid == (int32_t)sys0(SYS_gettid);
	tracer.clock = tracer.control->clock;
	tracer.min_dur_ticks = tracer.control->min_dur_ticks;
	if (!ring_start())
		return false;
	tracer.categories = tracer.control->categories;
	return true;
}

void tracer_init(void)
{
	if (tracer.is_ready)
		return;
	resolve_init();
	if (!environ)
		return; /* called by a library that starts before libc (AddressSanitizer): try again later */
	tracer.is_ready = true;
	int kept_errno = errno;
	tracer_start();
	errno = kept_errno;
}
