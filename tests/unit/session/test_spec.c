/* Session files: each key, its defaults and bounds, and the messages for what is wrong. */
#include "scratch.h"

#include "session/spec.h"

#include <math.h>

static struct arena arena = ARENA_INIT;
static struct session_spec spec;

#define COMMAND "command: [a, b]\n"

static void load(const char *text)
{
	struct sonde_err err = SONDE_ERR_INIT;

	scratch_write("s.yml", text);
	if (session_spec_load(&spec, "s.yml", &arena, &err) < 0)
		fail_msg("%s: %s", text, err.text);
}

static void refuse_with_hint(const char *text, const char *message, const char *hint)
{
	struct sonde_err err = SONDE_ERR_INIT;

	scratch_write("s.yml", text);
	assert_int_equal(session_spec_load(&spec, "s.yml", &arena, &err), -EINVAL);
	assert_string_equal(err.text, message);
	assert_string_equal(err.hint, hint);
}

static void refuse(const char *text, const char *message)
{
	refuse_with_hint(text, message, "");
}

static void a_command_is_enough(void **state)
{
	(void)state;
	load(COMMAND);
	assert_string_equal(spec.name, "a");
	assert_string_equal(spec.command[1], "b");
	assert_null(spec.command[2]);
	assert_int_equal(spec.repeats, 1);
	assert_string_equal(spec.probes[0], "trace");
	assert_string_equal(spec.probes[1], "system");
	assert_null(spec.probes[2]);
	assert_int_equal(spec.sweep.count, 0);
	assert_int_equal(spec.timeout_ns, 0);
	assert_false(spec.outputs[SESSION_HTML]);
	load("command: run it 'with words'\nname: n\nargs: [x]\n");
	assert_string_equal(spec.name, "n");
	assert_string_equal(spec.command[2], "with words");
	assert_string_equal(spec.args[0], "x");
	load("image: i\nargs: [x]\n");
	assert_string_equal(spec.name, "i");
	load("image: i\nargs: [x]\ncontainer_args: [-t]\n");
	assert_string_equal(spec.engine_args[0], "-t");
	refuse("name: n\n", "s.yml:1: a session needs a 'command' or an 'image'");
	refuse("command: []\n", "s.yml:1: a session needs a 'command' or an 'image'");
	refuse("image: i\n", "s.yml:1: the image needs a 'command', or 'args' for its own command");
	refuse("image: i\nargs: []\n", "s.yml:1: the image needs a 'command', or 'args' for its own command");
	refuse("image: i\nrootfs: /r\n" COMMAND, "s.yml:1: 'image' and 'rootfs' are mutually exclusive");
	refuse("container_args: [-t]\n" COMMAND, "s.yml:1: 'container_args' needs an 'image'");
	refuse("mounts: ['/a:/b']\n" COMMAND, "s.yml:1: 'mounts' needs an 'image' or a 'rootfs'");
}

static void times_and_repeats(void **state)
{
	(void)state;
	load(COMMAND "warm_up: 2s\nduration: 1500ms\ntimeout: 3m\nrepeats: 100\nladder: {interrupt: 1s, terminate: "
		     "2s}\n");
	assert_int_equal(spec.warm_up_ns, 2000000000);
	assert_int_equal(spec.duration_ns, 1500000000);
	assert_int_equal(spec.timeout_ns, 180000000000);
	assert_int_equal(spec.repeats, 100);
	assert_int_equal(spec.ladder.interrupt_ns, 1000000000);
	assert_int_equal(spec.ladder.terminate_ns, 2000000000);
	refuse(COMMAND "repeats: 101\n", "s.yml:1: 'repeats' must be at most 100");
	refuse(COMMAND "repeats: 0\n", "s.yml:2: 'repeats' must be at least 1");
}

