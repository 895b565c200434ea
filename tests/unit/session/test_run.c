/* Running a session: its data, companions, tools and knobs; repeats and sweeps of a real program. */
#include "scratch.h"

#include "session/session.h"

#include <arpa/inet.h>
#include <math.h>
#include <signal.h>
#include <sys/socket.h>

static struct arena arena = ARENA_INIT;
static struct session_spec spec;

/* Datasets. The helper that makes requests is a script: it keeps the request and answers from files. */

static const char hello[] = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"; /* sha256 of "hello" */
static struct dataset_file file;

static void make_helper(const char *script)
{
	assert_int_equal(fs_mkdir_p("libexec/sonde", 0700, NULL), 0);
	scratch_script("libexec/sonde/sonde-transfer", script);
	assert_int_equal(setenv("XDG_CACHE_HOME", scratch, 1), 0);
	unsetenv("AWS_ACCESS_KEY_ID");
	unsetenv("AWS_SECRET_ACCESS_KEY");
	unsetenv("AWS_SESSION_TOKEN");
	unsetenv("AWS_REGION");
	unsetenv("AWS_DEFAULT_REGION");
	unsetenv("AWS_ENDPOINT_URL");
	unsetenv("SAGE_TOKEN");
	unsetenv("SAGE_ENDPOINT_URL");
}

static void fetch(const char *source, const char *sha256)
{
	struct session_dataset d = { .source = source, .sha256 = sha256 };
	struct sonde_err err = SONDE_ERR_INIT;

	if (dataset_fetch(&d, &file, &arena, &err) < 0)
		fail_msg("%s: %s", source, err.text);
}

static void cannot_fetch(const char *source, const char *sha256, int rc, const char *text)
{
	struct session_dataset d = { .source = source, .sha256 = sha256 };
	struct sonde_err err = SONDE_ERR_INIT;

	assert_int_equal(dataset_fetch(&d, &file, &arena, &err), rc);
	assert_string_equal(err.text, text);
}

static void files_are_used_in_place(void **state)
{
	char source[160], path[128];

	(void)state;
	scratch_write("data", "hello");
	snprintf(path, sizeof(path), "%s/data", scratch);
	fetch("file:data", NULL);
	assert_string_equal(file.path, path);
	assert_string_equal(file.sha256, hello);
	assert_false(file.was_cached);
	snprintf(source, sizeof(source), "file:%s", path);
	fetch(source, hello);
	cannot_fetch("file:data", "00", -EBADMSG,
			"checksum mismatch of 'file:data': sha256 is "
			"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824, expected 00");
	assert_int_equal(dataset_fetch(&(struct session_dataset){ .source = "file:none" }, &file, &arena, NULL),
			-ENOENT);
	cannot_fetch("http://a\nb", NULL, -EINVAL,
			"invalid dataset 'http://a\nb' (supported: file:PATH, http(s)://..., s3://BUCKET/KEY, "
			"sage://BUCKET/PATH)");
}

/* Saves the request, and writes $BODY to the file of its `output` line. */
#define ANSWERS "cat >request\nout=$(sed -n 's/^output //p' request)\n"

static void expect_request(const char *start)
{
	const char *request = scratch_read("request");

	if (strncmp(request, start, strlen(start)) != 0)
		fail_msg("the request is\n%s\nand does not start with\n%s", request, start);
}

