/* The job server: what a request may ask for, the queue, and what is left after a restart. */
#include "scratch.h"

#include "session/jobs.h"

#include <time.h>

static struct arena arena = ARENA_INIT;
static struct jobs_config config;
static struct jobs_plan plan;

static void load(const char *text)
{
	struct sonde_err err = SONDE_ERR_INIT;

	scratch_write("c.yml", text);
	if (jobs_config_load(&config, "c.yml", &arena, &err) < 0)
		fail_msg("%s", err.text);
}

static void refuse_config(const char *text, const char *message)
{
	struct sonde_err err = SONDE_ERR_INIT;

	scratch_write("c.yml", text);
	assert_int_equal(jobs_config_load(&config, "c.yml", &arena, &err), -EINVAL);
	assert_string_equal(err.text, message);
}

static void accept(const char *app, const char *args, const char *docker)
{
	struct sonde_err err = SONDE_ERR_INIT;

	if (jobs_plan(&plan, &config, app, args, docker, &arena, &err) != 0)
		fail_msg("%s", err.text);
}

static void refuse(const char *app, const char *args, const char *docker, int rc, const char *message)
{
	struct sonde_err err = SONDE_ERR_INIT;

	assert_int_equal(jobs_plan(&plan, &config, app, args, docker, &arena, &err), rc);
	assert_string_equal(err.text, message);
}

static void configurations(void **state)
{
	char text[4096] = "apps:\n";

	(void)state;
	assert_int_equal(jobs_config_load(&config, NULL, &arena, NULL), 0);
	assert_int_equal(config.timeout_ns, 3600000000000);
	assert_int_equal(config.app_count, 0);
	load("apps: {a: {command: [x, y]}, b: {command: z, rootfs: /r}}\nimages: [i/]\nmounts: [/m]\ntimeout: 5s\n");
	assert_int_equal(config.app_count, 2);
	assert_string_equal(config.apps[0].name, "a");
	assert_string_equal(config.apps[0].command[1], "y");
	assert_null(config.apps[0].root);
	assert_string_equal(config.apps[1].root, "/r");
	assert_string_equal(config.images[0], "i/");
	assert_string_equal(config.mounts[0], "/m");
	assert_int_equal(config.timeout_ns, 5000000000);
	refuse_config("apps: []\n", "c.yml:1: 'apps' must be a mapping of names to commands");
	refuse_config("apps: {[a]: {command: x}}\n", "c.yml:1: an application name must be a string");
	refuse_config("apps: {a: {}}\n", "c.yml:1: the application 'a' needs a 'command'");
	refuse_config("apps: {a: {command: []}}\n", "c.yml:1: the application 'a' needs a 'command'");
	for (int i = 0; i < JOBS_APPS_MAX; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "  a%d: {command: x}\n", i);
	load(text);
	assert_int_equal(config.app_count, JOBS_APPS_MAX);
	strcat(text, "  more: {command: x}\n");
	refuse_config(text, "c.yml:66: too many applications (maximum 64)");
}

static void applications_and_images(void **state)
{
	char name[300];

	(void)state;
	load("apps: {a: {command: x}}\nimages: [good/, other]\n");
	accept("a", "one 'two words'", NULL);
	assert_ptr_equal(plan.app, &config.apps[0]);
	assert_string_equal(plan.args[0], "one");
	assert_string_equal(plan.args[1], "two words");
	assert_null(plan.args[2]);
	accept("a", NULL, NULL);
	assert_null(plan.args[0]);
	accept("good/image:1", "x", NULL);
	assert_null(plan.app);
	assert_string_equal(plan.app_name, "good/image:1");
	accept("other", "x", NULL);
	refuse("bad/good/", "x", NULL, -EACCES, "the image 'bad/good/' is not allowed");
	refuse(NULL, "x", NULL, -EINVAL, "app_name is missing");
	refuse("", "x", NULL, -EINVAL, "app_name is missing");
	refuse("-v", "x", NULL, -EINVAL, "app_name must be an application's or image's name");
	refuse("good/ x", "x", NULL, -EINVAL, "app_name must be an application's or image's name");
	refuse("good/x", "", NULL, -EINVAL, "app_args is missing: an image needs arguments");
	refuse("a", "'open", NULL, -EINVAL, "app_args: cannot split the command: a single quote is never closed");
	refuse("a", "", "'open", -EINVAL, "app_docker_args: cannot split the command: a single quote is never closed");
	memset(name, 'x', sizeof(name));
	memcpy(name, "good/", 5);
	name[255] = '\0';
	accept(name, "x", NULL);
	name[255] = 'x';
	name[256] = '\0';
	refuse(name, "x", NULL, -EINVAL, "app_name must be an application's or image's name");
	load("timeout: 1s\n");
	accept("anything", "x", NULL);
}

