/*
 * What DFTracer got wrong, case by case. The test knows what must be in the log.
 *
 *	cases CASE DIRECTORY
 */
#include <dftracer/core.h>
#include <dftracer/dftracer.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define LONG_BYTES 200000

static const char *directory;

static char *in(const char *name)
{
	char *path = NULL;
	return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

static void escape(void)
{
	DFTRACER_C_REGION_START(quoted)
	DFTRACER_C_REGION_UPDATE_STR(quoted, "a\"b\\c", "line\nbreak \"quoted\" \\ \t \x01 (p|q) 'r'")
	DFTRACER_C_REGION_UPDATE_STR(quoted, "bytes", "bad \xff\xc3 utf8 \xe2\x82\xac")
	DFTRACER_C_REGION_END(quoted)
	DFTRACER_C_METADATA(meta, "key \"k\"", "value\n\\")
	close(open(in("new\nline \"name\" \\ (x)"), O_RDWR | O_CREAT, 0600));
}

static void long_text(void)
{
	char *text = malloc(LONG_BYTES + 1);
	for (int i = 0; i < LONG_BYTES; i++)
		text[i] = (char)('a' + i % 26);
	text[LONG_BYTES] = '\0';
	DFTRACER_C_REGION_START(long_one)
	DFTRACER_C_REGION_UPDATE_INT(long_one, "before", 1)
	DFTRACER_C_REGION_UPDATE_STR(long_one, "text", text)
	DFTRACER_C_REGION_UPDATE_INT(long_one, "after", 2)
	DFTRACER_C_REGION_END(long_one)
	struct dftracer_arg args[2] = {
		{ .key = "text", .type = DFTRACER_ARG_STRING, .value.text = text, .text_bytes = LONG_BYTES },
		{ .key = "real", .type = DFTRACER_ARG_FLOAT, .value.real = 0.1 }
	};
	dftracer_log_event("logged", "PY", dftracer_get_time(), 5, args, 2);
	for (int i = 0; i < 300; i++) {
		char key[16];
		snprintf(key, sizeof(key), "k%d", i);
		args[0] = (struct dftracer_arg){ .key = key, .type = DFTRACER_ARG_INT, .value.integer = i };
	}
}

static void *flat(void *arg)
{
	DFTRACER_C_REGION_START(outer)
	for (int i = 0; i < 500; i++) {
		DFTRACER_C_REGION_START(inner)
		if (write(*(int *)arg, "x", 1) != 1)
			abort();
		DFTRACER_C_REGION_END(inner)
	}
	DFTRACER_C_REGION_END(outer)
	return NULL;
}

static void threads(void)
{
	pthread_t thread[THREADS];
	int fd = open(in("shared"), O_WRONLY | O_CREAT | O_APPEND, 0600);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, flat, &fd);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

/* Streams of several threads, each on a file of its own. */
static void *write_stream(void *arg)
{
	char name[16];
	snprintf(name, sizeof(name), "stream%d", *(int *)arg);
	for (int i = 0; i < 100; i++) {
		FILE *stream = fopen(in(name), "w");
		fwrite("abcdefgh", 1, (size_t) * (int *)arg + 1, stream);
		fclose(stream);
	}
	return NULL;
}

static void streams(void)
{
	pthread_t thread[THREADS];
	int number[THREADS];
	for (int i = 0; i < THREADS; i++) {
		number[i] = i;
		pthread_create(&thread[i], NULL, write_stream, &number[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

/* Descriptors whose numbers are equal modulo 1024. */
static void aliases(void)
{
	struct rlimit limit;
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
	setrlimit(RLIMIT_NOFILE, &limit);
	int a = open(in("a"), O_RDWR | O_CREAT, 0600), b = open(in("b"), O_RDWR | O_CREAT, 0600);
	int high = fcntl(b, F_DUPFD, a + 1024);
	write(a, "a", 1);
	write(high, "bb", 2);
	if (high != a + 1024)
		_exit(3);
}

static void at_calls(void)
{
	int dir = open(directory, O_RDONLY | O_DIRECTORY);
	int fd = openat(dir, "below", O_RDWR | O_CREAT, 0600);
	write(fd, "x", 1);
}

static void duplicates(void)
{
	int fd = open(in("original"), O_RDWR | O_CREAT, 0600);
	int one = dup(fd), two = dup2(fd, 50), three = fcntl(fd, F_DUPFD, 60), four = dup3(fd, 70, O_CLOEXEC);
	write(one, "1", 1), write(two, "2", 1), write(three, "3", 1), write(four, "4", 1);
}

static void relative(void)
{
	struct stat st;
	if (chdir(directory))
		_exit(3);
	mkdir("sub", 0700);
	close(open("sub/../here", O_RDWR | O_CREAT, 0600));
	close(open("./sub/there", O_RDWR | O_CREAT, 0600));
	stat("here", &st), lstat("here", &st), fstatat(AT_FDCWD, "here", &st, 0), access("here", R_OK);
	umask(umask(022));
}

static void values(void)
{
	char bytes[100] = "";
	int fd = open(in("values"), O_RDWR | O_CREAT, 0640);
	write(fd, bytes, 100);
	pwrite(fd, bytes, 50, 1ll << 40);
	lseek(fd, 10, SEEK_SET);
	read(fd, bytes, 30);
	open(in("no such/file"), O_RDONLY);
	rename(in("values"), in("renamed"));
}

static void both(void)
{
	int fd = open(in("both"), O_RDWR | O_CREAT, 0600);
	write(fd, "x", 1);
	fclose(fopen(in("both"), "r"));
}

static void entities(void)
{
	DFTRACER_C_ENTITY_TYPE("shard", DFT_ROLE_INPUT, "a piece of the data set")
	EntityID a = DFTRACER_C_ENTITY("shard", "1", DFT_STORE_LOCAL_DISK, "/data/1");
	EntityID b = DFTRACER_C_ENTITY("model", "final", DFT_STORE_MEMORY, NULL);
	DFTRACER_C_ENTITY("shard", "1", DFT_STORE_LOCAL_DISK, "/data/1");
	DFTRACER_C_ENTITY_RELATE(DFT_REL_DERIVED_FROM, b, a)
	DFTRACER_C_FUNCTION_START()
	DFTRACER_C_FUNCTION_USES("shard", "1")
	DFTRACER_C_FUNCTION_RELATE(DFT_REL_USED, b)
	DFTRACER_C_FUNCTION_GENERATES("model", "final")
	DFTRACER_C_FUNCTION_END()
	DFTRACER_C_APP_METADATA_INT("batch", 16)
	DFTRACER_C_APP_METADATA_INT("batch", 32)
	DFTRACER_C_APP_METADATA_STR("model", "res\"net")
	DFTRACER_C_MARK_USED("torch")
}

static void again(void)
{
	close(open(in("first"), O_RDWR | O_CREAT, 0600));
	finalize();
	close(open(in("unseen"), O_RDWR | O_CREAT, 0600));
	initialize_main(NULL, NULL, NULL);
	close(open(in("second"), O_RDWR | O_CREAT, 0600));
}

static void forked_inside(void)
{
	DFTRACER_C_REGION_START(around)
	int fd = open(in("inherited"), O_RDWR | O_CREAT, 0600);
	pid_t child = fork();
	if (!child) {
		write(fd, "child", 5);
		DFTRACER_C_REGION_START(own)
		DFTRACER_C_REGION_END(own)
	} else {
		waitpid(child, NULL, 0);
	}
	DFTRACER_C_REGION_END(around)
}

static void out_of_order(void)
{
	struct DFTracerData *a = initialize_region("a", "C_APP", DF_DATA_EVENT);
	struct DFTracerData *b = initialize_region("b", "C_APP", DF_DATA_EVENT);
	finalize_region(a);
	finalize_region(b);
	DFTRACER_C_REGION_START(after)
	DFTRACER_C_REGION_END(after)
	finalize_region(NULL);
}

static void early_return(void)
{
	DFTRACER_C_FUNCTION_START()
	if (directory)
		return;
	DFTRACER_C_FUNCTION_END()
}

static void child_args(void)
{
	fflush(stdout);
	if (!fork()) {
		execl("/bin/echo", "echo", "one two", "thr\"ee", "", "four", (char *)NULL);
		_exit(9);
	}
	wait(NULL);
	if (!fork()) {
		execlp("printf", "printf", "%s|", "a", "b c", (char *)NULL);
		_exit(9);
	}
	wait(NULL);
}

/* In the order: fails by its path, by its search, by its format; then succeeds. */
static void failing_execs(void)
{
	char texts[7][16] = { "arg zero", "one \"quoted\"", "2", "3", "4", "5", "never shown" }, *argv[8] = { NULL };
	for (int i = 0; i < 7; i++)
		argv[i] = texts[i];
	int fd = open(in("no program"), O_RDWR | O_CREAT, 0700);
	write(fd, "\177ELFnonsense", 12);
	close(fd);
	execv(in("missing"), argv);
	execvp("surely-no-such-program", argv);
	execve(in("no program"), argv, environ);
	close(open(in("behind"), O_RDWR | O_CREAT, 0600));
	execl("/bin/true", "true", "last", (char *)NULL);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = { { "escape", escape }, { "long", long_text }, { "threads", threads }, { "streams", streams },
	{ "aliases", aliases }, { "at", at_calls }, { "duplicates", duplicates }, { "relative", relative },
	{ "values", values }, { "both", both }, { "entities", entities }, { "again", again },
	{ "forked", forked_inside }, { "order", out_of_order }, { "early", early_return }, { "execl", child_args },
	{ "execs", failing_execs } };

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	directory = argv[2];
	initialize_main(NULL, NULL, NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			return 0;
		}
	return 2;
}
