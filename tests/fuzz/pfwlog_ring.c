/*
 * The ring, state and names of a killed process that somebody has scribbled on, as `sonde recover` finds them. The
 * log that it leaves must be whole.
 *
 * Input: 8 patches of the state (two bytes of where, one of what), 8 of the table of names, then a chunk of the ring.
 */
#include "fuzz.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "calls/calls-hash.h"
#include "pfw/pfwlog.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATCHES 8
#define PATCH_BYTES 3
#define NAMES_BYTES 65536

static char place[64], ring[96], log_path[96];

static void write_file(const char *name, const void *bytes, size_t n)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/%s", ring, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || fs_write_all(fd, bytes, n))
		abort();
	close(fd);
}

static void clean_up(void)
{
	fs_remove_tree(AT_FDCWD, place);
}

static void start(void)
{
	snprintf(place, sizeof(place), "%s/sonde-fuzz-XXXXXX", fuzz_temp());
	if (!mkdtemp(place))
		abort();
	snprintf(ring, sizeof(ring), "%s/ring", place);
	snprintf(log_path, sizeof(log_path), "%s/log.pfw", place);
	atexit(clean_up);
}

/* Patches at most `n` bytes of the input; how many. */
static size_t patch(void *at, size_t room, const uint8_t *bytes, size_t n)
{
	size_t used = 0;
	for (unsigned i = 0; i < PATCHES && used + PATCH_BYTES <= n; i++, used += PATCH_BYTES) {
		size_t where = (size_t)(bytes[used] | bytes[used + 1] << 8) * (room > 65536 ? room / 65536 + 1 : 1);
		if (where < room)
			((uint8_t *)at)[where] ^= bytes[used + 2];
	}
	return used;
}

static size_t write_state(const uint8_t *bytes, size_t n)
{
	static struct pfwlog_state state;
	memset(&state, 0, sizeof(state));
	state = (struct pfwlog_state){ .magic = PFWLOG_MAGIC,
		.version = PFWLOG_VERSION,
		.calls_hash = CALLS_HASH,
		.process = 1,
		.true_pid = 1,
		.setup = { .generation = (char)('C' + (n ? bytes[0] % 3 : 0)),
				.has_args = true,
				.has_tids = true,
				.pid = 1,
				.rank = -1,
				.categories = SONDE_CAT_ALL,
				.unit_ns = 1000,
				.interval_ns = n > 1 && bytes[1] & 1 ? 1000000 : 0,
				.is_selective = n > 1 && bytes[1] & 2,
				.is_gzip = n > 1 && bytes[1] & 4,
				.batch_bytes = 65536,
				.resume_bytes = -1,
				.rules = "+dur < 100\n-args.fd == 3\n" } };
	size_t used = patch(&state, sizeof(state), bytes, n);
	memset(state.setup.path, 0, sizeof(state.setup.path)); /* it is ours to say where the log is */
	memcpy(state.setup.path, log_path, strlen(log_path));
	write_file("state", &state, sizeof(state));
	return used;
}

static size_t write_names(const uint8_t *bytes, size_t n)
{
	static uint8_t names[NAMES_BYTES];
	static const uint64_t used_bytes = 64;
	memset(names, 0, sizeof(names));
	memcpy(names, &used_bytes, sizeof(used_bytes));
	size_t used = patch(names, sizeof(names), bytes, n);
	write_file("names", names, used ? sizeof(names) : 0);
	return used;
}

static void write_ring(const uint8_t *bytes, size_t n)
{
	static char segment[SONDE_SEGMENT_HEAD_BYTES + SONDE_CHUNK_BYTES];
	struct sonde_control control = { .magic = SONDE_CONTROL_MAGIC, .version = SONDE_SHM_VERSION };
	struct sonde_segment head = { .magic = SONDE_SEGMENT_MAGIC,
		.version = SONDE_SHM_VERSION,
		.kind = SONDE_SEGMENT_RING,
		.calls_hash = CALLS_HASH,
		.process = 1,
		.pid = 1,
		.chunk_count = 1,
		.owner = { n & 1 ? 42 : SONDE_OWNER_FULL } };
	write_file("control", &control, sizeof(control));
	memset(segment, 0, sizeof(segment));
	memcpy(segment, &head, sizeof(head));
	memcpy(segment + SONDE_SEGMENT_HEAD_BYTES, bytes, n < SONDE_CHUNK_BYTES ? n : SONDE_CHUNK_BYTES);
	write_file("1.0", segment, sizeof(segment));
}

/* Every line of a plain log is a JSON object. */
static void check_log(void)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	if (fs_read_file(AT_FDCWD, log_path, (size_t)64 << 20, &text, NULL) || (uint8_t)text.data[0] == 0x1f)
		return;
	for (char *line = text.data, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		for (char *p = line; (p = strstr(p, "\\udc")); p++) /* single bytes, which jansson does not take */
			p[2] = p[3] = '0';
		json_t *value = strcmp(line, "[") && strcmp(line, "]")
				? json_loads(line, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, NULL)
				: json_object();
		if (!json_is_object(value)) {
			fprintf(stderr, "no JSON: %s\n", line);
			abort();
		}
		json_decref(value);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct pfwlog_recovered result;
	if (!place[0])
		start();
	fs_remove_tree(AT_FDCWD, ring);
	if (mkdir(ring, 0700))
		abort();
	size_t used = write_state(bytes, n);
	used += write_names(bytes + used, n - used);
	write_ring(bytes + used, n - used);
	if (!pfwlog_recover_ring(ring, true, &result, NULL))
		check_log();
	unlink(log_path);
	return 0;
}