static void requests_are_as_the_server_needs(void **state)
{
	struct session_dataset d = { .source = "s3://bucket/a b/c~d", .endpoint = "http://host:1//" };

	(void)state;
	make_helper(ANSWERS "printf hello >>\"$out\"\necho '{\"status\":200,\"bytes\":5,\"whole\":5}'\n");
	fetch("https://host/x", NULL);
	expect_request("GET https://host/x\noutput ");
	assert_null(strstr(scratch_read("request"), "\nfrom "));
	assert_string_equal(file.sha256, hello);
	assert_non_null(strstr(file.path, "/sonde/datasets/"));
	assert_string_equal(scratch_read(file.path), "hello");
	fetch("s3://bucket/key", NULL);
	expect_request("GET https://s3.us-east-1.amazonaws.com/bucket/key\noutput ");
	setenv("AWS_DEFAULT_REGION", "eu-1", 1);
	setenv("AWS_ACCESS_KEY_ID", "id", 1);
	fetch("s3://bucket/key", NULL);
	expect_request("GET https://s3.eu-1.amazonaws.com/bucket/key\noutput ");
	setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
	setenv("AWS_REGION", "eu-2", 1);
	setenv("AWS_SESSION_TOKEN", "token", 1);
	assert_int_equal(dataset_fetch(&d, &file, &arena, NULL), 0);
	expect_request("GET http://host:1/bucket/a%20b/c~d\nuser id:secret\nsigv4 aws:amz:eu-2:s3\n"
		       "header x-amz-content-sha256: "
		       "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n"
		       "header x-amz-security-token: token\noutput ");
	fetch("sage://bucket/p", NULL);
	expect_request("GET https://storage.sagecontinuum.org/api/v1/objects/bucket/p\noutput ");
	setenv("SAGE_TOKEN", "t", 1);
	setenv("SAGE_ENDPOINT_URL", "http://sage", 1);
	fetch("sage://bucket/p", NULL);
	expect_request("GET http://sage/bucket/p\nheader Authorization: sage t\noutput ");
	cannot_fetch("s3://bucket", NULL, -EINVAL, "invalid source 's3://bucket' (expected s3://BUCKET/KEY)");
	cannot_fetch("s3://bucket/", NULL, -EINVAL, "invalid source 's3://bucket/' (expected s3://BUCKET/KEY)");
}

static void copies_are_cached_by_their_digest(void **state)
{
	(void)state;
	make_helper(ANSWERS
			"echo x >>times\nprintf hello >>\"$out\"\necho '{\"status\":200,\"bytes\":5,\"whole\":5}'\n");
	fetch("http://h/x", hello);
	assert_false(file.was_cached);
	fetch("http://h/x", hello);
	assert_true(file.was_cached);
	assert_string_equal(scratch_read("times"), "x\n");
	fetch("http://h/x", NULL);
	assert_false(file.was_cached);
	assert_string_equal(scratch_read("times"), "x\nx\n");
	cannot_fetch("http://h/x", "00", -EBADMSG,
			"checksum mismatch of 'http://h/x': sha256 is "
			"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824, expected 00");
	fetch("http://h/x", hello);
	assert_true(file.was_cached);
}

static void downloads_are_resumed(void **state)
{
	(void)state;
	/* The connection breaks after three bytes; the second time the rest comes. */
	make_helper(ANSWERS "echo x >>times\nif grep -q '^from 3$' request; then printf lo >>\"$out\"; "
			    "echo '{\"status\":206,\"bytes\":2,\"whole\":5}'; "
			    "else printf hel >>\"$out\"; echo '{\"status\":200,\"bytes\":3,\"whole\":5}'; fi\n");
	fetch("http://h/x", hello);
	assert_string_equal(scratch_read("times"), "x\nx\n");
	assert_int_equal(file.resumed_bytes, 0);
	/* All three tries break; the next fetch has what they left. */
	make_helper(ANSWERS "printf h >>\"$out\"\necho '{\"status\":206,\"bytes\":1,\"whole\":9,\"error\":\"it "
			    "broke\"}'\n");
	cannot_fetch("http://h/y", hello, -EAGAIN, "cannot fetch 'http://h/y': it broke");
	make_helper(ANSWERS "grep -q '^from 3$' request || exit 1\necho '{\"status\":416,\"bytes\":0}'\n");
	cannot_fetch("http://h/y", hello, -EIO, "the transfer was cut short");
	/* The server does not know the range: from the start again. */
	make_helper(ANSWERS "if grep -q '^from' request; then echo '{\"status\":200}'; else printf hello >>\"$out\"; "
			    "echo '{\"status\":200,\"whole\":5}'; fi\n");
	cannot_fetch("http://h/z", "00", -EBADMSG,
			"checksum mismatch of 'http://h/z': sha256 is "
			"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824, expected 00");
	make_helper(ANSWERS "printf x >>\"$out\"\necho '{\"status\":200,\"whole\":2}'\n");
	cannot_fetch("http://h/w", hello, -EAGAIN, "cannot fetch 'http://h/w': the connection was closed early");
}

