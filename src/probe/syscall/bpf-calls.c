/* Loads the BPF programs, creates their maps and reads their ring; see bpf-calls.h. */
#include "probe/syscall/bpf-calls.h"

#include "probe/syscall/bpf-program.h"
#include "probe/syscall/syscall-table.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define RING_BYTES (8u << 20)
#define PROCESSES_MAX 65536
#define PAGE 4096
#define INITIAL_PIDS "pid:[4026531836]" /* the kernel's PROC_PID_INIT_INO */

static const uint8_t arg_regs[6] = { 14, 13, 12, 7, 9, 8 }; /* di si dx r10 r8 r9 */

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	long rc = syscall(SYS_bpf, command, attr, sizeof(*attr));
	return rc < 0 ? -errno : (int)rc;
}

static int create_map(uint32_t type, uint32_t key, uint32_t value, uint32_t count)
{
	union bpf_attr a = { .map_type = type, .key_size = key, .value_size = value, .max_entries = count };
	return bpf(BPF_MAP_CREATE, &a);
}

static int put(int map, const void *key, const void *value)
{
	union bpf_attr a = { .map_fd = (uint32_t)map, .key = (uintptr_t)key, .value = (uintptr_t)value };
	return bpf(BPF_MAP_UPDATE_ELEM, &a);
}

int kernel_calls_want(int seen, int32_t pid, bool is_wanted)
{
	uint32_t one = 1;
	union bpf_attr a = { .map_fd = (uint32_t)seen, .key = (uintptr_t)&pid };
	return is_wanted ? put(seen, &pid, &one) : bpf(BPF_MAP_DELETE_ELEM, &a);
}

static int load_program(const struct program *c)
{
	union bpf_attr a = { .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = (uintptr_t)c->at,
		.insn_cnt = c->count,
		.license = (uintptr_t) "GPL" };
	return c->count < PROGRAM_MAX ? bpf(BPF_PROG_LOAD, &a) : -E2BIG;
}

static int attach_program(int program, const char *point)
{
	union bpf_attr a = { .raw_tracepoint = { .name = (uintptr_t)point, .prog_fd = (uint32_t)program } };
	return bpf(BPF_RAW_TRACEPOINT_OPEN, &a);
}

/* The arguments of a call to copy, see copy_text and copy_blob. */
static uint64_t spec_of(const struct syscall_row *row)
{
	uint64_t spec = SPEC_WANTED | (row->effect == SYSCALL_OPENS ? SPEC_OPENS : 0);
	int texts = 0;
	for (unsigned i = 0; i < 6 && row->letters[i]; i++) {
		uint64_t reg = (uint64_t)arg_regs[i] * 8;
		if (strchr("pPt", row->letters[i]))
			spec |= reg << (texts++ ? 8 : 0);
		if (row->letters[i] == 'v')
			spec |= reg << 16 | (uint64_t)arg_regs[i + 1] * 8 << 24 | 4ull << 32;
		if (row->letters[i] == 'n')
			spec |= reg << 16 | (uint64_t)arg_regs[i + 1] * 8 << 24;
	}
	return spec;
}

static int map_ring(struct kernel_calls *k)
{
	void *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, k->ring, 0);
	void *data = at == MAP_FAILED ? MAP_FAILED
				      : mmap(NULL, PAGE + 2 * (size_t)RING_BYTES, PROT_READ, MAP_SHARED, k->ring, PAGE);
	k->consumer_page = at == MAP_FAILED ? NULL : at;
	if (data == MAP_FAILED)
		return -errno;
	k->producer_page = data;
	k->data = (const uint8_t *)data + PAGE;
	return 0;
}

