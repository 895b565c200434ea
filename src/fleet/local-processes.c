#include <jansson.h>

#include "fleet/local-processes.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/procfs.h"
#include "launch/spawn-command.h"
#include "result/term.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/random.h>

enum { TOKEN_BYTES = 24, STOP_MS = 20000, SERVER_WAIT_NS = 30 };

static bool is_alive(const struct fleet_process *p)
{
	struct proc_stat s;

	return !proc_stat_read(&s, p->pid) && (uint64_t)s.fields[PROC_START] == p->start_ticks && !proc_has_exited(&s);
}

/* Starts argv as a process of the fleet and adds it to fleet.json. */
static int start_process(struct fleet_dir *home, const char *role, char *const argv[], struct sonde_err *err)
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
	if (fd < 0 || !is_alive(p))
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
			ended += is_alive(p);
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
		if (fds[i] >= 0 && is_alive(p))
			pidfd_send_signal(fds[i], SIGUSR1, NULL, 0);
	}
	for (size_t i = 0; i < home->count; i++) {
		struct pollfd wait = { .fd = fds[i], .events = POLLIN };

		while (fds[i] >= 0 && is_alive(&home->processes[i]) && poll(&wait, 1, -1) < 0 && errno == EINTR)
			;
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

static int create_token(char text[2 * TOKEN_BYTES + 1], struct sonde_err *err)
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

	while (!url && clock_mono_ns() < until_ns && is_alive(p)) {
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
	int rc = address ? create_token(token, err) : err_set(err, EINVAL, "invalid listen address '%s'", listen);

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
		rc = start_process(home, "server", argv, err);
	if (rc == -ENOENT) { /* Debian installs it in a directory of root's PATH only */
		argv[0] = (char[]){ "/usr/sbin/nats-server" };
		rc = start_process(home, "server", argv, err);
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
	rc = words[n] ? err_sys(err, ENOMEM, "cannot start '%s'", words[0]) : start_process(home, role, argv, err);
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

#define SILENT_NS INT64_C(10000000000)

static const char *text_of(struct arena *arena, const json_t *beat, const char *key)
{
	const char *text = json_string_value(json_object_get(beat, key));

	return text ? arena_strdup(arena, text) : NULL;
}

static int take(void *arg, const struct fleet_message *m)
{
	struct fleet_agents *r = arg;
	json_t *beat = json_loadb(m->bytes, m->len, 0, NULL);
	json_int_t memory = json_integer_value(json_object_get(beat, "memory_bytes"));
	struct fleet_peer peer = { .name = text_of(r->arena, beat, "agent"),
		.state = text_of(r->arena, beat, "state"),
		.job = text_of(r->arena, beat, "job"),
		.cpus = json_integer_value(json_object_get(beat, "cpus")),
		.memory_bytes = memory > 0 ? (uint64_t)memory : 0,
		.heard_ns = m->time_ns };

	json_decref(beat);
	if (!peer.name || !peer.state || r->count == FLEET_AGENTS_MAX)
		return 0;
	if (strcmp(peer.state, "gone") != 0 && r->now_ns - peer.heard_ns > SILENT_NS)
		peer.state = "silent";
	r->peers[r->count++] = peer;
	return 0;
}

/* Skips malformed heartbeats. */
static int list_agents(struct fleet_agents *roster, struct fleet_client *client, struct arena *arena,
		struct sonde_err *err)
{
	*roster = (struct fleet_agents){ .arena = arena,
		.now_ns = clock_real_ns(),
		.peers = arena_alloc(arena, FLEET_AGENTS_MAX * sizeof(*roster->peers)) };
	if (!roster->peers)
		return err_sys(err, ENOMEM, "cannot list the agents");
	return fleet_client_read(client, "sonde.agent.*", take, roster, err);
}

size_t fleet_count_living(const struct fleet_dir *home, const char *role)
{
	size_t n = 0;

	for (size_t i = 0; i < home->count; i++)
		n += strcmp(home->processes[i].role, role) == 0 && is_alive(&home->processes[i]);
	return n;
}

static double age_s(const struct fleet_agents *r, const struct fleet_peer *p)
{
	return (double)(r->now_ns - p->heard_ns) / 1e9;
}

static void add_peers(struct json *j, const struct fleet_agents *r)
{
	json_karray(j, "heard");
	for (size_t i = 0; i < r->count; i++) {
		const struct fleet_peer *p = &r->peers[i];

		json_object(j);
		json_kstr(j, "agent", p->name);
		json_kstr(j, "state", p->state);
		json_kstr(j, "job", p->job);
		json_kint(j, "cpus", p->cpus);
		if (p->memory_bytes)
			json_kuint(j, "memory_bytes", p->memory_bytes);
		json_kreal(j, "age_s", age_s(r, p));
		json_end(j);
	}
	json_end(j);
}

static int print_json(const struct fleet_dir *home, const struct fleet_agents *r, FILE *out)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct json j;

	json_init(&j, &text, true);
	json_object(&j);
	json_kbool(&j, "is_up", fleet_count_living(home, "server") > 0);
	json_kuint(&j, "agents", fleet_count_living(home, "agent"));
	json_kuint(&j, "monitors", fleet_count_living(home, "monitor"));
	json_karray(&j, "members");
	for (size_t i = 0; i < home->member_count; i++)
		json_str(&j, home->members[i].host);
	json_end(&j);
	add_peers(&j, r);
	json_end(&j);
	fprintf(out, "%s\n", text.data);
	return buf_error(&text);
}

static int print_processes(const struct fleet_dir *home, FILE *out)
{
	static const struct term_column columns[] = { { "role" }, { "process", TERM_RIGHT }, { "state" } };
	struct term_table t;
	int rc;

	term_table_init(&t, columns, 3);
	for (size_t i = 0; i < home->count; i++) {
		term_table_cell(&t, TERM_PLAIN, home->processes[i].role);
		term_table_cellf(&t, "%d", (int)home->processes[i].pid);
		term_table_cell(&t, TERM_PLAIN, is_alive(&home->processes[i]) ? "lives" : "dead");
	}
	for (size_t i = 0; i < home->member_count; i++) {
		term_table_cell(&t, TERM_PLAIN, "host");
		term_table_cell(&t, TERM_PLAIN, "-");
		term_table_cell(&t, TERM_PLAIN, home->members[i].host);
	}
	rc = term_table_print(&t, out);
	term_table_release(&t);
	return rc;
}

static int print_peers(const struct fleet_agents *r, FILE *out)
{
	static const struct term_column columns[] = { { "agent" }, { "state" }, { "cpus", TERM_RIGHT },
		{ "memory", TERM_RIGHT }, { "heard", TERM_RIGHT }, { "job" } };
	struct term_table t;
	int rc;

	term_table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < r->count; i++) {
		const struct fleet_peer *p = &r->peers[i];

		term_table_cell(&t, TERM_PLAIN, p->name);
		term_table_cell(&t, TERM_PLAIN, p->state);
		term_table_cellf(&t, "%" PRId64, p->cpus);
		term_table_cellf(&t, "%.1f GiB", (double)p->memory_bytes / (1 << 30));
		term_table_cellf(&t, "%.0f s ago", age_s(r, p));
		term_table_cell(&t, TERM_PLAIN, p->job ? p->job : "-");
	}
	rc = term_table_print(&t, out);
	term_table_release(&t);
	return rc;
}

/* Without a server the agent list is empty. */
static int read_agents(const struct fleet_dir *home, struct fleet_agents *agents, struct arena *arena,
		struct sonde_err *err)
{
	struct fleet_client *client = NULL;
	int rc = 0;

	*agents = (struct fleet_agents){ 0 };
	if (fleet_count_living(home, "server") || home->member)
		rc = fleet_client_open(&client, home->url, home->token, err);
	if (client)
		rc = list_agents(agents, client, arena, err);
	fleet_client_free(client);
	return rc;
}

int fleet_print_status(const struct fleet_dir *home, bool is_json, struct arena *arena, FILE *out,
		struct sonde_err *err)
{
	struct fleet_agents agents;
	int rc = read_agents(home, &agents, arena, err);

	if (rc < 0)
		return rc;
	if (is_json)
		return print_json(home, &agents, out);
	rc = print_processes(home, out);
	if (rc == 0 && agents.count) {
		fprintf(out, "\n");
		rc = print_peers(&agents, out);
	}
	return rc;
}