static void statuses_are_errors(void **state)
{
	static const struct {
		int status, rc;
		const char *text;
	} answers[] = { { 401, -EACCES, "cannot fetch 'http://h/x': access denied (HTTP 401)" },
		{ 403, -EACCES, "cannot fetch 'http://h/x': access denied (HTTP 403)" },
		{ 404, -ENOENT, "cannot fetch 'http://h/x': not found (HTTP 404)" },
		{ 500, -EIO, "cannot fetch 'http://h/x': HTTP status 500" },
		{ 300, -EIO, "cannot fetch 'http://h/x': HTTP status 300" }, { 0, -EIO, "refused" } };

	(void)state;
	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		char script[256];

		snprintf(script, sizeof(script),
				ANSWERS "echo x >>times\necho '{\"status\":%d,\"error\":\"refused\"}'\n",
				answers[i].status);
		make_helper(script);
		cannot_fetch("http://h/x", NULL, answers[i].rc, answers[i].text);
	}
	assert_string_equal(scratch_read("times"), "x\nx\nx\nx\nx\nx\n");
}

/* Companions and tools. */

static int start_companion(struct companion_spec *s, struct sonde_err *err)
{
	struct companion b;
	int rc = companions_start(&b, s, 1, err);

	companion_end(&b);
	return rc;
}

static void companions_are_awaited(void **state)
{
	const char *sleeper[] = { "sleep", "1000", NULL }, *ends[] = { "false", NULL }, *none[] = { "/no/such", NULL };
	const char *check[] = { "test", "-e", "there", NULL }, *bad[] = { "false", NULL };
	const char *maker[] = { "sh", "-c", "echo x >there; exec sleep 1000", NULL };
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t bytes = sizeof(address);
	struct sonde_err err = SONDE_ERR_INIT;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)state;
	assert_int_equal(start_companion(&(struct companion_spec){ .name = "s", .command = sleeper }, &err), 0);
	assert_int_equal(start_companion(&(struct companion_spec){ .name = "m", .command = maker, .file = "there" },
					 &err),
			0);
	unlink("there");
	assert_int_equal(start_companion(&(struct companion_spec){ .name = "m", .command = maker, .check = check },
					 &err),
			0);
	assert_int_equal(start_companion(&(struct companion_spec){ .name = "e", .command = ends, .file = "none" },
					 &err),
			-ECHILD);
	assert_string_equal(err.text, "companion 'e' exited before it was ready");
	assert_int_equal(start_companion(&(struct companion_spec){ .name = "n", .command = none }, &err), -ENOENT);
	assert_true(strncmp(err.text, "'n': ", 5) == 0);
	assert_int_equal(start_companion(&(struct companion_spec){ .name = "s",
							 .command = sleeper,
							 .check = bad,
							 .ready_timeout_ns = 1 },
					 &err),
			-ETIMEDOUT);
	assert_string_equal(err.text, "companion 's' was not ready in time");
	assert_int_equal(start_companion(&(struct companion_spec){ .name = "s",
							 .command = sleeper,
							 .file = "none",
							 .ready_timeout_ns = 1 },
					 &err),
			-ETIMEDOUT);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &bytes), 0);
	assert_int_equal(start_companion(&(struct companion_spec){ .name = "s",
							 .command = sleeper,
							 .port = ntohs(address.sin_port),
							 .ready_timeout_ns = 1 },
					 &err),
			-ETIMEDOUT);
	assert_int_equal(listen(fd, 5), 0);
	assert_int_equal(start_companion(&(struct companion_spec){ .name = "s",
							 .command = sleeper,
							 .port = ntohs(address.sin_port) },
					 &err),
			0);
	close(fd);
}

