/* The BPF programs, their maps and their ring; see kernel.h. */
#include "probe/syscall/kernel.h"

#include "probe/syscall/btf.h"
#include "probe/syscall/table.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#define RING_BYTES (8u << 20)
#define PROCESSES_MAX 65536
#define PAGE 4096
#define CODE_MAX 256
#define BLOB_MAX 256
#define MEMORY_MAJOR 1
#define INITIAL_PIDS "pid:[4026531836]" /* the kernel's PROC_PID_INIT_INO */
#define SPEC_WANTED (1ull << 63)
#define SPEC_OPENS (1ull << 40)

/* What the second program writes: fixed fields, registers as the kernel has them, then two texts and a blob. */
struct record {
	uint64_t ts_ns, end_ns, who, spec;
	int64_t ret;
	uint64_t regs[16]; /* r15 r14 r13 r12 bp bx r11 r10 r9 r8 ax cx dx si di orig_ax */
	int64_t text1, text2, blob;
	uint64_t mode; /* of what was opened; its device above */
	uint8_t bytes[];
};
#define RECORD_MAX (sizeof(struct record) + 8192 + 8192 + 512)
#define AT(field) ((int16_t)offsetof(struct record, field))

static const uint8_t arg_regs[6] = { 14, 13, 12, 7, 9, 8 }; /* di si dx r10 r8 r9 */

static int bpf(enum bpf_cmd command, union bpf_attr *attr)
{
	long rc = syscall(SYS_bpf, command, attr, sizeof(*attr));
	return rc < 0 ? -errno : (int)rc;
}

static int make_map(uint32_t type, uint32_t key, uint32_t value, uint32_t count)
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

/* Programs, instruction by instruction. Jumps to OUT are filled in at the end. */

struct code {
	struct bpf_insn at[CODE_MAX];
	unsigned count;
	unsigned outs[32], out_count;
};

static void add(struct code *c, uint8_t op, uint8_t dst, uint8_t src, int16_t off, int32_t imm)
{
	if (c->count < CODE_MAX)
		c->at[c->count++] =
				(struct bpf_insn){ .code = op, .dst_reg = dst, .src_reg = src, .off = off, .imm = imm };
}