static void variables(void **state)
{
	char text[1024] = "";

	(void)state;
	load("apps: {a: {command: x}}\n");
	accept("a", "", "-e A=1 --env B= --env=C=d=e");
	assert_int_equal(plan.env_count, 3);
	assert_string_equal(plan.env[0][0], "A");
	assert_string_equal(plan.env[0][1], "1");
	assert_string_equal(plan.env[1][1], "");
	assert_string_equal(plan.env[2][0], "C");
	assert_string_equal(plan.env[2][1], "d=e");
	refuse("a", "", "-e A", -EINVAL, "invalid variable 'A' (expected NAME=VALUE)");
	refuse("a", "", "-e =1", -EINVAL, "invalid variable '=1' (expected NAME=VALUE)");
	refuse("a", "", "-e", -EINVAL, "'-e' needs a value");
	refuse("a", "", "-e LD_PRELOAD=x", -EACCES, "the variable 'LD_PRELOAD' must not be set");
	refuse("a", "", "-e SONDE_X=x", -EACCES, "the variable 'SONDE_X' must not be set");
	accept("a", "", "-e LD=x -e SONDE=y");
	refuse("a", "", "-e=A=1", -EACCES, "'-e=A=1' is not allowed in app_docker_args (supported: -v, -e)");
	refuse("a", "", "-e A=1 --privileged", -EACCES,
			"'--privileged' is not allowed in app_docker_args (supported: -v, -e)");
	for (int i = 0; i < JOBS_WORDS_MAX; i++)
		strcat(text, "-e A=1 ");
	accept("a", "", text);
	assert_int_equal(plan.env_count, JOBS_WORDS_MAX);
	strcat(text, "-e A=1 ");
	refuse("a", "", text, -EINVAL, "too many variables in app_docker_args");
}

/* The paths below the scratch directory. */
static const char *here(const char *fmt)
{
	static char text[4][1024];
	static int next;
	char *out = text[next++ % 4];
	size_t n = 0;

	for (; *fmt; fmt++)
		n += (size_t)snprintf(out + n, 1024 - n, "%s%c", *fmt == '@' ? scratch : "", *fmt == '@' ? '/' : *fmt);
	return out;
}

