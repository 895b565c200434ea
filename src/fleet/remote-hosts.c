#include "fleet/remote-hosts.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/shell-words.h"
#include "launch/job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 64, AGENTS_MAX = 200, WORDS_BYTES = 4096 };

struct fleet_host *fleet_members_find(const struct fleet_dir *home, const char *host)
{
	for (size_t i = 0; i < home->member_count; i++)
		if (strcmp(home->members[i].host, host) == 0)
			return &home->members[i];
	return NULL;
}

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

/* Host names appear on a command line that a shell may parse. */
static bool is_host(const char *text)
{
	return *text && *text != '-' && strlen(text) < 256 && !text[strspn(text, PLAIN "@:")];
}

static bool is_label(const char *text)
{
	return *text && strlen(text) < 256 && !text[strspn(text, PLAIN ",")];
}

int fleet_members_add(struct fleet_dir *home, const struct fleet_host *member, struct sonde_err *err)
{
	struct fleet_host *m = fleet_members_find(home, member->host);

	if (!is_host(member->host))
		return err_set(err, EINVAL, "invalid host name '%s'", member->host);
	if (member->label && !is_label(member->label))
		return err_set(err, EINVAL, "invalid label '%s' (allowed: letters, digits, ._-)", member->label);
	if (!m && home->member_count == FLEET_MEMBERS_MAX)
		return err_set(err, EUSERS, "too many hosts (maximum %d)", FLEET_MEMBERS_MAX);
	if (!m)
		m = &home->members[home->member_count++];
	*m = *member;
	return 0;
}

/* One word after the host. */
static int parse_word(char *word, struct fleet_host *m, struct sonde_err *err)
{
	static const char agents[] = "agents=", label[] = "label=";
	char *end, *number = word + sizeof(agents) - 1;

	if (strncmp(word, label, sizeof(label) - 1) == 0) {
		m->label = word + sizeof(label) - 1;
		return 0;
	}
	if (strncmp(word, agents, sizeof(agents) - 1) != 0)
		return err_set(err, EINVAL, "invalid option '%s' (expected agents=N or label=NAME)", word);
	m->agents = strtoll(number, &end, 10);
	if (*end || end == number || m->agents < 0 || m->agents > AGENTS_MAX)
		return err_set(err, EINVAL, "invalid number of agents '%s' (expected 0 to %d)", word, AGENTS_MAX);
	return 0;
}

int fleet_members_parse(struct fleet_dir *home, const char *text, const struct fleet_host *usual, struct arena *arena,
		struct sonde_err *err)
{
	char *copy = arena_strdup(arena, text), *next = copy, *line;
	int rc = copy ? 0 : err_sys(err, ENOMEM, "cannot read the hosts");

	for (size_t number = 1; rc == 0 && (line = strsep(&next, "\n")); number++) {
		struct fleet_host m = *usual;
		char *words = NULL, *word;

		line[strcspn(line, "#")] = '\0';
		m.host = strtok_r(line, " \t\r", &words);
		while (rc == 0 && m.host && (word = strtok_r(NULL, " \t\r", &words)))
			rc = parse_word(word, &m, err);
		if (rc == 0 && m.host)
			rc = fleet_members_add(home, &m, err);
		if (rc < 0)
			err_prefix(err, "line %zu", number);
	}
	return rc;
}

/* A running remote command. */
struct call {
	const struct fleet_host *member;
	struct job *job;
	int errors; /* its stderr */
};

