/*
 * The cost of an annotation: nanoseconds of CPU time minus an empty loop, the minimum of several rounds, in three
 * states: without libsonde, with annotations disabled, and recording.
 *
 *   annotate [rounds]
 *
 * Each round is a separate process. While it records, this program acts as the recorder: it empties full chunks and
 * recycles them, so that the ring stops growing once it is warm. SONDE_STAGE selects the libsonde.
 */
#include "sonde/shm.h"
#include "sonde/sonde.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TIMES 200000
#define WARM_TIMES 600000 /* spans: more than the ring holds */
#define RING_BYTES (8ull << 20)
#define ROWS_MAX 32
#define PYTHON "/usr/bin/python3"

void traced(void); /* annotate-traced.c */

/* The measured process. */

static double cpu_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static double empty_loop(void)
{
	double best = INFINITY;
	for (int round = 0; round < 5; round++) {
		double start = cpu_ns();
		for (int i = 0; i < TIMES; i++)
			__asm__ volatile("" : : : "memory");
		best = fmin(best, cpu_ns() - start);
	}
	return best;
}

#define MEASURE(name, ...) \
	do { \
		double start = cpu_ns(); \
		for (int i = 0; i < TIMES; i++) { \
			__VA_ARGS__; \
			__asm__ volatile("" : : : "memory"); \
		} \
		printf("%s\t%.3f\n", name, (cpu_ns() - start - empty) / TIMES); \
	} while (0)

static void measure(void)
{
	char name[16] = "made";
	double empty = empty_loop();
	for (int i = 0; i < WARM_TIMES && sonde_is_on(); i++) {
		SONDE_SPAN("warm");
	}
	MEASURE("C span", SONDE_SPAN("span"));
	MEASURE("C span, two arguments", SONDE_SPAN_AS(s, "span"); sonde_arg_int(&s, "i", i);
			sonde_arg_real(&s, "r", 0.5));
	MEASURE("C span, name made on the fly", SONDE_SPAN(name));
	MEASURE("C instant", sonde_instant("instant"));
	MEASURE("C counter", sonde_counter("counter", i));
	MEASURE("C step", sonde_step("step", i, 0.5));
	MEASURE("C metric", sonde_metric_add("metric", 1));
	MEASURE("C knob", (void)sonde_knob_int("knob", 4));
	MEASURE("traced function", traced());
}

/* The consumer side of the ring. */

struct ring {
	char dir[PATH_MAX];
	struct sonde_control *control;
	struct sonde_segment *segments[SONDE_SEGMENTS_MAX];
	uint32_t count;
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void ring_make(struct ring *r, uint32_t categories)
{
	char path[PATH_MAX + 16];
	*r = (struct ring){ .dir = "/dev/shm/sonde-bench.XXXXXX" };
	if (!mkdtemp(r->dir))
		fail("mkdtemp");
	snprintf(path, sizeof(path), "%s/control", r->dir);
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*r->control)))
		fail(path);
	r->control = mmap(NULL, sizeof(*r->control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (r->control == MAP_FAILED)
		fail("mmap");
	close(fd);
	*r->control = (struct sonde_control){ .magic = SONDE_CONTROL_MAGIC,
		.version = SONDE_SHM_VERSION,
		.is_on = 1,
		.overflow = SONDE_OVERFLOW_BLOCK,
		.categories = categories,
		.recorder_pid = getpid(),
		.run_bytes_max = 8 * RING_BYTES,
		.process_bytes_max = RING_BYTES,
		.next_process = 1 };
}

static struct sonde_segment *segment_map(const char *dir, uint32_t number)
{
	char path[PATH_MAX + 16];
	struct stat st;
	snprintf(path, sizeof(path), "%s/1.%u", dir, number);
	int fd = open(path, O_RDWR);
	if (fd < 0)
		return NULL;
	struct sonde_segment *s = MAP_FAILED;
	if (!fstat(fd, &st) && st.st_size > (off_t)SONDE_SEGMENT_HEAD_BYTES)
		s = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (s == MAP_FAILED)
		return NULL;
	return __atomic_load_n(&s->magic, __ATOMIC_ACQUIRE) == SONDE_SEGMENT_MAGIC ? s : NULL;
}

/* Recycle full chunks, emptied; returns their number. */
static unsigned ring_recycle(struct ring *r)
{
	unsigned recycled = 0;
	struct sonde_segment *s;
	while (r->count < SONDE_SEGMENTS_MAX && (s = segment_map(r->dir, r->count)))
		r->segments[r->count++] = s;
	for (uint32_t n = 0; n < r->count; n++)
		for (uint32_t i = 0; i < r->segments[n]->chunk_count; i++) {
			uint32_t *owner = &r->segments[n]->owner[i];
			if (__atomic_load_n(owner, __ATOMIC_ACQUIRE) != SONDE_OWNER_FULL)
				continue;
			memset((char *)r->segments[n] + SONDE_SEGMENT_HEAD_BYTES + i * (size_t)SONDE_CHUNK_BYTES, 0,
					SONDE_CHUNK_BYTES);
			__atomic_store_n(owner, 0, __ATOMIC_RELEASE);
			recycled++;
		}
	return recycled;
}

static void ring_remove(struct ring *r)
{
	char path[2 * PATH_MAX];
	DIR *dir = opendir(r->dir);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		snprintf(path, sizeof(path), "%s/%s", r->dir, e->d_name);
		unlink(path);
	}
	if (dir)
		closedir(dir);
	rmdir(r->dir);
	for (uint32_t n = 0; n < r->count; n++)
		munmap(r->segments[n],
				SONDE_SEGMENT_HEAD_BYTES + r->segments[n]->chunk_count * (size_t)SONDE_CHUNK_BYTES);
	munmap(r->control, sizeof(*r->control));
}