static void mounts(void **state)
{
	char text[2048] = "";
	struct sonde_err err = SONDE_ERR_INIT;

	(void)state;
	assert_int_equal(fs_mkdir_p("in/deep", 0700, NULL), 0);
	assert_int_equal(fs_mkdir_p("in/writable", 0700, NULL), 0);
	assert_int_equal(fs_mkdir_p("out", 0700, NULL), 0);
	assert_int_equal(symlink("../out", "in/link"), 0);
	load(here("apps: {a: {command: x}, s: {command: x, rootfs: /r}}\n"
		  "mounts: ['@in/', '@in/writable:rw', '@in/writable/not:ro']\n"));
	accept("s", "", here("-v @in/deep:/data"));
	assert_int_equal(plan.mount_count, 1);
	assert_string_equal(plan.mounts[0].source, here("@in/deep"));
	assert_string_equal(plan.mounts[0].target, "/data");
	assert_string_equal(plan.mounts[0].beneath, here("@in"));
	assert_true(plan.mounts[0].is_read_only);
	accept("s", "", here("--volume @in:/data:ro --volume=@in/writable:/w:rw"));
	assert_true(plan.mounts[0].is_read_only);
	assert_false(plan.mounts[1].is_read_only);
	assert_string_equal(plan.mounts[1].beneath, here("@in/writable"));
	accept("some/image", "x", here("-v @in/deep:/data"));
	assert_int_equal(plan.mount_count, 1);
	assert_false(plan.has_unused_mounts);
	accept("a", "", here("-v @in/no:/data"));
	assert_int_equal(plan.mount_count, 0);
	assert_true(plan.has_unused_mounts);
	refuse("s", "", here("-v @in/no:/data"), -EINVAL, here("'@in/no' not found: Invalid argument"));
	refuse("s", "", here("-v @in/link:/data"), -EACCES, here("containers may not see '@in/link' here"));
	refuse("s", "", here("-v @out:/data"), -EACCES, here("containers may not see '@out' here"));
	refuse("s", "", here("-v @inside:/data"), -EACCES, here("containers may not see '@inside' here"));
	refuse("s", "", here("-v @in/deep:/data:rw"), -EACCES, here("'@in/deep' is read-only"));
	refuse("s", "", here("-v @in/writable/not:/data:rw"), -EACCES, here("'@in/writable/not' is read-only"));
	assert_int_equal(jobs_plan(&plan, &config, "s", "", here("-v @in/deep:/data:rw"), &arena, &err), -EACCES);
	assert_string_equal(err.hint, here("the server's configuration allows writing by '@in:rw' in 'mounts'"));
	refuse("s", "", here("-v @in/../out:/data"), -EINVAL, here("'@in/../out' is not a plain absolute path"));
	refuse("s", "", here("-v @in/..:/data"), -EINVAL, here("'@in/..' is not a plain absolute path"));
	refuse("s", "", "-v in:/data", -EINVAL, "'in' is not a plain absolute path");
	refuse("s", "", "-v /x", -EINVAL, "invalid mount '/x' (expected SOURCE:TARGET with absolute paths)");
	refuse("s", "", "-v /x:y", -EINVAL, "invalid mount '/x:y' (expected SOURCE:TARGET with absolute paths)");
	refuse("s", "", "-v /x:/y:z", -EINVAL, "invalid mount mode 'z' (supported: ro, rw)");
	for (int i = 0; i < SESSION_MOUNTS_MAX; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "-v %s/in:/d ", scratch);
	accept("s", "", text);
	assert_int_equal(plan.mount_count, SESSION_MOUNTS_MAX);
	strcat(text, here("-v @in:/d"));
	refuse("s", "", text, -EINVAL, "too many mounts in app_docker_args (maximum 16)");
	load("apps: {s: {command: x, rootfs: /r}}\nmounts: ['/']\n");
	accept("s", "", here("-v @in:/data"));
	assert_string_equal(plan.mounts[0].beneath, "/");
}

static void expect_session(const char *expected)
{
	struct buf out = BUF_INIT;
	struct json j;

	json_init(&j, &out, false);
	jobs_plan_write(&j, &config, &plan);
	assert_string_equal(out.data, expected);
	buf_release(&out);
}

static void a_plan_is_a_session(void **state)
{
	(void)state;
	assert_int_equal(fs_mkdir_p("in", 0700, NULL), 0);
	load(here("apps: {a: {command: [x, y]}, s: {command: z, rootfs: /r}}\nmounts: ['@in:rw']\ntimeout: 1500ms\n"));
	accept("a", "b c", "-e A=1");
	expect_session("{\"name\":\"a\",\"command\":[\"x\",\"y\"],\"args\":[\"b\",\"c\"],\"env\":{\"A\":\"1\"},"
		       "\"timeout\":\"1.500s\",\"outputs\":[\"json\",\"openmetrics\",\"csv\"]}");
	config.timeout_ns = 0;
	accept("s", "", here("-v @in:/d:rw"));
	expect_session(here("{\"name\":\"s\",\"command\":[\"z\"],\"rootfs\":\"/r\",\"args\":[],"
			    "\"mounts\":[{\"source\":\"@in\","
			    "\"target\":\"/d\",\"beneath\":\"@in\",\"read_only\":false}],"
			    "\"outputs\":[\"json\",\"openmetrics\",\"csv\"]}"));
	accept("i", "b", NULL);
	expect_session("{\"name\":\"i\",\"image\":\"i\",\"args\":[\"b\"],\"outputs\":[\"json\",\"openmetrics\","
		       "\"csv\"]}");
}

