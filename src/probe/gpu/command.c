/*
 * Commands that print the state of devices periodically: nvidia-smi and tegrastats. They run during the recording,
 * their lines are read as they arrive, and they are stopped with it; if the recorder dies, SIGPIPE ends them.
 */
#include "base/fs.h"
#include "launch/spawn-command.h"
#include "probe/gpu/gpu.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LINE_BYTES 4096

struct command {
	bool (*parse)(const char *line, struct gpu_reading *r);
	pid_t pid;
	int fd;
	size_t len;
	bool is_skipping; /* the rest of an overlong line */
	char line[LINE_BYTES];
};

static int spawn(struct command *c, char *const *argv)
{
	sigset_t none;
	int ends[2];
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	sigemptyset(&none);
	struct launch_command it = { .argv = argv,
		.fds = { JOB_FD_NULL, ends[1], JOB_FD_NULL },
		.mask = &none,
		.has_usual_signals = true,
		.has_own_group = true };
	int rc = launch_spawn(&it, &c->pid, NULL);
	close(ends[1]);
	if (rc) {
		close(ends[0]);
		return rc;
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	c->fd = ends[0];
	return 0;
}

static int command_open(void **state, char *const *argv, bool (*parse)(const char *, struct gpu_reading *),
		struct sonde_err *err)
{
	if (fs_check_program(argv[0])) /* cheaper than a fork that fails */
		return err_set(err, ENODEV, "no %s", argv[0]);
	struct command *c = calloc(1, sizeof(*c));
	if (!c)
		return err_sys(err, ENOMEM, "cannot read counters of devices");
	c->parse = parse;
	int rc = spawn(c, argv);
	if (rc) {
		free(c);
		return err_set(err, ENODEV, "no %s", argv[0]);
	}
	*state = c;
	return 0;
}

static int command_fd(void *state)
{
	const struct command *c = state;
	return c->fd;
}

static void parse_bytes(struct command *c, const char *bytes, size_t n, gpu_reading_fn *take, void *arg)
{
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] == '\n') {
			struct gpu_reading r;
			c->line[c->len] = '\0';
			if (!c->is_skipping && c->parse(c->line, &r))
				take(arg, &r);
			c->is_skipping = false;
			c->len = 0;
		} else if (c->len + 1 < sizeof(c->line)) {
			c->line[c->len++] = bytes[i];
		} else {
			c->is_skipping = true;
			c->len = 0;
		}
	}
}

static bool command_read(void *state, gpu_reading_fn *take, void *arg)
{
	struct command *c = state;
	char bytes[LINE_BYTES];
	ssize_t n;
	while ((n = read(c->fd, bytes, sizeof(bytes))) > 0)
		parse_bytes(c, bytes, (size_t)n, take, arg);
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void command_free(void *state)
{
	struct command *c = state;
	close(c->fd);
	kill(c->pid, SIGKILL);
	launch_reap(c->pid);
	free(c);
}

static int smi_open(void **state, unsigned interval_ms, struct sonde_err *err)
{
	static char program[] = "nvidia-smi", query[] = "--query-gpu=" GPU_SMI_QUERY,
		    format[] = "--format=csv,noheader,nounits";
	char every[32];
	snprintf(every, sizeof(every), "--loop-ms=%u", interval_ms);
	return command_open(state, (char *[]){ program, query, format, every, NULL }, gpu_parse_smi, err);
}

static int tegra_open(void **state, unsigned interval_ms, struct sonde_err *err)
{
	static char program[] = "tegrastats", option[] = "--interval";
	char every[32];
	snprintf(every, sizeof(every), "%u", interval_ms);
	return command_open(state, (char *[]){ program, option, every, NULL }, gpu_parse_tegra, err);
}

const struct gpu_source gpu_smi = { .name = "nvidia-smi",
	.open = smi_open,
	.fd = command_fd,
	.read = command_read,
	.free = command_free };

const struct gpu_source gpu_tegra = { .name = "tegrastats",
	.open = tegra_open,
	.fd = command_fd,
	.read = command_read,
	.free = command_free };
