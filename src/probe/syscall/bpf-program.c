/* See bpf-program.h. The verifier rejects what it cannot prove, so bounds are enforced with masks. */
#include "probe/syscall/bpf-program.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "probe/syscall/syscall-table.h"

#include <fcntl.h>
#include <linux/btf.h>
#include <string.h>

#define FILE_MAX ((size_t)64 << 20)
#define BLOB_MAX 256

struct btf_place {
	const char *type, *member;
	int32_t offset; /* in bytes; -1: not found */
};

/* Offsets of struct members in the running kernel, from its BTF. */

/* Bytes after a type, by its kind. */
static size_t tail_bytes(uint32_t kind, uint32_t count)
{
	switch (kind) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return count * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO:
		return count * (size_t)8;
	case BTF_KIND_DATASEC:
	case BTF_KIND_ENUM64:
		return count * (size_t)12;
	default:
		return 0;
	}
}

static void inspect(const struct btf_type *t, const char *texts, size_t text_bytes, struct btf_place *p)
{
	const struct btf_member *m = (const void *)(t + 1);
	for (uint32_t i = 0; i < BTF_INFO_VLEN(t->info); i++) {
		uint32_t bits = BTF_INFO_KFLAG(t->info) ? BTF_MEMBER_BIT_OFFSET(m[i].offset) : m[i].offset;
		if (m[i].name_off < text_bytes && !strcmp(texts + m[i].name_off, p->member))
			p->offset = (int32_t)(bits / 8);
	}
}

static void walk(const char *at, size_t bytes, const char *texts, size_t text_bytes, struct btf_place *places,
		size_t count)
{
	while (bytes >= sizeof(struct btf_type)) {
		const struct btf_type *t = (const void *)at;
		uint32_t kind = BTF_INFO_KIND(t->info);
		size_t whole = sizeof(*t) + tail_bytes(kind, BTF_INFO_VLEN(t->info));
		if (whole > bytes)
			return;
		for (size_t i = 0; kind == BTF_KIND_STRUCT && t->name_off < text_bytes && i < count; i++)
			if (!strcmp(texts + t->name_off, places[i].type))
				inspect(t, texts, text_bytes, &places[i]);
		at += whole;
		bytes -= whole;
	}
}

static void btf_find(struct btf_place *places, size_t count)
{
	CLEANUP(buf_release) struct buf file = BUF_INIT;
	struct btf_header h;
	for (size_t i = 0; i < count; i++)
		places[i].offset = -1;
	if (fs_read_file(AT_FDCWD, "/sys/kernel/btf/vmlinux", FILE_MAX, &file, NULL) || file.len < sizeof(h))
		return;
	memcpy(&h, file.data, sizeof(h));
	size_t types = (size_t)h.hdr_len + h.type_off, texts = (size_t)h.hdr_len + h.str_off;
	if (h.magic != BTF_MAGIC || types > file.len || h.type_len > file.len - types || texts > file.len ||
			h.str_len > file.len - texts || !h.str_len || file.data[texts + h.str_len - 1])
		return;
	walk(file.data + types, h.type_len, file.data + texts, h.str_len, places, count);
}

/* Programs. */

#define AT(field) ((int16_t)offsetof(struct kernel_record, field))

static void add(struct program *c, uint8_t op, uint8_t dst, uint8_t src, int16_t off, int32_t imm)
{
	if (c->count < PROGRAM_MAX)
		c->at[c->count++] =
				(struct bpf_insn){ .code = op, .dst_reg = dst, .src_reg = src, .off = off, .imm = imm };
}