/* Rounds. */

enum state { ABSENT, OFF, ON, STATES };

struct row {
	char name[64];
	double ns[STATES];
};

static struct row rows[ROWS_MAX];
static size_t row_count;

static void note_result(char *line, enum state state)
{
	char *tab = strchr(line, '\t');
	size_t i = 0;
	if (!tab)
		return;
	*tab = '\0';
	while (i < row_count && strcmp(rows[i].name, line))
		i++;
	if (i == ROWS_MAX)
		return;
	if (i == row_count) {
		snprintf(rows[row_count++].name, sizeof(rows[i].name), "%.60s", line);
		rows[i].ns[ABSENT] = rows[i].ns[OFF] = rows[i].ns[ON] = INFINITY;
	}
	rows[i].ns[state] = fmin(rows[i].ns[state], strtod(tab + 1, NULL));
}

static void set_up(const struct ring *ring)
{
	char path[PATH_MAX];
	const char *stage = getenv("SONDE_STAGE");
	snprintf(path, sizeof(path), "%s/lib/sonde/python", stage ? stage : "build");
	setenv("PYTHONPATH", path, 1);
	if (!ring)
		return;
	snprintf(path, sizeof(path), "%s/lib/libsonde.so", stage ? stage : "build");
	setenv("LD_PRELOAD", path, 1);
	setenv("SONDE_RING", ring->dir, 1);
}

/* Run one measured process until it exits. */
static void run(const char *program, const char *argument, enum state state)
{
	struct ring ring;
	int ends[2];
	char line[256];
	if (state != ABSENT)
		ring_make(&ring, state == ON ? SONDE_CAT_SPAN | SONDE_CAT_FUNC : 0);
	if (pipe(ends))
		fail("pipe");
	pid_t pid = fork();
	if (pid < 0)
		fail("fork");
	if (!pid) {
		dup2(ends[1], STDOUT_FILENO);
		set_up(state == ABSENT ? NULL : &ring);
		execl(program, program, argument, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	while (state == ON && !waitpid(pid, NULL, WNOHANG))
		if (!ring_recycle(&ring))
			usleep(200);
	FILE *out = fdopen(ends[0], "r");
	while (out && fgets(line, sizeof(line), out))
		note_result(line, state);
	if (out)
		fclose(out);
	if (state != ON)
		waitpid(pid, NULL, 0);
	else if (!ring.count || ring.segments[0]->dropped)
		printf("not all was recorded: the figures are too low\n");
	if (state != ABSENT)
		ring_remove(&ring);
}

static void print_rows(int rounds)
{
	printf("ns of CPU time over an empty loop, least of %d rounds of %d\n\n", rounds, TIMES);
	printf("%-32s %12s %12s %12s\n", "", "no libsonde", "off", "recording");
	for (size_t i = 0; i < row_count; i++)
		printf("%-32s %12.1f %12.1f %12.1f\n", rows[i].name, rows[i].ns[ABSENT], rows[i].ns[OFF],
				rows[i].ns[ON]);
}

int main(int argc, char **argv)
{
	char self[PATH_MAX] = { 0 };
	int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 7;
	if (argc > 1 && !strcmp(argv[1], "measure")) {
		measure();
		return 0;
	}
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		fail("/proc/self/exe");
	for (int round = 0; round < rounds; round++)
		for (enum state state = ABSENT; state < STATES; state++) {
			run(self, "measure", state);
			run(PYTHON, PYTHON_LOOP, state);
		}
	print_rows(rounds);
	return 0;
}