/* The queue. The program that runs a session is a script. */

static struct jobs *queue;

static void open_queue(void)
{
	static char dir[128], program[128];
	struct jobs_options options = { dir, program, &config };
	struct sonde_err err = SONDE_ERR_INIT;

	snprintf(dir, sizeof(dir), "%s/jobs", scratch);
	snprintf(program, sizeof(program), "%s/program", scratch);
	if (jobs_open(&queue, &options, &err) < 0)
		fail_msg("%s", err.text);
}

static unsigned submit(const char *app)
{
	struct jobs_request request = { .name = "pipe", .app_name = app, .app_args = "x y" };
	struct sonde_err err = SONDE_ERR_INIT;
	unsigned number = 0;

	if (jobs_submit(queue, &request, &number, &err) < 0)
		fail_msg("%s", err.text);
	return number;
}

static const char *show(unsigned number)
{
	static struct buf out = BUF_INIT;
	struct json j;

	buf_reset(&out);
	json_init(&j, &out, false);
	assert_int_equal(jobs_show(queue, number, &j, NULL), 0);
	return out.data;
}

static void await(unsigned number, const char *what)
{
	while (!strstr(show(number), what))
		nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
}

static void jobs_run_in_turn(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct buf out = BUF_INIT;
	struct json j;
	bool is_over = false;

	(void)state;
	load("apps: {good: {command: x}, breach: {command: x}, bad: {command: x}, killed: {command: x}}\n");
	scratch_script("program",
			"echo \"$1 $3\" >>order\ngrep -o '\"name\": \"[a-z]*\"' \"$2\" >>order\n"
			"echo to the log\nmkdir \"$4\"\necho data >\"$4/profile.json\"\nmkdir \"$4/tables\"\n"
			"ln -s /etc/passwd \"$4/link\"\n"
			"case $(cat \"$2\") in *breach*) exit 3;; *bad*) exit 4;; *killed*) kill -9 $$;; esac\n");
	open_queue();
	assert_int_equal(submit("good"), 1);
	assert_int_equal(submit("breach"), 2);
	assert_int_equal(submit("bad"), 3);
	assert_int_equal(submit("killed"), 4);
	await(1, "\"state\":\"done\"");
	assert_non_null(strstr(show(1),
			"{\"number\":1,\"job\":\"pipe\",\"app_name\":\"good\",\"app_args\":\"x y\","
			"\"app_docker_args\":\"\",\"state\":\"done\",\"submitted_timestamp_seconds\":"));
	assert_non_null(strstr(show(1),
			",\"exit_code\":0,\"log\":\"/jobs/1/log\",\"artifacts\":\"/jobs/1/artifacts\"}"));
	await(2, "\"state\":\"done\"");
	assert_non_null(strstr(show(2), "\"exit_code\":3,"));
	await(3, "\"state\":\"failed\"");
	assert_non_null(strstr(show(3), "\"exit_code\":4,"));
	await(4, "\"state\":\"failed\"");
	assert_non_null(strstr(show(4), "\"exit_code\":null,"));
	assert_string_equal(scratch_read("order"),
			"session -o\n\"name\": \"good\"\nsession -o\n\"name\": \"breach\"\nsession -o\n\"name\": "
			"\"bad\"\n"
			"session -o\n\"name\": \"killed\"\n");
	assert_int_equal(jobs_log(queue, 1, &out, &err), 0);
	assert_string_equal(out.data, "to the log\n");
	buf_reset(&out);
	assert_int_equal(jobs_log_from(queue, 1, 3, &out, &is_over, &err), 0);
	assert_string_equal(out.data, "the log\n");
	assert_false(is_over);
	buf_reset(&out);
	assert_int_equal(jobs_log_from(queue, 1, 11, &out, &is_over, &err), 0);
	assert_string_equal(out.data, "");
	assert_true(is_over);
	json_init(&j, &out, false);
	assert_int_equal(jobs_artifacts(queue, 1, &j, &err), 0);
	assert_string_equal(out.data, "[\"profile.json\"]");
	buf_reset(&out);
	assert_int_equal(jobs_artifact(queue, 1, "profile.json", &out, &err), 0);
	assert_string_equal(out.data, "data\n");
	assert_int_equal(jobs_artifact(queue, 1, "link", &out, &err), -ENOENT);
	assert_string_equal(err.text, "job 1 has no file of that name");
	assert_int_equal(jobs_artifact(queue, 1, "tables", &out, &err), -ENOENT);
	assert_int_equal(jobs_artifact(queue, 1, "../log", &out, &err), -ENOENT);
	assert_int_equal(jobs_artifact(queue, 1, ".", &out, &err), -ENOENT);
	assert_int_equal(jobs_log(queue, 9, &out, &err), -ENOENT);
	assert_string_equal(err.text, "job 9 not found");
	assert_int_equal(jobs_log_from(queue, 9, 0, &out, &is_over, &err), -ENOENT);
	assert_int_equal(jobs_cancel(queue, 9, &err), -ENOENT);
	assert_int_equal(jobs_artifact(queue, 9, "x", &out, &err), -ENOENT);
	buf_reset(&out);
	json_init(&j, &out, false);
	jobs_list(queue, &j);
	assert_non_null(strstr(out.data, "}]"));
	assert_true(strstr(out.data, "\"number\":1,") < strstr(out.data, "\"number\":4,"));
	jobs_free(queue);
	buf_release(&out);
}