static void tools_leave_their_files(void **state)
{
	const char *command[] = { "sh", "-c", "echo out; echo x >file; exec sleep 1000", NULL },
		   *wrap[] = { "env", "T={tool}/x", NULL };
	const char *env[] = { "DIR={tool}", NULL }, *missing[] = { "/no/such", NULL };
	struct companion_spec specs[] = { { .name = "a/b", .command = command },
		{ .name = "w", .tool_wrap = wrap, .env = env } };
	struct sonde_err err = SONDE_ERR_INIT;
	struct buf dir = BUF_INIT;
	struct companion tools;
	struct tool_wrap w;
	char program[] = "prog", argument[] = "arg", *argv[] = { program, argument, NULL };
	const char *own[] = { "A=1", NULL };

	(void)state;
	assert_int_equal(tools_start(&tools, NULL, 0, &err), 0);
	assert_string_equal(tools.dir, "");
	assert_int_equal(tools_collect(&tools, "run", &err), 0);
	assert_int_equal(tools_start(&tools, specs, 2, &err), 0);
	assert_int_equal(tools.count, 1);
	tools_dir(&tools, &specs[0], &dir);
	assert_non_null(strstr(dir.data, "/a_b"));
	buf_adds(&dir, "/file");
	while (access(dir.data, F_OK) < 0)
		usleep(1000);
	memcpy(spec.tools, specs, sizeof(specs));
	spec.tool_count = 2;
	assert_int_equal(tool_wrap_apply(&w, &spec, &tools, argv, own, &arena, &err), 0);
	assert_string_equal(w.argv[0], "env");
	assert_true(strncmp(w.argv[1], "T=", 2) == 0);
	assert_string_equal(w.argv[1] + strlen(w.argv[1]) - 4, "/w/x");
	assert_string_equal(w.argv[2], "prog");
	assert_string_equal(w.argv[3], "arg");
	assert_null(w.argv[4]);
	assert_string_equal(w.env[0], "A=1");
	assert_true(strncmp(w.env[1], "DIR=/", 5) == 0);
	assert_null(w.env[2]);
	companion_end(&tools);
	assert_int_equal(tools.count, 0);
	assert_int_equal(mkdir("run", 0700), 0);
	assert_int_equal(tools_collect(&tools, "run", &err), 0);
	assert_string_equal(tools.dir, "");
	assert_string_equal(scratch_read("run/tools/a_b/stdout"), "out\n");
	assert_string_equal(scratch_read("run/tools/a_b/file"), "x\n");
	assert_int_equal(access("run/tools/w", F_OK), 0);
	specs[1].command = missing;
	specs[1].tool_wrap = NULL;
	assert_int_equal(tools_start(&tools, specs, 2, &err), -ENOENT);
	assert_int_equal(access(tools.dir, F_OK), -1);
	specs[1].tool_wrap = missing;
	memcpy(spec.tools, specs, sizeof(specs));
	assert_int_equal(tool_wrap_apply(&w, &spec, &tools, argv, own, &arena, &err), -ENOENT);
	buf_release(&dir);
}

static void words_are_replaced_once(void **state)
{
	(void)state;
	assert_string_equal(tool_wrap_replace("a{x}b{x}", "{x}", "12", &arena), "a12b{x}");
	assert_string_equal(tool_wrap_replace("a{x}b", "{x}", NULL, &arena), "a{x}b");
	assert_string_equal(tool_wrap_replace("ab", "{x}", "1", &arena), "ab");
	assert_int_equal(tool_wrap_count(NULL), 0);
	assert_int_equal(tool_wrap_count((const char *[]){ "a", "b", NULL }), 2);
}

/* Knobs. */