static int create_maps(struct kernel_calls *k)
{
	k->seen = create_map(BPF_MAP_TYPE_HASH, 4, 4, PROCESSES_MAX);
	k->rows = create_map(BPF_MAP_TYPE_ARRAY, 4, 8, SYSCALLS_MAX);
	k->starts = create_map(BPF_MAP_TYPE_LRU_HASH, 8, 8, PROCESSES_MAX);
	k->scratch = create_map(BPF_MAP_TYPE_PERCPU_ARRAY, 4, (uint32_t)(KERNEL_RECORD_MAX + 7) & ~7u, 1);
	k->ring = create_map(BPF_MAP_TYPE_RINGBUF, 0, 0, RING_BYTES);
	k->lost = create_map(BPF_MAP_TYPE_ARRAY, 4, 8, 1);
	const int all[] = { k->seen, k->rows, k->starts, k->scratch, k->ring, k->lost };
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i] < 0)
			return all[i];
	for (uint32_t i = 0; i < SYSCALLS_MAX; i++) {
		if (!syscall_rows[i].name)
			continue;
		uint64_t spec = spec_of(&syscall_rows[i]);
		if (syscall_rows[i].effect == SYSCALL_PAIRS)
			spec |= (uint64_t)arg_regs[i == SYS_socketpair ? 3 : 0] * 8 << 16;
		int rc = put(k->rows, &i, &spec);
		if (rc)
			return rc;
	}
	return 0;
}

static int start(struct kernel_calls *k, int i, const char *point,
		void (*make)(struct program *, const struct kernel_calls *))
{
	struct program code;
	make(&code, k);
	k->programs[i] = load_program(&code);
	k->links[i] = k->programs[i] < 0 ? k->programs[i] : attach_program(k->programs[i], point);
	return k->links[i] < 0 ? k->links[i] : 0;
}

/* BPF programs identify processes by pid in the initial namespace. */
static bool has_kernel_pids(void)
{
	char link[64];
	ssize_t n = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);
	link[n > 0 ? n : 0] = '\0';
	return !strcmp(link, INITIAL_PIDS);
}

const bool kernel_calls_are_built = true;

int kernel_calls_open(struct kernel_calls *k)
{
	*k = (struct kernel_calls){ .seen = -1, .rows = -1, .starts = -1, .scratch = -1, .ring = -1, .lost = -1 };
	for (int i = 0; i < 2; i++)
		k->programs[i] = k->links[i] = -1;
#ifndef __x86_64__
	return -ENOTSUP;
#endif
	int rc = has_kernel_pids() ? create_maps(k) : -ENOTSUP;
	if (!rc)
		rc = map_ring(k);
	if (!rc)
		rc = start(k, 0, "sys_enter", program_enter);
	if (!rc)
		rc = start(k, 1, "sys_exit", program_exit);
	if (rc)
		kernel_calls_release(k);
	return rc;
}

void kernel_calls_release(struct kernel_calls *k)
{
	const int all[] = { k->links[0], k->links[1], k->programs[0], k->programs[1], k->seen, k->rows, k->starts,
		k->scratch, k->ring, k->lost };
	if (k->consumer_page)
		munmap((void *)(uintptr_t)k->consumer_page, PAGE);
	if (k->producer_page)
		munmap((void *)(uintptr_t)k->producer_page, PAGE + 2 * (size_t)RING_BYTES);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i] >= 0)
			close(all[i]);
	*k = (struct kernel_calls){ .seen = -1 };
}

/* The ring. */

uint64_t kernel_calls_end(const struct kernel_calls *k)
{
	return k->producer_page ? __atomic_load_n(k->producer_page, __ATOMIC_ACQUIRE) : 0;
}

uint64_t kernel_calls_lost(const struct kernel_calls *k)
{
	uint32_t key = 0;
	uint64_t value = 0;
	union bpf_attr a = { .map_fd = (uint32_t)k->lost, .key = (uintptr_t)&key, .value = (uintptr_t)&value };
	return bpf(BPF_MAP_LOOKUP_ELEM, &a) ? 0 : value;
}

