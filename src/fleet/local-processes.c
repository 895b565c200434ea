#include "fleet/local-processes.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/procfs.h"
#include "launch/spawn-command.h"

#include <jansson.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/random.h>

enum { TOKEN_BYTES = 24, STOP_MS = 20000, SERVER_WAIT_NS = 30 };

bool fleet_process_lives(const struct fleet_process *p)
{
	struct proc_stat s;

	return !proc_stat_read(&s, p->pid) && (uint64_t)s.fields[PROC_START] == p->start_ticks && !proc_has_exited(&s);
}

int fleet_start(struct fleet_dir *home, const char *role, char *const argv[], struct sonde_err *err)
{
	struct fleet_process *p = &home->processes[home->count];
	CLEANUP(buf_release) struct buf log = BUF_INIT;
	struct proc_stat s;
	pid_t pid;

	if (home->count == FLEET_PROCESSES_MAX)
		return err_set(err, EUSERS, "too many processes on one host (maximum %d)", FLEET_PROCESSES_MAX);
	buf_addf(&log, "%s/%s.log", home->dir, role);
	CLEANUP(cleanup_fd) int out = open(log.data, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (out < 0)
		return err_sys(err, errno, "cannot open '%s'", log.data);
	/* It outlives us and the terminal. */
	struct launch_command c = { .argv = argv,
		.fds = { JOB_FD_NULL, out, out },
		.has_own_session = true,
		.has_only_streams = true };
	int rc = launch_spawn(&c, &pid, err);
	if (rc)
		return rc;
	*p = (struct fleet_process){ .pid = pid };
	snprintf(p->role, sizeof(p->role), "%s", role);
	if (proc_stat_read(&s, pid))
		return err_set(err, ESRCH, "'%s' exited immediately: see '%s'", argv[0], log.data);
	p->start_ticks = (uint64_t)s.fields[PROC_START];
	home->count++;
	return fleet_dir_save(home, err);
}

/* Sends SIGTERM, then SIGKILL after a timeout. Returns 0 when the process is gone. */
static int end_one(const struct fleet_process *p, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int fd = pidfd_open(p->pid, 0);
	static const int signals[] = { SIGTERM, SIGKILL };

	/* The pidfd first: it pins the process before its start time is checked. */
	if (fd < 0 || !fleet_process_lives(p))
		return 0;
	for (size_t i = 0; i < 2; i++) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };

		if (pidfd_send_signal(fd, signals[i], NULL, 0) < 0 && errno == ESRCH)
			return 0;
		if (poll(&wait, 1, STOP_MS) > 0)
			return 0;
	}
	return err_set(err, EBUSY, "cannot stop the %s, process %d", p->role, (int)p->pid);
}

static int end_role(struct fleet_dir *home, const char *role, struct sonde_err *err)
{
	size_t kept = 0;
	int ended = 0, rc = 0;

	for (size_t i = 0; i < home->count; i++) {
		const struct fleet_process *p = &home->processes[i];
		bool is_kept = strcmp(p->role, role) != 0;

		if (!is_kept) {
			ended += fleet_process_lives(p);
			rc = end_one(p, err);
			is_kept = rc < 0;
		}
		if (is_kept)
			home->processes[kept++] = *p;
	}
	home->count = kept;
	return rc < 0 ? rc : ended;
}

int fleet_end(struct fleet_dir *home, const char *role, struct sonde_err *err)
{
	/* Agents return their jobs while the server still runs. */
	static const char *const order[] = { "agent", "monitor", "server" };
	int ended = 0, rc = 0;

	for (size_t i = 0; i < 3 && rc >= 0; i++) {
		if (role && strcmp(role, order[i]) != 0)
			continue;
		rc = end_role(home, order[i], err);
		ended += rc > 0 ? rc : 0;
	}
	if (rc >= 0)
		rc = fleet_dir_save(home, err);
	return rc < 0 ? rc : ended;
}