static void knobs_have_types(void **state)
{
	static struct sonde_board board;
	struct session_knobs k = { .count = 0 };
	struct sonde_err err = SONDE_ERR_INIT;
	char name[SONDE_NAME_BYTES + 1];
	FILE *out;

	(void)state;
	assert_int_equal(session_knobs_add(&k, "a", "12", &err), 0);
	assert_int_equal(session_knobs_add(&k, "b", "1.5", &err), 0);
	assert_int_equal(session_knobs_add(&k, "c", "fast", &err), 0);
	assert_int_equal(session_knobs_add(&k, "d", "7x", &err), 0);
	assert_int_equal(k.wishes[0].whole, 12);
	assert_true(k.wishes[0].real == 12);
	assert_string_equal(k.wishes[0].choice, "12");
	assert_int_equal(k.wishes[1].whole, SONDE_NONE);
	assert_true(k.wishes[1].real == 1.5);
	assert_int_equal(k.wishes[2].whole, SONDE_NONE);
	assert_true(isnan(k.wishes[2].real));
	assert_int_equal(k.wishes[3].whole, SONDE_NONE);
	assert_true(isnan(k.wishes[3].real));
	assert_int_equal(session_knobs_add(&k, "b", "-3", &err), 0);
	assert_int_equal(k.count, 4);
	assert_int_equal(k.wishes[1].whole, -3);
	memset(name, 'n', sizeof(name));
	name[SONDE_NAME_BYTES] = '\0';
	assert_int_equal(session_knobs_add(&k, name, "1", &err), -EINVAL);
	assert_int_equal(session_knobs_add(&k, "e", name, &err), -EINVAL);
	assert_int_equal(session_knobs_add(&k, "", "1", &err), -EINVAL);
	name[SONDE_NAME_BYTES - 1] = '\0';
	assert_int_equal(session_knobs_add(&k, name, name, &err), 0);
	k.count = 2;
	/* A board where the program has declared the second of them. */
	board.knobs[0] = (struct sonde_knob){ .name = "other", .kind = 1 };
	board.knobs[1] = (struct sonde_knob){ .name = "b", .kind = 1 };
	board.knobs[3] = (struct sonde_knob){ .name = "a", .kind = 1 };
	out = fopen("board", "w");
	assert_int_equal(fseek(out, SONDE_SEGMENT_HEAD_BYTES, SEEK_SET), 0);
	assert_int_equal(fwrite(&board, sizeof(board), 1, out), 1);
	fclose(out);
	session_knobs_poll(&k, AT_FDCWD, "none");
	assert_int_equal(k.asked, 0);
	session_knobs_poll(&k, AT_FDCWD, "board");
	assert_int_equal(k.asked, 2);
	assert_int_equal(session_knobs_check(&k, &err), -ENOENT);
	assert_string_equal(err.text, "the application did not use the knob 'a'");
	assert_string_equal(err.hint, "it is read with sonde_knob_int(\"a\", ...) and the like, see sonde(3)");
	k.asked = 3;
	assert_int_equal(session_knobs_check(&k, &err), 0);
	k = (struct session_knobs){ .count = 0 };
	for (int i = 0; i < SESSION_KNOBS_MAX; i++) {
		snprintf(name, sizeof(name), "k%d", i);
		assert_int_equal(session_knobs_add(&k, name, "1", &err), 0);
	}
	assert_int_equal(session_knobs_add(&k, "k0", "2", &err), 0);
	assert_int_equal(session_knobs_add(&k, "more", "1", &err), -E2BIG);
	assert_string_equal(err.text, "too many knobs (maximum 16)");
}

/* Whole sessions. */

static struct session_profile profile;

static int run(const char *text, struct sonde_err *err)
{
	scratch_write("s.yml", text);
	*err = (struct sonde_err)SONDE_ERR_INIT;
	setenv("SONDE_RUNS", "runs", 1);
	if (session_spec_load(&spec, "s.yml", &arena, err) < 0)
		fail_msg("%s", err->text);
	return session_run(&profile, &spec, NULL, &arena, err);
}

static void run_well(const char *text)
{
	struct sonde_err err;

	if (run(text, &err) < 0)
		fail_msg("%s", err.text);
}

static void sessions_repeat_until_one_fails(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	char path[1024];

	(void)state;
	scratch_write("data", "hello");
	run_well("command: [sh, -c, 'echo \"$0 $1 $V $SONDE_DATASET\" >>said', 'in {dataset}']\nargs: [arg]\n"
		 "env: {V: 'v={dataset}'}\ndataset: file:data\nrepeats: 2\noutputs: [csv]\nname: n\n");
	assert_int_equal(profile.repeat_count, 2);
	assert_false(session_failed(&profile));
	assert_int_equal(profile.repeats[0].status, 0);
	assert_string_equal(profile.dataset.sha256, hello);
	snprintf(path, sizeof(path), "in %1$s/data arg v=%1$s/data %1$s/data\nin %1$s/data arg v=%1$s/data %1$s/data\n",
			scratch);
	assert_string_equal(scratch_read("said"), path);
	snprintf(path, sizeof(path), "%s/repeats/2", profile.repeats[0].run);
	assert_string_equal(profile.repeats[1].run, path);
	assert_true(session_metric(&profile, "wall_seconds") > 0);
	assert_int_equal(session_write(&profile, &err), 0);
	snprintf(path, sizeof(path), "%s/profile.json", profile.repeats[0].run);
	assert_non_null(strstr(scratch_read(path), "\"name\": \"n\""));
	snprintf(path, sizeof(path), "%s/profile.csv", profile.repeats[0].run);
	assert_true(strncmp(scratch_read(path), "repeat,name,of,value\n1,wall_seconds,", 36) == 0);
	snprintf(path, sizeof(path), "%s/profile.html", profile.repeats[0].run);
	assert_int_equal(access(path, F_OK), -1);
	run_well("command: [sh, -c, 'test -e once && exit 7; touch once']\nrepeats: 5\n");
	assert_int_equal(profile.repeat_count, 2);
	assert_int_equal(profile.repeats[1].status, 7 << 8);
	assert_true(session_failed(&profile));
	assert_int_equal(run("command: [/no/such/program]\n", &err), -ENOENT);
}