/* Address and token in a memfd. */
static int input_of(const struct fleet_dir *home, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int fd = memfd_create("sonde-fleet", MFD_CLOEXEC);
	struct json j;

	json_init(&j, &text, false);
	json_object(&j);
	json_kstr(&j, "url", home->url);
	json_kstr(&j, "token", home->token);
	json_end(&j);
	if (fd < 0 || fs_write_all(fd, text.data, text.len) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(err, errno, "cannot prepare the connection to a host");
	return fd;
}

/* shell... HOST SONDE fleet --member NAME --agents N ACTION */
static int words_of(const struct fleet_host *m, const char *action, struct arena *arena, char **argv,
		struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf name = BUF_INIT;
	char **shell = NULL;
	size_t n = 0;
	int rc = words_split(m->shell, arena, &shell, err);

	if (rc < 0)
		return rc;
	fs_safe_name(&name, m->host, 63);
	for (; n < WORDS_MAX - 12 && shell[n]; n++)
		argv[n] = shell[n];
	argv[n++] = arena_strdup(arena, m->host);
	argv[n++] = arena_strdup(arena, m->sonde);
	argv[n++] = arena_strdup(arena, "fleet");
	argv[n++] = arena_strdup(arena, "--member");
	argv[n++] = arena_strdup(arena, name.data);
	argv[n++] = arena_printf(arena, "--agents=%lld", (long long)m->agents);
	if (m->label)
		argv[n++] = arena_printf(arena, "--label=%s", m->label);
	argv[n++] = arena_strdup(arena, action);
	argv[n] = NULL;
	for (size_t i = 0; i < n; i++)
		if (!argv[i])
			return err_sys(err, ENOMEM, "cannot connect to '%s'", m->host);
	return 0;
}

static int start(struct call *c, const struct fleet_dir *home, const char *action, struct arena *arena,
		struct sonde_err *err)
{
	char *argv[WORDS_MAX];
	bool is_join = strcmp(action, "join") == 0;
	CLEANUP(cleanup_fd) int input = is_join ? input_of(home, err) : -1;
	struct job_spec spec = JOB_SPEC_INIT;
	int rc = is_join && input < 0 ? input : words_of(c->member, action, arena, argv, err);

	c->errors = memfd_create("sonde-words", MFD_CLOEXEC);
	if (rc == 0 && c->errors < 0)
		rc = err_sys(err, errno, "cannot connect to '%s'", c->member->host);
	if (rc < 0)
		return rc;
	spec.argv = argv;
	spec.fds[0] = is_join ? input : JOB_FD_NULL;
	spec.fds[1] = JOB_FD_NULL;
	spec.fds[2] = c->errors;
	return job_start(&c->job, &spec, err);
}

static int finish(struct call *c, int64_t until_ns, struct sonde_err *err)
{
	static const struct job_ladder ladder = { .terminate_ns = 1000000000 };
	char text[WORDS_BYTES];
	int rc = job_wait(c->job, until_ns, NULL), status;
	ssize_t n;
	char *line;

	job_end(c->job, &ladder, NULL);
	if (rc == -ETIMEDOUT)
		return err_set(err, ETIMEDOUT, "host '%s' does not respond", c->member->host);
	status = job_status(c->job);
	if (rc == 0 && status == 0)
		return 0;
	/* Its last line of stderr. */
	n = pread(c->errors, text, WORDS_BYTES - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	for (n = (ssize_t)strlen(text); n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r'); n--)
		text[n - 1] = '\0';
	line = strstr(text, "\nsonde: ");
	line = line ? line + 1 : strrchr(text, '\n') ? strrchr(text, '\n') + 1 : text;
	memmove(text, line, strlen(line) + 1);
	text[strcspn(text, "\n")] = '\0';
	err_set(err, EIO, "host '%s': %s", c->member->host, *text ? text : "the remote shell failed");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		err_hint(err, "sonde must be installed at the same path there; otherwise use --remote PATH");
	return -EIO;
}

int fleet_members_call(const struct fleet_dir *home, const struct fleet_host *first, size_t count, const char *action,
		int64_t patience_ns, struct sonde_err *err)
{
	int64_t until_ns = patience_ns == INT64_MAX ? INT64_MAX : clock_mono_ns() + patience_ns;
	struct call *calls = calloc(count + 1, sizeof(*calls));
	struct arena arena = ARENA_INIT;
	int rc = calls ? 0 : err_sys(err, ENOMEM, "cannot connect to the hosts");

	for (size_t i = 0; calls && i < count; i++) {
		int failed;

		calls[i] = (struct call){ .member = &first[i], .errors = -1 };
		failed = start(&calls[i], home, action, &arena, rc ? NULL : err);
		rc = rc ? rc : failed;
	}
	for (size_t i = 0; calls && i < count; i++) {
		int failed = calls[i].job ? finish(&calls[i], until_ns, rc ? NULL : err) : 0;

		rc = rc ? rc : failed;
		job_free(calls[i].job);
		if (calls[i].errors >= 0)
			close(calls[i].errors);
	}
	free(calls);
	arena_release(&arena);
	return rc;
}