static void variables(void **state)
{
	char text[4096] = COMMAND "env:\n";
	size_t n;

	(void)state;
	load(COMMAND "env: {A: 1, B: two words}\n");
	assert_int_equal(spec.env_count, 2);
	assert_string_equal(spec.env[0], "A=1");
	assert_string_equal(spec.env[1], "B=two words");
	assert_null(spec.env[2]);
	refuse(COMMAND "env: [A]\n", "s.yml:2: 'env' must be a mapping (name: value)");
	refuse(COMMAND "env: {A=B: 1}\n", "s.yml:2: invalid environment variable 'A=B' (expected NAME: value)");
	refuse(COMMAND "env: {A: [1]}\n", "s.yml:2: invalid environment variable 'A' (expected NAME: value)");
	refuse(COMMAND "env: {'': 1}\n", "s.yml:2: a name in 'env' must be a string");
	refuse(COMMAND "env: {[a]: 1}\n", "s.yml:2: a name in 'env' must be a string");
	for (int i = 0; i < SESSION_ENV_MAX; i++) {
		n = strlen(text);
		snprintf(text + n, sizeof(text) - n, "  V%d: x\n", i);
	}
	load(text);
	assert_int_equal(spec.env_count, SESSION_ENV_MAX);
	n = strlen(text);
	snprintf(text + n, sizeof(text) - n, "  ONE: more\n");
	refuse(text, "s.yml:63: too many variables in 'env' (maximum 60)");
}

static void knobs(void **state)
{
	char text[4096] = COMMAND "knobs:\n";
	size_t n;

	(void)state;
	load(COMMAND "knobs: {threads: 4, mode: fast}\n");
	assert_int_equal(spec.knob_count, 2);
	assert_string_equal(spec.knobs[0].name, "threads");
	assert_string_equal(spec.knobs[0].text, "4");
	assert_string_equal(spec.knobs[1].text, "fast");
	refuse(COMMAND "knobs: {threads: [4]}\n", "s.yml:2: knob 'threads' must be a number or a string");
	refuse(COMMAND "knobs: {a: 0123456789012345678901234567890123456789012345678901234567890123456789}\n",
			"s.yml:2: the knob 'a' needs a name and a value of less than 64 bytes");
	for (int i = 0; i < SESSION_KNOBS_MAX; i++) {
		n = strlen(text);
		snprintf(text + n, sizeof(text) - n, "  k%d: 1\n", i);
	}
	load(text);
	assert_int_equal(spec.knob_count, SESSION_KNOBS_MAX);
	n = strlen(text);
	snprintf(text + n, sizeof(text) - n, "  more: 1\n");
	refuse(text, "s.yml:19: too many knobs (maximum 16)");
}

static uint64_t memory_of(const char *size)
{
	char text[128];

	snprintf(text, sizeof(text), COMMAND "limits: {memory: %s}\n", size);
	load(text);
	return spec.limits.memory_bytes;
}

static void limits(void **state)
{
	static const char *const wrong[] = { "0", "-1", "x", "1X", "2GiBs", "1e18", "[1]", "1MB", "0.5" };

	(void)state;
	load(COMMAND "limits: {cpus: 0.5, pids: 1}\n");
	assert_true(spec.limits.cpus == 0.5);
	assert_int_equal(spec.limits.pids, 1);
	load(COMMAND "limits: {cpus: 0.01}\n");
	load(COMMAND "limits: {cpus: 4096}\n");
	refuse(COMMAND "limits: {cpus: 0.009}\n", "s.yml:2: 'cpus' must be a number from 0.01 to 4096");
	refuse(COMMAND "limits: {cpus: 4097}\n", "s.yml:2: 'cpus' must be a number from 0.01 to 4096");
	refuse(COMMAND "limits: {cpus: many}\n", "s.yml:2: 'cpus' must be a number from 0.01 to 4096");
	refuse(COMMAND "limits: {pids: 0}\n", "s.yml:2: 'pids' must be at least 1");
	assert_int_equal(memory_of("1"), 1);
	assert_int_equal(memory_of("1000"), 1000);
	assert_int_equal(memory_of("2K"), 2048);
	assert_int_equal(memory_of("512M"), 512 << 20);
	assert_int_equal(memory_of("1.5G"), 3ll << 29);
	assert_int_equal(memory_of("2GiB"), 2ll << 30);
	assert_int_equal(memory_of("1T"), 1ll << 40);
	assert_int_equal(memory_of("1e17"), 100000000000000000);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char text[128];

		snprintf(text, sizeof(text), COMMAND "limits: {memory: %s}\n", wrong[i]);
		refuse(text, "s.yml:2: 'memory' must be a size such as 512M or 2GiB");
	}
}