static void jobs_are_cancelled(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct buf out = BUF_INIT;
	bool is_over = true;

	(void)state;
	load("apps: {a: {command: x}}\n");
	scratch_script("program", "echo begun\nexec sleep 1000\n");
	open_queue();
	submit("a");
	submit("a");
	submit("a");
	await(1, "\"state\":\"running\"");
	assert_int_equal(jobs_log(queue, 2, &out, &err), 0);
	assert_string_equal(out.data, "");
	assert_int_equal(jobs_log_from(queue, 2, 0, &out, &is_over, &err), 0);
	assert_false(is_over);
	assert_int_equal(jobs_artifact(queue, 2, "x", &out, &err), -ENOENT);
	assert_string_equal(err.text, "job 2 has no run yet");
	assert_int_equal(jobs_cancel(queue, 2, &err), 0);
	assert_non_null(strstr(show(2), "\"state\":\"cancelled\""));
	assert_int_equal(jobs_cancel(queue, 1, &err), 0);
	await(1, "\"state\":\"cancelled\"");
	await(3, "\"state\":\"running\"");
	assert_non_null(strstr(show(2), "\"state\":\"cancelled\""));
	/* The server stops: what was running is queued for the next. */
	jobs_free(queue);
	scratch_script("program", "exit 0\n");
	open_queue();
	assert_non_null(strstr(show(1), "\"state\":\"cancelled\""));
	assert_non_null(strstr(show(2), "\"state\":\"cancelled\""));
	await(3, "\"state\":\"done\"");
	assert_int_equal(submit("a"), 4);
	jobs_free(queue);
	buf_release(&out);
}