static void move(struct program *c, uint8_t to, uint8_t from)
{
	add(c, BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

static void set(struct program *c, uint8_t to, int32_t value)
{
	add(c, BPF_ALU64 | BPF_MOV, to, 0, 0, value);
}

static void alu(struct program *c, uint8_t op, uint8_t to, int32_t value)
{
	add(c, BPF_ALU64 | op, to, 0, 0, value);
}

static void alu_reg(struct program *c, uint8_t op, uint8_t to, uint8_t from)
{
	add(c, BPF_ALU64 | op | BPF_X, to, from, 0, 0);
}

static void load(struct program *c, uint8_t to, uint8_t from, int16_t off)
{
	add(c, BPF_LDX | BPF_DW | BPF_MEM, to, from, off, 0);
}

static void store(struct program *c, uint8_t to, int16_t off, uint8_t from)
{
	add(c, BPF_STX | BPF_DW | BPF_MEM, to, from, off, 0);
}

static void store32(struct program *c, uint8_t to, int16_t off, uint8_t from)
{
	add(c, BPF_STX | BPF_MEM, to, from, off, 0);
}

static void store_zero(struct program *c, uint8_t to, int16_t off)
{
	add(c, BPF_ST | BPF_DW | BPF_MEM, to, 0, off, 0);
}

static void call(struct program *c, int32_t helper)
{
	add(c, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

static void load_map(struct program *c, uint8_t to, int map)
{
	add(c, BPF_DW, to, BPF_PSEUDO_MAP_FD, 0, map); /* BPF_LD and BPF_IMM are 0 */
	add(c, 0, 0, 0, 0, 0);
}

/* Jumps if `reg` compares so to `value`; `here` patches the target. */
static unsigned jump(struct program *c, uint8_t op, uint8_t reg, int32_t value)
{
	add(c, BPF_JMP | op, reg, 0, 0, value);
	return c->count - 1;
}

static void here(struct program *c, unsigned from)
{
	c->at[from].off = (int16_t)(c->count - from - 1);
}

static void out_if(struct program *c, uint8_t op, uint8_t reg, int32_t value)
{
	if (c->out_count < sizeof(c->outs) / sizeof(*c->outs))
		c->outs[c->out_count++] = jump(c, op, reg, value);
}

static void end(struct program *c)
{
	for (unsigned i = 0; i < c->out_count; i++)
		here(c, c->outs[i]);
	set(c, BPF_REG_0, 0);
	add(c, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* r0 = map value for the key on the stack; exits if missing. */
static void lookup(struct program *c, int map, int16_t key)
{
	load_map(c, BPF_REG_1, map);
	move(c, BPF_REG_2, BPF_REG_10);
	alu(c, BPF_ADD, BPF_REG_2, key);
	call(c, BPF_FUNC_map_lookup_elem);
	out_if(c, BPF_JEQ, BPF_REG_0, 0);
}

/* Prologue of both: r6 = context, pid and tid at -8; exits unless the process is selected. */
static void begin(struct program *c, const struct kernel_calls *k)
{
	c->count = c->out_count = 0;
	move(c, BPF_REG_6, BPF_REG_1);
	call(c, BPF_FUNC_get_current_pid_tgid);
	store(c, BPF_REG_10, -8, BPF_REG_0);
	alu(c, BPF_RSH, BPF_REG_0, 32);
	store32(c, BPF_REG_10, -16, BPF_REG_0);
	lookup(c, k->seen, -16);
}

/* r0 = spec of the call with the number in r1; exits if the call is not recorded. */
static void lookup_spec(struct program *c, const struct kernel_calls *k)
{
	out_if(c, BPF_JGT, BPF_REG_1, SYSCALLS_MAX - 1);
	store32(c, BPF_REG_10, -16, BPF_REG_1);
	lookup(c, k->rows, -16);
	load(c, BPF_REG_0, BPF_REG_0, 0);
	out_if(c, BPF_JEQ, BPF_REG_0, 0);
}

void program_enter(struct program *c, const struct kernel_calls *k)
{
	begin(c, k);
	load(c, BPF_REG_1, BPF_REG_6, 8);
	lookup_spec(c, k);
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

/* r3 = the register named by byte `shift` of the spec (r8); r7 = record. Returns the jump to patch for byte 0. */
static unsigned load_named(struct program *c, int shift)
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

/* r1 = end of the r9 bytes in the record. */
static void point_behind(struct program *c)
{
	move(c, BPF_REG_1, BPF_REG_7);
	alu_reg(c, BPF_ADD, BPF_REG_1, BPF_REG_9);
	alu(c, BPF_ADD, BPF_REG_1, AT(bytes));
}

static void copy_text(struct program *c, int shift, int16_t field)
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

/* A vector, an address, or two descriptors: eight bytes unless another register has the length. */
static void copy_blob(struct program *c)
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

/* r3 = `bytes` bytes of kernel memory at r3 + `offset`. */
static void follow(struct program *c, int32_t offset, int32_t bytes)
{
	alu(c, BPF_ADD, BPF_REG_3, offset);
	store_zero(c, BPF_REG_10, -40);
	move(c, BPF_REG_1, BPF_REG_10);
	alu(c, BPF_ADD, BPF_REG_1, -40);
	set(c, BPF_REG_2, bytes);
	call(c, BPF_FUNC_probe_read_kernel);
	load(c, BPF_REG_3, BPF_REG_10, -40);
}

/* File type of the new descriptor: task, its files, the table, the file, the inode. */
static void copy_mode(struct program *c)
{
	struct btf_place p[] = { { "task_struct", "files", 0 }, { "files_struct", "fdt", 0 }, { "fdtable", "fd", 0 },
		{ "file", "f_inode", 0 }, { "inode", "i_mode", 0 }, { "inode", "i_rdev", 0 } };
	btf_find(p, sizeof(p) / sizeof(*p));
	for (size_t i = 0; i < sizeof(p) / sizeof(*p); i++)
		if (p[i].offset < 0)
			return; /* then offsets are unknown */
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

void program_exit(struct program *c, const struct kernel_calls *k)
{
	begin(c, k);
	lookup(c, k->starts, -8);
	load(c, BPF_REG_8, BPF_REG_0, 0);
	out_if(c, BPF_JEQ, BPF_REG_8, 0);
	store_zero(c, BPF_REG_0, 0);
	store_zero(c, BPF_REG_10, -16);
	lookup(c, k->scratch, -16);
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
	set(c, BPF_REG_2, sizeof(((struct kernel_record *)0)->regs));
	load(c, BPF_REG_3, BPF_REG_6, 0);
	call(c, BPF_FUNC_probe_read_kernel);
	load(c, BPF_REG_1, BPF_REG_7, AT(regs) + 15 * 8);
	lookup_spec(c, k);
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
	lookup(c, k->lost, -16);
	set(c, BPF_REG_1, 1);
	add(c, BPF_STX | BPF_DW | BPF_ATOMIC, BPF_REG_0, BPF_REG_1, 0, BPF_ADD);
	end(c);
}