static void datasets(void **state)
{
	static const char digest[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	char text[256];

	(void)state;
	load(COMMAND "dataset: file:/data\n");
	assert_string_equal(spec.dataset.source, "file:/data");
	assert_null(spec.dataset.sha256);
	snprintf(text, sizeof(text), COMMAND "dataset: {source: s3://b/k, endpoint: http://e, sha256: '%s'}\n", digest);
	load(text);
	assert_string_equal(spec.dataset.endpoint, "http://e");
	assert_string_equal(spec.dataset.sha256, digest);
	text[strlen(text) - 4] = '\0';
	strcat(text, "'}\n");
	refuse(text, "s.yml:2: 'sha256' must be 64 hexadecimal digits");
	snprintf(text, sizeof(text), COMMAND "dataset: {source: s3://b/k, sha256: '%.63sF'}\n", digest);
	refuse(text, "s.yml:2: 'sha256' must be 64 hexadecimal digits");
	refuse(COMMAND "dataset: {endpoint: e}\n", "s.yml:2: a dataset needs a 'source', such as file:PATH");
	refuse(COMMAND "dataset: 'ftp://x'\n",
			"s.yml:2: invalid dataset 'ftp://x' (supported: file:PATH, http(s)://..., s3://BUCKET/KEY, "
			"sage://BUCKET/PATH)");
	refuse(COMMAND "dataset: 'file:'\n",
			"s.yml:2: invalid dataset 'file:' (supported: file:PATH, http(s)://..., s3://BUCKET/KEY, "
			"sage://BUCKET/PATH)");
}

static void mounts(void **state)
{
	static const char wrong[] =
			"s.yml:3: invalid mount (expected SOURCE:TARGET or SOURCE:TARGET:ro, with absolute paths)";
	char text[1024] = COMMAND "rootfs: /r\nmounts:\n";

	(void)state;
	load(COMMAND "rootfs: /r\nmounts: ['/a:/b', '/c:/d:ro', '/e:/f:rw', {source: /g, target: /h, beneath: /i}, "
		     "{source: /j, target: /k, read_only: false}]\n");
	assert_int_equal(spec.mount_count, 5);
	assert_string_equal(spec.mounts[0].source, "/a");
	assert_string_equal(spec.mounts[0].target, "/b");
	assert_false(spec.mounts[0].is_read_only);
	assert_string_equal(spec.mounts[1].target, "/d");
	assert_true(spec.mounts[1].is_read_only);
	assert_string_equal(spec.mounts[2].target, "/f");
	assert_false(spec.mounts[2].is_read_only);
	assert_null(spec.mounts[2].beneath);
	assert_string_equal(spec.mounts[3].beneath, "/i");
	assert_true(spec.mounts[3].is_read_only);
	assert_false(spec.mounts[4].is_read_only);
	refuse(COMMAND "rootfs: /r\nmounts: ['/a']\n", wrong);
	refuse(COMMAND "rootfs: /r\nmounts: ['a:/b']\n", wrong);
	refuse(COMMAND "rootfs: /r\nmounts: ['/a:b']\n", wrong);
	refuse(COMMAND "rootfs: /r\nmounts: ['/a:/b:rx']\n", wrong);
	refuse(COMMAND "rootfs: /r\nmounts: x\n", "s.yml:3: 'mounts' must be a list");
	refuse(COMMAND "rootfs: /r\nmounts: [{source: /a}]\n",
			"s.yml:3: a mount needs a 'source' and a 'target', with absolute paths");
	refuse(COMMAND "rootfs: /r\nmounts: [{source: a, target: /b}]\n",
			"s.yml:3: a mount needs a 'source' and a 'target', with absolute paths");
	refuse(COMMAND "rootfs: /r\nmounts: [{source: /a, target: b}]\n",
			"s.yml:3: a mount needs a 'source' and a 'target', with absolute paths");
	refuse(COMMAND "rootfs: /r\nmounts: [{source: /a, target: '/b:c'}]\n",
			"s.yml:3: a mount needs a 'source' and a 'target', with absolute paths");
	refuse(COMMAND "rootfs: /r\nmounts: [{source: /a, target: /b, beneath: c}]\n",
			"s.yml:3: 'beneath' must be an absolute path");
	for (int i = 0; i < SESSION_MOUNTS_MAX; i++)
		strcat(text, "  - /a:/b\n");
	load(text);
	assert_int_equal(spec.mount_count, SESSION_MOUNTS_MAX);
	strcat(text, "  - /a:/b\n");
	refuse(text, "s.yml:20: too many mounts (maximum 16)");
}

static void sweeps(void **state)
{
	char text[512] = COMMAND "sweep: {over: n, values: [1";

	(void)state;
	load(COMMAND "sweep: {over: cpus, values: [0.5, 2]}\n");
	assert_int_equal(spec.sweep.count, 2);
	assert_true(spec.sweep.values[0] == 0.5 && spec.sweep.values[1] == 2);
	assert_string_equal(spec.sweep.texts[1], "2");
	assert_string_equal(spec.sweep.metric, "steps_per_second");
	assert_true(spec.sweep.tolerance == 0.05);
	load(COMMAND "sweep: {over: memory, values: [1M, 2G], metric: m, tolerance: 0}\n");
	assert_true(spec.sweep.values[0] == 1048576 && spec.sweep.values[1] == 2147483648.0);
	assert_string_equal(spec.sweep.metric, "m");
	assert_true(spec.sweep.tolerance == 0);
	load(COMMAND "sweep: {over: batch, values: [8, fast, 0]}\n");
	assert_true(spec.sweep.values[0] == 8);
	assert_true(isnan(spec.sweep.values[1]));
	assert_true(spec.sweep.values[2] == 0);
	assert_string_equal(spec.sweep.texts[1], "fast");
	refuse(COMMAND "sweep: {over: cpus, values: [0.5, x]}\n", "s.yml:2: 'cpus' must be a number from 0.01 to 4096");
	refuse(COMMAND "sweep: {over: memory, values: [1M, x]}\n",
			"s.yml:2: 'memory' must be a size such as 512M or 2GiB");
	refuse(COMMAND "sweep: {over: n, values: [1]}\n", "s.yml:2: a sweep needs 'over' and at least two 'values'");
	refuse(COMMAND "sweep: {values: [1, 2]}\n", "s.yml:2: a sweep needs 'over' and at least two 'values'");
	refuse(COMMAND "sweep: {over: n, values: 1}\n", "s.yml:2: 'values' must be a list");
	refuse(COMMAND "sweep: {over: n, values: [1, [2]]}\n",
			"s.yml:2: 'values' of a sweep must be strings (maximum 16)");
	refuse(COMMAND "sweep: {over: n, values: [1, 2], tolerance: 1}\n", "s.yml:2: 'tolerance' must be from 0 to 1");
	refuse(COMMAND "sweep: {over: n, values: [1, 2], tolerance: -0.1}\n",
			"s.yml:2: 'tolerance' must be from 0 to 1");
	for (int i = 1; i < SESSION_SWEEP_MAX; i++)
		strcat(text, ", 1");
	strcat(text, "]}\n");
	load(text);
	assert_int_equal(spec.sweep.count, SESSION_SWEEP_MAX);
	text[strlen(text) - 3] = '\0';
	strcat(text, ", 1]}\n");
	refuse(text, "s.yml:2: 'values' of a sweep must be strings (maximum 16)");
}

static void outputs_and_thresholds(void **state)
{
	char text[1024] = COMMAND "thresholds:\n";
	size_t n;

	(void)state;
	load(COMMAND "outputs: [csv, html]\nthresholds: {cpus: {max: 2}, steps: {min: 1, max: 3}}\n");
	assert_false(spec.outputs[SESSION_JSON]);
	assert_false(spec.outputs[SESSION_OPENMETRICS]);
	assert_true(spec.outputs[SESSION_CSV]);
	assert_true(spec.outputs[SESSION_HTML]);
	load(COMMAND "outputs: [json, openmetrics]\nthresholds: {cpus: {max: 2}, steps: {min: 1, max: 3}, wall: "
		     "{min: -4}}\n");
	assert_true(spec.outputs[SESSION_JSON] && spec.outputs[SESSION_OPENMETRICS]);
	assert_int_equal(spec.threshold_count, 3);
	assert_string_equal(spec.thresholds[0].metric, "cpus");
	assert_true(spec.thresholds[0].min == -INFINITY && spec.thresholds[0].max == 2);
	assert_true(spec.thresholds[1].min == 1 && spec.thresholds[1].max == 3);
	assert_true(spec.thresholds[2].min == -4 && spec.thresholds[2].max == INFINITY);
	refuse(COMMAND "outputs: csv\n", "s.yml:2: 'outputs' must be a list");
	refuse(COMMAND "outputs: [pdf]\n", "s.yml:2: unknown output (supported: json, openmetrics, csv, html)");
	refuse(COMMAND "outputs: [[csv]]\n", "s.yml:2: unknown output (supported: json, openmetrics, csv, html)");
	refuse(COMMAND "thresholds: {cpus: {}}\n", "s.yml:2: the threshold of 'cpus' needs a 'min' or a 'max'");
	for (int i = 0; i < SESSION_THRESHOLDS_MAX; i++) {
		n = strlen(text);
		snprintf(text + n, sizeof(text) - n, "  m%d: {max: 1}\n", i);
	}
	load(text);
	assert_int_equal(spec.threshold_count, SESSION_THRESHOLDS_MAX);
	n = strlen(text);
	snprintf(text + n, sizeof(text) - n, "  more: {max: 1}\n");
	refuse(text, "s.yml:35: too many thresholds (maximum 32)");
}

static void companions(void **state)
{
	(void)state;
	load(COMMAND "companions:\n"
		     "  - command: [server, -p]\n"
		     "    ready: {port: 65535, file: /f, command: [test, x], timeout: 5s}\n"
		     "  - {name: other, command: b}\n");
	assert_int_equal(spec.companion_count, 2);
	assert_string_equal(spec.companions[0].name, "server");
	assert_string_equal(spec.companions[0].command[1], "-p");
	assert_int_equal(spec.companions[0].port, 65535);
	assert_string_equal(spec.companions[0].file, "/f");
	assert_string_equal(spec.companions[0].check[1], "x");
	assert_int_equal(spec.companions[0].ready_timeout_ns, 5000000000);
	assert_string_equal(spec.companions[1].name, "other");
	assert_int_equal(spec.companions[1].port, 0);
	refuse(COMMAND "companions: x\n", "s.yml:2: 'companions' must be a list");
	refuse(COMMAND "companions: [{name: a}]\n", "s.yml:2: a companion needs a 'command'");
	refuse(COMMAND "companions: [{command: []}]\n", "s.yml:2: a companion needs a 'command'");
	refuse(COMMAND "companions: [{command: a, ready: {port: 65536}}]\n", "s.yml:2: 'port' must be at most 65535");
	refuse(COMMAND "companions: [{command: a, ready: {port: 0}}]\n", "s.yml:2: 'port' must be at least 1");
	load(COMMAND "companions: [{command: a}, {command: a}, {command: a}, {command: a}, {command: a}, {command: a}, "
		     "{command: a}, {command: a}]\n");
	assert_int_equal(spec.companion_count, COMPANIONS_MAX);
	refuse(COMMAND "companions: [{command: a}, {command: a}, {command: a}, {command: a}, {command: a}, "
		       "{command: a}, "
		       "{command: a}, {command: a}, {command: a}]\n",
			"s.yml:2: too many companions (maximum 8)");
}

static void tools_and_probes(void **state)
{
	(void)state;
	load(COMMAND "tools: [tegrastats, nsys, tau, {around: [perf, stat], env: ['A=1']}, {name: n, command: c}]\n"
		     "probes: [cpu, sched]\n");
	assert_int_equal(spec.tool_count, 5);
	assert_string_equal(spec.tools[0].name, "tegrastats");
	assert_string_equal(spec.tools[0].command[4], "tegrastats.log");
	assert_null(spec.tools[0].command[5]);
	assert_null(spec.tools[0].tool_wrap);
	assert_string_equal(spec.tools[1].tool_wrap[5], "{tool}/report");
	assert_null(spec.tools[1].tool_wrap[6]);
	assert_null(spec.tools[1].command);
	assert_null(spec.tools[1].env);
	assert_string_equal(spec.tools[2].env[1], "TRACEDIR={tool}");
	assert_null(spec.tools[2].env[2]);
	assert_string_equal(spec.tools[3].name, "perf");
	assert_string_equal(spec.tools[3].env[0], "A=1");
	assert_string_equal(spec.tools[4].name, "n");
	assert_string_equal(spec.probes[1], "system");
	assert_string_equal(spec.probes[2], "cpu");
	assert_string_equal(spec.probes[3], "sched");
	assert_null(spec.probes[4]);
	refuse_with_hint(COMMAND "tools: [nsyss]\n",
			"s.yml:2: unknown tool 'nsyss': set its 'command', or 'around' to wrap the application",
			"did you mean 'nsys'?");
	refuse(COMMAND "tools: [{name: x}]\n", "s.yml:2: a tool needs either 'command' or 'around'");
	refuse(COMMAND "tools: [{command: x, around: y}]\n", "s.yml:2: a tool needs either 'command' or 'around'");
	refuse(COMMAND "tools: [{around: x, env: [A]}]\n",
			"s.yml:2: invalid variable 'A' in 'env' of a tool (expected NAME=value)");
	refuse(COMMAND "image: i\ntools: [tau]\n",
			"s.yml:1: tool 'tau' wraps the command and cannot be used with an 'image' or 'rootfs'");
	refuse(COMMAND "rootfs: /r\ntools: [tau]\n",
			"s.yml:1: tool 'tau' wraps the command and cannot be used with an 'image' or 'rootfs'");
	load(COMMAND "rootfs: /r\ntools: [tegrastats]\n");
	refuse_with_hint(COMMAND "probes: [shed]\n", "s.yml:2: unknown probe 'shed'", "did you mean 'sched'?");
	refuse(COMMAND "probes: [[cpu]]\n", "s.yml:2: unknown probe '?'");
	refuse(COMMAND "probes: cpu\n", "s.yml:2: 'probes' must be a list");
	load(COMMAND "probes: [cpu, cpu, cpu, cpu, cpu, cpu, cpu, cpu, cpu, cpu, cpu, cpu, cpu, cpu]\n");
	refuse(COMMAND "probes: [cpu, cpu, cpu, cpu, cpu, cpu, cpu, cpu, cpu, cpu, cpu, cpu, cpu, cpu, cpu]\n",
			"s.yml:2: too many probes (maximum 16)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SCRATCH(a_command_is_enough),
		IN_SCRATCH(times_and_repeats),
		IN_SCRATCH(variables),
		IN_SCRATCH(knobs),
		IN_SCRATCH(limits),
		IN_SCRATCH(datasets),
		IN_SCRATCH(mounts),
		IN_SCRATCH(sweeps),
		IN_SCRATCH(outputs_and_thresholds),
		IN_SCRATCH(companions),
		IN_SCRATCH(tools_and_probes),
	};
	int failed = RUN_TESTS(tests);

	arena_release(&arena);
	return failed;
}