void fleet_drain(const struct fleet_dir *home)
{
	int fds[FLEET_PROCESSES_MAX];

	for (size_t i = 0; i < home->count; i++) {
		const struct fleet_process *p = &home->processes[i];

		fds[i] = strcmp(p->role, "agent") == 0 ? pidfd_open(p->pid, 0) : -1;
		if (fds[i] >= 0 && fleet_process_lives(p))
			pidfd_send_signal(fds[i], SIGUSR1, NULL, 0);
	}
	for (size_t i = 0; i < home->count; i++) {
		struct pollfd wait = { .fd = fds[i], .events = POLLIN };

		while (fds[i] >= 0 && fleet_process_lives(&home->processes[i]) && poll(&wait, 1, -1) < 0 &&
				errno == EINTR)
			;
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

static int make_token(char text[2 * TOKEN_BYTES + 1], struct sonde_err *err)
{
	unsigned char bytes[TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return err_sys(err, errno, "cannot create a token");
	for (size_t i = 0; i < TOKEN_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* The token is in a private file: a command line is visible to all users. */
static int write_server_config(const struct fleet_dir *home, const char *listen, const char *path,
		struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	buf_addf(&text,
			"listen: \"%s\"\nports_file_dir: \"%s/ports\"\nauthorization { token: \"%s\" }\n"
			"jetstream { store_dir: \"%s/streams\" }\n",
			listen, home->dir, home->token, home->dir);
	return buf_error(&text) < 0 ? err_sys(err, ENOMEM, "cannot write '%s'", path)
				    : fs_replace_file(AT_FDCWD, path, text.data, text.len, err);
}

/* The address the server has written; NULL if not yet. */
static const char *find_url(const struct fleet_dir *home, pid_t pid, struct arena *arena)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, path = BUF_INIT;
	const char *found = NULL;
	json_t *root;

	buf_addf(&path, "%s/ports/nats-server_%d.ports", home->dir, (int)pid);
	if (fs_read_file(AT_FDCWD, path.data, 65536, &text, NULL) < 0)
		return NULL;
	root = json_loadb(text.data, text.len, 0, NULL);
	found = json_string_value(json_array_get(json_object_get(root, "nats"), 0));
	found = found ? arena_strdup(arena, found) : NULL;
	json_decref(root);
	return found;
}

static int wait_for_server(struct fleet_dir *home, struct arena *arena, struct sonde_err *err)
{
	const struct fleet_process *p = &home->processes[home->count - 1];
	int64_t until_ns = clock_mono_ns() + SERVER_WAIT_NS * INT64_C(1000000000);
	const char *url = NULL;

	while (!url && clock_mono_ns() < until_ns && fleet_process_lives(p)) {
		url = find_url(home, p->pid, arena);
		if (!url)
			poll(NULL, 0, 20);
	}
	if (!url)
		return err_set(err, EIO, "nats-server did not start: see '%s/server.log'", home->dir);
	home->url = url;
	return fleet_dir_save(home, err);
}

/* "10.0.0.1", "host:4222", "[::1]:4222"; without a port, -1 selects a free one. NULL if invalid. */
static const char *address_of(const char *listen, struct arena *arena)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:[]";
	const char *bracket = strchr(listen, ']'), *port = strrchr(bracket ? bracket : listen, ':');

	if (!*listen || listen[strspn(listen, good)] || (!bracket && port != strchr(listen, ':')))
		return NULL;
	return port ? arena_strdup(arena, listen) : arena_printf(arena, "%s:-1", listen);
}

int fleet_start_server(struct fleet_dir *home, const char *listen, struct arena *arena, struct sonde_err *err)
{
	const char *address = address_of(listen, arena);
	CLEANUP(buf_release) struct buf config = BUF_INIT, ports = BUF_INIT;
	char token[2 * TOKEN_BYTES + 1];
	char *argv[] = { (char[]){ "nats-server" }, (char[]){ "-c" }, NULL, NULL };
	int rc = address ? make_token(token, err) : err_set(err, EINVAL, "invalid listen address '%s'", listen);

	buf_addf(&config, "%s/nats.conf", home->dir);
	buf_addf(&ports, "%s/ports", home->dir);
	if (rc == 0)
		rc = fs_mkdir_p(ports.data, 0700, err);
	if (rc < 0)
		return rc;
	home->token = arena_strdup(arena, token);
	home->url = "nats://127.0.0.1";
	if (!home->token)
		return err_sys(err, ENOMEM, "cannot start the server");
	rc = write_server_config(home, address, config.data, err);
	argv[2] = config.data;
	if (rc == 0)
		rc = fleet_start(home, "server", argv, err);
	if (rc == -ENOENT) { /* Debian installs it in a directory of root's PATH only */
		argv[0] = (char[]){ "/usr/sbin/nats-server" };
		rc = fleet_start(home, "server", argv, err);
	}
	if (rc == -ENOENT)
		err_hint(err, "install nats-server (Debian: apt install nats-server)");
	return rc < 0 ? rc : wait_for_server(home, arena, err);
}

/* Starts `program`; no word may be NULL. */
static int start_own(struct fleet_dir *home, const char *role, const char *const words[], struct sonde_err *err)
{
	char *argv[16];
	size_t n = 0;
	int rc;

	while (n < 15 && words[n]) {
		argv[n] = strdup(words[n]);
		if (!argv[n])
			break;
		n++;
	}
	argv[n] = NULL;
	rc = words[n] ? err_sys(err, ENOMEM, "cannot start '%s'", words[0]) : fleet_start(home, role, argv, err);
	while (n)
		free(argv[--n]);
	return rc;
}

int fleet_start_monitor(struct fleet_dir *home, const char *program, int64_t lease_ns, struct sonde_err *err)
{
	char lease[32];
	const char *const words[] = { program, "monitor", "--dir", home->dir, "--lease", lease, NULL };

	snprintf(lease, sizeof(lease), "%lldms", (long long)(lease_ns / 1000000));
	return start_own(home, "monitor", words, err);
}

int fleet_start_agent(struct fleet_dir *home, const char *program, const char *label, struct sonde_err *err)
{
	const char *const words[] = { program, "agent", "--dir", home->dir, label ? "--label" : NULL, label, NULL };

	return start_own(home, "agent", words, err);
}

int fleet_start_step(struct fleet_dir *home, const char *program, const char *label, int64_t count,
		struct sonde_err *err)
{
	const char *nodes = getenv("SLURM_JOB_NUM_NODES");
	char per_node[48];
	const char *const words[] = { "srun", "-u", "--overlap", "--mpi=none", "--cpu-bind=none", "-N", nodes, per_node,
		"--", program, "agent", label ? "--label" : NULL, label, NULL };

	if (!nodes) {
		err_set(err, EINVAL, "not inside a Slurm allocation");
		err_hint(err, "start one with salloc or sbatch");
		return -EINVAL;
	}
	snprintf(per_node, sizeof(per_node), "--ntasks-per-node=%lld", (long long)count);
	/* The nodes may not see our directory; the environment of a step is readable by its user only. */
	setenv("SONDE_FLEET_URL", home->url, 1);
	setenv("SONDE_FLEET_TOKEN", home->token, 1);
	return start_own(home, "agent", words, err);
}