static void sessions_end_in_time(void **state)
{
	(void)state;
	run_well("command: [sleep, 1000]\nduration: 50ms\ntimeout: 100s\n");
	assert_true(profile.repeats[0].is_cut);
	assert_false(profile.repeats[0].has_timed_out);
	assert_false(session_failed(&profile));
	run_well("command: [sleep, 1000]\ntimeout: 50ms\nduration: 100s\n");
	assert_false(profile.repeats[0].is_cut);
	assert_true(profile.repeats[0].has_timed_out);
	assert_true(session_failed(&profile));
	run_well("command: [sleep, 1000]\nwarm_up: 30ms\nduration: 20ms\ntimeout: 50ms\n");
	assert_true(profile.repeats[0].is_cut);
}

static void sessions_sweep(void **state)
{
	char path[1024];

	(void)state;
	run_well("command: [sh, -c, 'echo $0 >>said; test $0 != c', '{n}']\nsweep: {over: n, values: [b, a, c], "
		 "metric: wall_seconds}\n");
	assert_string_equal(scratch_read("said"), "b\na\nc\n");
	assert_int_equal(profile.point_count, 3);
	assert_string_equal(profile.points[0].text, "b");
	assert_true(profile.points[0].value == 0);
	assert_true(profile.points[2].value == 2);
	assert_true(profile.points[0].metric > 0);
	assert_false(profile.points[1].has_failed);
	assert_true(profile.points[2].has_failed);
	snprintf(path, sizeof(path), "%s/sweep/2", profile.repeats[0].run);
	assert_string_equal(profile.points[1].run, path);
	assert_string_equal(profile.points[0].run, profile.repeats[0].run);
}

static void sessions_have_tools(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	char path[1024];

	(void)state;
	run_well("command: [sh, -c, 'echo $T >said']\ntools: [{name: w, around: [env, 'T=wrapped'], env: "
		 "['U={tool}']}]\n"
		 "companions: [{command: [sh, -c, 'touch ready; exec sleep 1000'], ready: {file: ready}}]\n");
	assert_string_equal(scratch_read("said"), "wrapped\n");
	snprintf(path, sizeof(path), "%s/tools/w", profile.repeats[0].run);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(run("command: ['true']\ntools: [{around: [/no/such]}]\n", &err), -ENOENT);
	assert_int_equal(profile.repeat_count, 0);
	assert_int_equal(run("command: ['true']\ncompanions: [{command: 'false', ready: {file: none}}]\n", &err),
			-ECHILD);
	assert_int_equal(run("command: ['true']\nknobs: {k: 1}\n", &err), -ENOENT);
	assert_string_equal(err.text, "the application did not use the knob 'k'");
	run_well("command: ['false']\nknobs: {k: 1}\n"); /* a program that failed may not have come to it */
	assert_int_equal(run("command: ['true']\nsweep: {over: knob.k, values: [1, 2]}\n", &err), -ENOENT);
	assert_string_equal(err.text, "the application did not use the knob 'k'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SCRATCH(files_are_used_in_place),
		IN_SCRATCH(requests_are_as_the_server_needs),
		IN_SCRATCH(copies_are_cached_by_their_digest),
		IN_SCRATCH(downloads_are_resumed),
		IN_SCRATCH(statuses_are_errors),
		IN_SCRATCH(companions_are_awaited),
		IN_SCRATCH(tools_leave_their_files),
		IN_SCRATCH(words_are_replaced_once),
		IN_SCRATCH(knobs_have_types),
		IN_SCRATCH(sessions_repeat_until_one_fails),
		IN_SCRATCH(sessions_end_in_time),
		IN_SCRATCH(sessions_sweep),
		IN_SCRATCH(sessions_have_tools),
	};
	int failed = RUN_TESTS(tests);

	arena_release(&arena);
	return failed;
}