static void jobs_of_an_earlier_server(void **state)
{
	static const char done[] =
			"{\"job\":\"p\",\"app_name\":\"a\",\"app_args\":\"b\",\"app_docker_args\":\"\","
			"\"state\":\"done\","
			"\"submitted_real_ns\":1500000000,\"exit_code\":3,\"error\":\"\",\"has_unused_mounts\":true}";
	static const char running[] = "{\"job\":\"p\",\"app_name\":\"gone\",\"app_args\":\"\",\"state\":\"running\","
				      "\"exit_code\":-1,\"error\":\"\"}";

	(void)state;
	load("apps: {a: {command: x}}\nimages: []\n");
	for (int i = 0; i < 4; i++)
		assert_int_equal(fs_mkdir_p((const char *[]){ "jobs/2", "jobs/10/run", "jobs/03", "jobs/4" }[i], 0700,
						 NULL),
				0);
	scratch_write("jobs/2/job.json", done);
	scratch_write("jobs/10/job.json", running);
	scratch_write("jobs/03/job.json", done);
	scratch_write("jobs/4/job.json", "{\"state\":\"odd\"}");
	scratch_script("program", "exit 0\n");
	open_queue();
	assert_string_equal(show(2),
			"{\"number\":2,\"job\":\"p\",\"app_name\":\"a\",\"app_args\":\"b\",\"app_docker_args\":\"\","
			"\"state\":\"done\","
			"\"submitted_timestamp_seconds\":1.5,\"exit_code\":3,\"note\":\"the application is a "
			"command and sees the "
			"host's files: mounts were left out\",\"log\":\"/jobs/2/log\","
			"\"artifacts\":\"/jobs/2/artifacts\"}");
	assert_non_null(strstr(show(4), "\"state\":\"failed\""));
	/* It was running, and the configuration does not allow it any more. */
	await(10, "\"state\":\"failed\"");
	assert_non_null(strstr(show(10), "\"error\":\"the image 'gone' is not allowed\""));
	assert_int_equal(access("jobs/10/run", F_OK), -1);
	assert_int_equal(jobs_show(queue, 3, NULL, NULL), -ENOENT);
	assert_int_equal(submit("a"), 1);
	assert_int_equal(submit("a"), 3);
	jobs_free(queue);
}

static void requests_have_bounds(void **state)
{
	static char text[4098];
	struct jobs_request request = { .name = "n", .app_name = "a", .app_args = text };
	struct sonde_err err = SONDE_ERR_INIT;
	unsigned number;

	(void)state;
	load("apps: {a: {command: x}}\n");
	scratch_script("program", "exec sleep 1000\n");
	open_queue();
	memset(text, 'x', 4097);
	assert_int_equal(jobs_submit(queue, &request, &number, &err), -EINVAL);
	assert_string_equal(err.text, "a parameter is longer than 4096 bytes");
	text[4096] = '\0';
	assert_int_equal(jobs_submit(queue, &request, &number, &err), 0);
	await(number, "\"state\":\"running\"");
	request.app_args = "";
	for (int i = 0; i < JOBS_WAITING_MAX; i++)
		assert_int_equal(jobs_submit(queue, &request, &number, &err), 0);
	assert_int_equal(number, 101);
	assert_int_equal(jobs_submit(queue, &request, &number, &err), -EBUSY);
	assert_string_equal(err.text, "the queue is full (100 jobs)");
	assert_int_equal(jobs_cancel(queue, 50, &err), 0);
	assert_int_equal(jobs_submit(queue, &request, &number, &err), 0);
	assert_int_equal(number, 102);
	request.app_name = "";
	assert_int_equal(jobs_submit(queue, &request, &number, &err), -EINVAL);
	jobs_free(queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SCRATCH(configurations),
		IN_SCRATCH(applications_and_images),
		IN_SCRATCH(variables),
		IN_SCRATCH(mounts),
		IN_SCRATCH(a_plan_is_a_session),
		IN_SCRATCH(jobs_run_in_turn),
		IN_SCRATCH(jobs_are_cancelled),
		IN_SCRATCH(jobs_of_an_earlier_server),
		IN_SCRATCH(requests_have_bounds),
	};
	int failed = RUN_TESTS(tests);

	arena_release(&arena);
	return failed;
}