static void move(struct code *c, uint8_t to, uint8_t from)
{
	add(c, BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

static void set(struct code *c, uint8_t to, int32_t value)
{
	add(c, BPF_ALU64 | BPF_MOV, to, 0, 0, value);
}

static void alu(struct code *c, uint8_t op, uint8_t to, int32_t value)
{
	add(c, BPF_ALU64 | op, to, 0, 0, value);
}

static void alu_reg(struct code *c, uint8_t op, uint8_t to, uint8_t from)
{
	add(c, BPF_ALU64 | op | BPF_X, to, from, 0, 0);
}

static void load(struct code *c, uint8_t to, uint8_t from, int16_t off)
{
	add(c, BPF_LDX | BPF_DW | BPF_MEM, to, from, off, 0);
}

static void store(struct code *c, uint8_t to, int16_t off, uint8_t from)
{
	add(c, BPF_STX | BPF_DW | BPF_MEM, to, from, off, 0);
}

static void store32(struct code *c, uint8_t to, int16_t off, uint8_t from)
{
	add(c, BPF_STX | BPF_MEM, to, from, off, 0);
}

static void store_zero(struct code *c, uint8_t to, int16_t off)
{
	add(c, BPF_ST | BPF_DW | BPF_MEM, to, 0, off, 0);
}

static void call(struct code *c, int32_t helper)
{
	add(c, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

static void load_map(struct code *c, uint8_t to, int map)
{
	add(c, BPF_LD | BPF_DW | BPF_IMM, to, BPF_PSEUDO_MAP_FD, 0, map);
	add(c, 0, 0, 0, 0, 0);
}

/* Jump when `reg` stands so to `value`; the place is patched by `here`. */
static unsigned jump(struct code *c, uint8_t op, uint8_t reg, int32_t value)
{
	add(c, BPF_JMP | op, reg, 0, 0, value);
	return c->count - 1;
}

static void here(struct code *c, unsigned from)
{
	c->at[from].off = (int16_t)(c->count - from - 1);
}

static void out_if(struct code *c, uint8_t op, uint8_t reg, int32_t value)
{
	if (c->out_count < sizeof(c->outs) / sizeof(*c->outs))
		c->outs[c->out_count++] = jump(c, op, reg, value);
}

static void end(struct code *c)
{
	for (unsigned i = 0; i < c->out_count; i++)
		here(c, c->outs[i]);
	set(c, BPF_REG_0, 0);
	add(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* r0 = what the map has at the key on the stack; out when there is nothing. */
static void look_up(struct code *c, int map, int16_t key)
{
	load_map(c, BPF_REG_1, map);
	move(c, BPF_REG_2, BPF_REG_10);
	alu(c, BPF_ADD, BPF_REG_2, key);
	call(c, BPF_FUNC_map_lookup_elem);
	out_if(c, BPF_JEQ, BPF_REG_0, 0);
}

/* Both begin so: r6 is the context; who calls at -8; out unless it is wanted. */
static void begin(struct code *c, const struct kernel_calls *k)
{
	c->count = c->out_count = 0;
	move(c, BPF_REG_6, BPF_REG_1);
	call(c, BPF_FUNC_get_current_pid_tgid);
	store(c, BPF_REG_10, -8, BPF_REG_0);
	alu(c, BPF_RSH, BPF_REG_0, 32);
	store32(c, BPF_REG_10, -16, BPF_REG_0);
	look_up(c, k->seen, -16);
}

/* r0 = the spec of the call whose number is in r1; out when it is of no interest. */
static void look_up_spec(struct code *c, const struct kernel_calls *k)
{
	out_if(c, BPF_JGT, BPF_REG_1, SYSCALLS_MAX - 1);
	store32(c, BPF_REG_10, -16, BPF_REG_1);
	look_up(c, k->rows, -16);
	load(c, BPF_REG_0, BPF_REG_0, 0);
	out_if(c, BPF_JEQ, BPF_REG_0, 0);
}

static void make_enter(struct code *c, const struct kernel_calls *k)
{
	begin(c, k);
	load(c, BPF_REG_1, BPF_REG_6, 8);
	look_up_spec(c, k);
	call(c, BPF_FUNC_ktime_get_ns);
	store(c, BPF_REG_10, -24, BPF_REG_0);
	load_map(c, BPF_REG_1, k->starts);
	move(c, BPF_REG_2, BPF_REG_10);
	alu(c, BPF_ADD, BPF_REG_2, -8);
	move(c, BPF_REG_3, BPF_REG_10);
	alu(c, BPF_ADD, BPF_REG_3, -24);
	set(c, BPF_REG_4, 0);
	call(c, BPF_FUNC_map_update_elem);
	end(c);
}

/* r3 = the register that byte `shift` of the spec (r8) names; r7 is the record. What to patch when there is none. */
static unsigned load_named(struct code *c, int shift)
{
	move(c, BPF_REG_1, BPF_REG_8);
	alu(c, BPF_RSH, BPF_REG_1, shift);
	alu(c, BPF_AND, BPF_REG_1, 0x78);
	unsigned none = jump(c, BPF_JEQ, BPF_REG_1, 0);
	move(c, BPF_REG_2, BPF_REG_7);
	alu_reg(c, BPF_ADD, BPF_REG_2, BPF_REG_1);
	load(c, BPF_REG_3, BPF_REG_2, AT(regs));
	return none;
}

/* r1 = behind the r9 bytes that the record has so far. */
static void point_behind(struct code *c)
{
	move(c, BPF_REG_1, BPF_REG_7);
	alu_reg(c, BPF_ADD, BPF_REG_1, BPF_REG_9);
	alu(c, BPF_ADD, BPF_REG_1, AT(bytes));
}

static void copy_text(struct code *c, int shift, int16_t field)
{
	unsigned none = load_named(c, shift);
	point_behind(c);
	set(c, BPF_REG_2, SYSCALL_TEXT_MAX);
	call(c, BPF_FUNC_probe_read_user_str);
	store(c, BPF_REG_7, field, BPF_REG_0);
	unsigned failed = jump(c, BPF_JSLE, BPF_REG_0, 0);
	alu(c, BPF_AND, BPF_REG_0, 0x1fff);
	alu_reg(c, BPF_ADD, BPF_REG_9, BPF_REG_0);
	here(c, none);
	here(c, failed);
}

/* A vector, an address, or two descriptors: eight bytes unless another register says how many. */
static void copy_blob(struct code *c)
{
	unsigned none = load_named(c, 16);
	store(c, BPF_REG_10, -40, BPF_REG_3);
	set(c, BPF_REG_3, 8);
	unsigned fixed = load_named(c, 24);
	move(c, BPF_REG_1, BPF_REG_8);
	alu(c, BPF_RSH, BPF_REG_1, 32);
	alu(c, BPF_AND, BPF_REG_1, 7);
	alu_reg(c, BPF_LSH, BPF_REG_3, BPF_REG_1);
	here(c, fixed);
	unsigned empty = jump(c, BPF_JEQ, BPF_REG_3, 0);
	unsigned longer = jump(c, BPF_JGT, BPF_REG_3, BLOB_MAX);
	store(c, BPF_REG_10, -32, BPF_REG_3);
	move(c, BPF_REG_2, BPF_REG_3);
	load(c, BPF_REG_3, BPF_REG_10, -40);
	point_behind(c);
	call(c, BPF_FUNC_probe_read_user);
	unsigned failed = jump(c, BPF_JNE, BPF_REG_0, 0);
	load(c, BPF_REG_0, BPF_REG_10, -32);
	alu(c, BPF_AND, BPF_REG_0, 0x1ff);
	store(c, BPF_REG_7, AT(blob), BPF_REG_0);
	alu_reg(c, BPF_ADD, BPF_REG_9, BPF_REG_0);
	here(c, none);
	here(c, empty);
	here(c, longer);
	here(c, failed);
}

/* r3 = what is `offset` behind r3, in the kernel's memory: `bytes` of it. */
static void follow(struct code *c, int32_t offset, int32_t bytes)
{
	alu(c, BPF_ADD, BPF_REG_3, offset);
	store_zero(c, BPF_REG_10, -40);
	move(c, BPF_REG_1, BPF_REG_10);
	alu(c, BPF_ADD, BPF_REG_1, -40);
	set(c, BPF_REG_2, bytes);
	call(c, BPF_FUNC_probe_read_kernel);
	load(c, BPF_REG_3, BPF_REG_10, -40);
}

/* What kind of file the new descriptor is: task, its files, the table, the file, the inode. */
static void copy_mode(struct code *c)
{
	struct btf_place p[] = { { "task_struct", "files", 0 }, { "files_struct", "fdt", 0 }, { "fdtable", "fd", 0 },
		{ "file", "f_inode", 0 }, { "inode", "i_mode", 0 }, { "inode", "i_rdev", 0 } };
	btf_find(p, sizeof(p) / sizeof(*p));
	for (size_t i = 0; i < sizeof(p) / sizeof(*p); i++)
		if (p[i].offset < 0)
			return; /* then no offsets are told */
	move(c, BPF_REG_1, BPF_REG_8);
	alu(c, BPF_RSH, BPF_REG_1, 40);
	alu(c, BPF_AND, BPF_REG_1, 1);
	unsigned opens_nothing = jump(c, BPF_JEQ, BPF_REG_1, 0);
	load(c, BPF_REG_1, BPF_REG_7, AT(ret));
	unsigned failed = jump(c, BPF_JSLT, BPF_REG_1, 0);
	call(c, BPF_FUNC_get_current_task);
	move(c, BPF_REG_3, BPF_REG_0);
	for (int i = 0; i < 3; i++)
		follow(c, p[i].offset, 8);
	load(c, BPF_REG_1, BPF_REG_7, AT(ret));
	alu(c, BPF_LSH, BPF_REG_1, 3);
	alu_reg(c, BPF_ADD, BPF_REG_3, BPF_REG_1);
	follow(c, 0, 8);
	follow(c, p[3].offset, 8);
	store(c, BPF_REG_10, -32, BPF_REG_3);
	follow(c, p[5].offset, 4);
	alu(c, BPF_LSH, BPF_REG_3, 32);
	store(c, BPF_REG_7, AT(mode), BPF_REG_3);
	load(c, BPF_REG_3, BPF_REG_10, -32);
	follow(c, p[4].offset, 2);
	load(c, BPF_REG_1, BPF_REG_7, AT(mode));
	alu_reg(c, BPF_OR, BPF_REG_1, BPF_REG_3);
	store(c, BPF_REG_7, AT(mode), BPF_REG_1);
	here(c, opens_nothing);
	here(c, failed);
}

static void make_exit(struct code *c, const struct kernel_calls *k)
{
	begin(c, k);
	look_up(c, k->starts, -8);
	load(c, BPF_REG_8, BPF_REG_0, 0);
	out_if(c, BPF_JEQ, BPF_REG_8, 0);
	store_zero(c, BPF_REG_0, 0);
	store_zero(c, BPF_REG_10, -16);
	look_up(c, k->scratch, -16);
	move(c, BPF_REG_7, BPF_REG_0);
	store(c, BPF_REG_7, AT(ts_ns), BPF_REG_8);
	call(c, BPF_FUNC_ktime_get_ns);
	store(c, BPF_REG_7, AT(end_ns), BPF_REG_0);
	load(c, BPF_REG_1, BPF_REG_10, -8);
	store(c, BPF_REG_7, AT(who), BPF_REG_1);
	load(c, BPF_REG_1, BPF_REG_6, 8);
	store(c, BPF_REG_7, AT(ret), BPF_REG_1);
	move(c, BPF_REG_1, BPF_REG_7);
	alu(c, BPF_ADD, BPF_REG_1, AT(regs));
	set(c, BPF_REG_2, sizeof(((struct record *)0)->regs));
	load(c, BPF_REG_3, BPF_REG_6, 0);
	call(c, BPF_FUNC_probe_read_kernel);
	load(c, BPF_REG_1, BPF_REG_7, AT(regs) + 15 * 8);
	look_up_spec(c, k);
	move(c, BPF_REG_8, BPF_REG_0);
	store(c, BPF_REG_7, AT(spec), BPF_REG_8);
	store_zero(c, BPF_REG_7, AT(text1));
	store_zero(c, BPF_REG_7, AT(text2));
	store_zero(c, BPF_REG_7, AT(blob));
	store_zero(c, BPF_REG_7, AT(mode));
	set(c, BPF_REG_9, 0);
	copy_text(c, 0, AT(text1));
	copy_text(c, 8, AT(text2));
	copy_blob(c);
	copy_mode(c);
	load_map(c, BPF_REG_1, k->ring);
	move(c, BPF_REG_2, BPF_REG_7);
	move(c, BPF_REG_3, BPF_REG_9);
	alu(c, BPF_ADD, BPF_REG_3, AT(bytes));
	set(c, BPF_REG_4, 0);
	call(c, BPF_FUNC_ringbuf_output);
	out_if(c, BPF_JEQ, BPF_REG_0, 0);
	store_zero(c, BPF_REG_10, -16);
	look_up(c, k->lost, -16);
	set(c, BPF_REG_1, 1);
	add(c, BPF_STX | BPF_DW | BPF_ATOMIC, BPF_REG_0, BPF_REG_1, 0, BPF_ADD);
	end(c);
}

static int load_program(const struct code *c)
{
	union bpf_attr a = { .prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = (uintptr_t)c->at,
		.insn_cnt = c->count,
		.license = (uintptr_t) "GPL" };
	return c->count < CODE_MAX ? bpf(BPF_PROG_LOAD, &a) : -E2BIG;
}

static int attach_program(int program, const char *point)
{
	union bpf_attr a = { .raw_tracepoint = { .name = (uintptr_t)point, .prog_fd = (uint32_t)program } };
	return bpf(BPF_RAW_TRACEPOINT_OPEN, &a);
}

/* What is to be copied of a call's arguments, see copy_text and copy_blob. */
static uint64_t spec_of(const struct syscall_row *row)
{
	uint64_t spec = SPEC_WANTED | (row->effect == SYSCALL_OPENS ? SPEC_OPENS : 0);
	int texts = 0;
	for (unsigned i = 0; row->letters[i] && i < 6; i++) {
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

static int fill_rows(const struct kernel_calls *k)
{
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

static int make_maps(struct kernel_calls *k)
{
	k->seen = make_map(BPF_MAP_TYPE_HASH, 4, 4, PROCESSES_MAX);
	k->rows = make_map(BPF_MAP_TYPE_ARRAY, 4, 8, SYSCALLS_MAX);
	k->starts = make_map(BPF_MAP_TYPE_LRU_HASH, 8, 8, PROCESSES_MAX);
	k->scratch = make_map(BPF_MAP_TYPE_PERCPU_ARRAY, 4, (uint32_t)(RECORD_MAX + 7) & ~7u, 1);
	k->ring = make_map(BPF_MAP_TYPE_RINGBUF, 0, 0, RING_BYTES);
	k->lost = make_map(BPF_MAP_TYPE_ARRAY, 4, 8, 1);
	const int all[] = { k->seen, k->rows, k->starts, k->scratch, k->ring, k->lost };
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i] < 0)
			return all[i];
	return fill_rows(k);
}

static int start(struct kernel_calls *k, int i, const char *point,
		void (*make)(struct code *, const struct kernel_calls *))
{
	struct code code;
	make(&code, k);
	k->programs[i] = load_program(&code);
	k->links[i] = k->programs[i] < 0 ? k->programs[i] : attach_program(k->programs[i], point);
	return k->links[i] < 0 ? k->links[i] : 0;
}

/* Programs in the kernel know processes by its own numbers, not by those of a namespace. */
static bool has_kernel_pids(void)
{
	char link[64];
	ssize_t n = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);
	link[n > 0 ? n : 0] = '\0';
	return !strcmp(link, INITIAL_PIDS);
}

int kernel_calls_open(struct kernel_calls *k)
{
	*k = (struct kernel_calls){ .seen = -1, .rows = -1, .starts = -1, .scratch = -1, .ring = -1, .lost = -1 };
	for (int i = 0; i < 2; i++)
		k->programs[i] = k->links[i] = -1;
#ifndef __x86_64__
	return -ENOTSUP;
#endif
	int rc = has_kernel_pids() ? make_maps(k) : -ENOTSUP;
	if (!rc)
		rc = map_ring(k);
	if (!rc)
		rc = start(k, 0, "sys_enter", make_enter);
	if (!rc)
		rc = start(k, 1, "sys_exit", make_exit);
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

static void take_text(struct syscall_event *e, unsigned i, const void *from, size_t bytes)
{
	char *to = (char *)(e + 1);
	for (unsigned n = 0; n < i; n++)
		to += e->text_bytes[n];
	memcpy(to, from, bytes);
	e->has_text[i] = 1;
	e->text_bytes[i] = (uint16_t)bytes;
}

static bool can_be_sought(uint64_t mode)
{
	uint32_t device = (uint32_t)(mode >> 32);
	return S_ISREG((mode_t)(mode & 0xffff)) || S_ISBLK((mode_t)(mode & 0xffff)) ||
			(S_ISCHR((mode_t)(mode & 0xffff)) && device >> 20 == MEMORY_MAJOR);
}

/* The blob behind the texts: what it is the letters say. */
static void take_blob(struct syscall_event *e, const struct syscall_row *row, unsigned texts, const uint8_t *at,
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
		take_text(e, texts, at, bytes);
	}
}

static void translate(const struct record *r, size_t bytes, struct syscall_event *e)
{
	*e = (struct syscall_event){ .kind = SYSCALL_CALL,
		.pid = (int32_t)(r->who >> 32),
		.tid = (int32_t)r->who,
		.number = (int32_t)r->regs[15],
		.ts_ns = (int64_t)r->ts_ns,
		.end_ns = (int64_t)r->end_ns,
		.ret = r->ret,
		.size = -1,
		.is_seekable = can_be_sought(r->mode) };
	for (int i = 0; i < 6; i++)
		e->args[i] = r->regs[arg_regs[i]];
	const uint8_t *at = r->bytes, *behind = (const uint8_t *)r + bytes;
	const int64_t texts[] = { r->text1, r->text2 };
	unsigned n = 0;
	for (unsigned i = 0; i < 2; i++) {
		if (texts[i] > 0 && texts[i] <= behind - at && texts[i] <= SYSCALL_TEXT_MAX) {
			take_text(e, n, at, (size_t)texts[i] - 1);
			at += texts[i];
		}
		n += (r->spec >> 8 * i & 0x78) != 0;
	}
	if (r->blob > 0 && r->blob <= behind - at)
		take_blob(e, &syscall_rows[e->number], n, at, (size_t)r->blob);
}

bool kernel_calls_peek(struct kernel_calls *k, uint64_t end, struct syscall_event *e)
{
	while (k->at < end) {
		uint32_t head = __atomic_load_n(head_of(k), __ATOMIC_ACQUIRE);
		size_t bytes = head & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
		const struct record *r = (const void *)((const uint8_t *)head_of(k) + BPF_RINGBUF_HDR_SZ);
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