static const uint32_t *head_of(const struct kernel_calls *k)
{
	return (const uint32_t *)(const void *)(k->data + (k->at & (RING_BYTES - 1)));
}

static void add_text(struct syscall_event *e, unsigned i, const void *from, size_t bytes)
{
	char *to = (char *)(e + 1);
	for (unsigned n = 0; n < i; n++)
		to += e->text_bytes[n];
	memcpy(to, from, bytes);
	e->has_text[i] = 1;
	e->text_bytes[i] = (uint16_t)bytes;
}

/* The blob follows the texts; the row's letters define its type. */
static void parse_blob(struct syscall_event *e, const struct syscall_row *row, unsigned texts, const uint8_t *at,
		size_t bytes)
{
	int32_t ends[2];
	struct iovec v;
	if (row->effect == SYSCALL_PAIRS && bytes == sizeof(ends)) {
		memcpy(ends, at, sizeof(ends));
		e->args[4] = (uint64_t)(int64_t)ends[0];
		e->args[5] = (uint64_t)(int64_t)ends[1];
	} else if (strchr(row->letters, 'v')) {
		e->size = 0;
		for (size_t i = 0; i + sizeof(v) <= bytes; i += sizeof(v)) {
			memcpy(&v, at + i, sizeof(v));
			e->size += (int64_t)v.iov_len;
		}
	} else {
		add_text(e, texts, at, bytes);
	}
}

static void translate(const struct kernel_record *r, size_t bytes, struct syscall_event *e)
{
	*e = (struct syscall_event){ .kind = SYSCALL_CALL,
		.pid = (int32_t)(r->who >> 32),
		.tid = (int32_t)r->who,
		.number = (int32_t)r->regs[15],
		.ts_ns = (int64_t)r->ts_ns,
		.end_ns = (int64_t)r->end_ns,
		.ret = r->ret,
		.size = -1,
		.is_seekable = syscall_is_seekable(r->mode & 0xffff, (unsigned)(r->mode >> 52)) };
	for (int i = 0; i < 6; i++)
		e->args[i] = r->regs[arg_regs[i]];
	const uint8_t *at = r->bytes, *behind = (const uint8_t *)r + bytes;
	const int64_t texts[] = { r->text1, r->text2 };
	unsigned n = 0;
	for (unsigned i = 0; i < 2; i++) {
		if (texts[i] > 0 && texts[i] <= behind - at && texts[i] <= SYSCALL_TEXT_MAX) {
			add_text(e, n, at, (size_t)texts[i] - 1);
			at += texts[i];
		}
		n += (r->spec >> 8 * i & 0x78) != 0;
	}
	if (r->blob > 0 && r->blob <= behind - at)
		parse_blob(e, &syscall_rows[e->number], n, at, (size_t)r->blob);
}

bool kernel_calls_peek(struct kernel_calls *k, uint64_t end, struct syscall_event *e)
{
	while (k->at < end) {
		uint32_t head = __atomic_load_n(head_of(k), __ATOMIC_ACQUIRE);
		size_t bytes = head & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
		const struct kernel_record *r = (const void *)((const uint8_t *)head_of(k) + BPF_RINGBUF_HDR_SZ);
		if (head & BPF_RINGBUF_BUSY_BIT)
			return false;
		if (bytes >= sizeof(*r) && r->regs[15] < SYSCALLS_MAX) {
			translate(r, bytes, e);
			return true;
		}
		kernel_calls_next(k);
	}
	return false;
}

void kernel_calls_next(struct kernel_calls *k)
{
	uint32_t head = __atomic_load_n(head_of(k), __ATOMIC_ACQUIRE);
	size_t bytes = head & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
	k->at += (bytes + BPF_RINGBUF_HDR_SZ + 7) & ~(size_t)7;
	__atomic_store_n((uint64_t *)(uintptr_t)k->consumer_page, k->at, __ATOMIC_RELEASE);
}
