/* Finds the entries of .eh_frame and executes their instructions; see cfi.h. */
#include "probe/perf/cfi.h"

#include "base/vec.h"
#include "probe/perf/cursor.h"

#include <stdlib.h>

#define REMEMBERED_MAX 16

/* Common information entry. */
struct cie {
	uint64_t code_align;
	int64_t data_align;
	uint8_t pointer_encoding;
	bool has_augmentation, is_signal;
	struct cursor program;
};

/* Pointer encodings of .eh_frame (DW_EH_PE_). */
enum { PE_ABS = 0, PE_ULEB = 1, PE_U2 = 2, PE_U4 = 3, PE_U8 = 4, PE_SLEB = 9, PE_S2 = 10, PE_S4 = 11, PE_S8 = 12 };
enum { PE_PCREL = 0x10, PE_DATAREL = 0x30, PE_OMIT = 0xff };

/* Reads a pointer in .eh_frame encoding; `here` and `data`: bases of relative encodings. */
static uint64_t cfi_pointer(struct cursor *c, uint8_t encoding, uint64_t here, uint64_t data)
{
	uint64_t v = 0;
	if (encoding == PE_OMIT)
		return 0;
	switch (encoding & 0x0f) {
	case PE_ABS:
	case PE_U8:
	case PE_S8:
		v = cursor_u64(c);
		break;
	case PE_ULEB:
		v = cursor_uleb(c);
		break;
	case PE_SLEB:
		v = (uint64_t)cursor_sleb(c);
		break;
	case PE_U2:
		v = cursor_u16(c);
		break;
	case PE_S2:
		v = (uint64_t)(int64_t)(int16_t)cursor_u16(c);
		break;
	case PE_U4:
		v = cursor_u32(c);
		break;
	case PE_S4:
		v = (uint64_t)(int64_t)(int32_t)cursor_u32(c);
		break;
	default:
		c->is_bad = true;
	}
	switch (encoding & 0x70) {
	case 0:
		return v;
	case PE_PCREL:
		return v + here;
	case PE_DATAREL:
		return v + data;
	default:
		c->is_bad = true;
		return 0;
	}
}

/* Of a byte of .eh_frame */
static uint64_t cfi_address_of(const struct cfi *c, const uint8_t *at)
{
	return c->frame_address + (uint64_t)(at - c->frame);
}

/* The call frame instructions of an entry. */

struct machine {
	const struct cfi *cfi;
	const struct cie *cie;
	uint64_t at, target; /* addresses: of the current row, and the target */
	struct cfi_row row, first;
	struct cfi_row kept[REMEMBERED_MAX];
	unsigned kept_count;
	bool is_bad;
};

/* Values from a file may overflow; the result is then garbage, and the caller checks its bounds. */
static int64_t scaled(uint64_t n, int64_t by)
{
	return (int64_t)(n * (uint64_t)by);
}

static void set(struct machine *m, uint64_t reg, enum cfi_kind kind, int64_t offset, uint64_t other)
{
	if (reg >= CFI_REGS)
		return; /* vector registers and the like: not needed */
	if (offset != (int32_t)offset || other >= CFI_REGS) {
		m->is_bad = true;
		return;
	}
	m->row.regs[reg] = (struct cfi_rule){ .kind = (uint8_t)kind, .reg = (uint8_t)other, .offset = (int32_t)offset };
}

static void set_cfa(struct machine *m, uint64_t reg, int64_t offset)
{
	m->is_bad |= reg >= CFI_REGS || offset != (int32_t)offset;
	m->row.cfa = (struct cfi_rule){ .kind = CFI_REGISTER, .reg = (uint8_t)reg, .offset = (int32_t)offset };
}

/* Returns the offset of an expression block and moves the cursor behind it. */
static int64_t block(struct machine *m, struct cursor *c)
{
	int64_t at = c->at - m->cfi->frame;
	cursor_skip(c, cursor_uleb(c));
	return at;
}

static void restore(struct machine *m, uint64_t reg)
{
	if (reg < CFI_REGS)
		m->row.regs[reg] = m->first.regs[reg];
}

static void define_cfa(struct machine *m, struct cursor *c, uint8_t op)
{
	int64_t align = m->cie->data_align;
	uint64_t reg;
	switch (op) {
	case 0x0c: /* def_cfa */
		reg = cursor_uleb(c);
		set_cfa(m, reg, (int64_t)cursor_uleb(c));
		break;
	case 0x12: /* def_cfa_sf */
		reg = cursor_uleb(c);
		set_cfa(m, reg, scaled((uint64_t)cursor_sleb(c), align));
		break;
	case 0x0d: /* def_cfa_register */
		set_cfa(m, cursor_uleb(c), m->row.cfa.offset);
		break;
	case 0x0e: /* def_cfa_offset */
		set_cfa(m, m->row.cfa.reg, (int64_t)cursor_uleb(c));
		break;
	case 0x13: /* def_cfa_offset_sf */
		set_cfa(m, m->row.cfa.reg, scaled((uint64_t)cursor_sleb(c), align));
		break;
	default: /* def_cfa_expression */
		m->row.cfa = (struct cfi_rule){ .kind = CFI_VAL_EXPR, .offset = (int32_t)block(m, c) };
	}
}

static void define_register(struct machine *m, struct cursor *c, uint8_t op)
{
	int64_t align = m->cie->data_align;
	uint64_t reg = cursor_uleb(c);
	switch (op) {
	case 0x05: /* offset_extended */
		set(m, reg, CFI_OFFSET, scaled(cursor_uleb(c), align), 0);
		break;
	case 0x06: /* restore_extended */
		restore(m, reg);
		break;
	case 0x07: /* undefined */
		set(m, reg, CFI_UNDEFINED, 0, 0);
		break;
	case 0x08: /* same_value */
		set(m, reg, CFI_SAME, 0, 0);
		break;
	case 0x09: /* register */
		set(m, reg, CFI_REGISTER, 0, cursor_uleb(c));
		break;
	case 0x10: /* expression */
		set(m, reg, CFI_EXPR, block(m, c), 0);
		break;
	case 0x11: /* offset_extended_sf */
		set(m, reg, CFI_OFFSET, scaled((uint64_t)cursor_sleb(c), align), 0);
		break;
	case 0x14: /* val_offset */
		set(m, reg, CFI_VALUE, scaled(cursor_uleb(c), align), 0);
		break;
	case 0x15: /* val_offset_sf */
		set(m, reg, CFI_VALUE, scaled((uint64_t)cursor_sleb(c), align), 0);
		break;
	case 0x16: /* val_expression */
		set(m, reg, CFI_VAL_EXPR, block(m, c), 0);
		break;
	default: /* GNU_negative_offset_extended */
		set(m, reg, CFI_OFFSET, scaled(0 - cursor_uleb(c), align), 0);
	}
}

static void remember(struct machine *m, bool is_back)
{
	if (is_back && m->kept_count)
		m->row = m->kept[--m->kept_count];
	else if (!is_back && m->kept_count < REMEMBERED_MAX)
		m->kept[m->kept_count++] = m->row;
	else
		m->is_bad = true;
}

static void run_extended(struct machine *m, struct cursor *c, uint8_t op)
{
	switch (op) {
	case 0x00: /* nop */
		break;
	case 0x01: /* set_loc */
		m->at = cfi_pointer(c, m->cie->pointer_encoding, cfi_address_of(m->cfi, c->at), 0);
		break;
	case 0x02:
		m->at += cursor_u8(c) * m->cie->code_align;
		break;
	case 0x03:
		m->at += cursor_u16(c) * m->cie->code_align;
		break;
	case 0x04:
		m->at += cursor_u32(c) * m->cie->code_align;
		break;
	case 0x0a: /* remember_state */
	case 0x0b: /* restore_state */
		remember(m, op == 0x0b);
		break;
	case 0x0c:
	case 0x0d:
	case 0x0e:
	case 0x0f:
	case 0x12:
	case 0x13:
		define_cfa(m, c, op);
		break;
	case 0x2e: /* GNU_args_size */
		cursor_uleb(c);
		break;
	default:
		if (op <= 0x16 || op == 0x2f)
			define_register(m, c, op);
		else
			m->is_bad = true;
	}
}

static void run(struct machine *m, struct cursor c)
{
	while (c.at < c.end && !m->is_bad && !c.is_bad) {
		struct cursor before = c;
		uint8_t op = cursor_u8(&c), low = op & 0x3f;
		uint64_t was = m->at;
		switch (op & 0xc0) {
		case 0x40: /* advance_loc */
			m->at += low * m->cie->code_align;
			break;
		case 0x80: /* offset */
			set(m, low, CFI_OFFSET, scaled(cursor_uleb(&c), m->cie->data_align), 0);
			break;
		case 0xc0: /* restore */
			restore(m, low);
			break;
		default:
			run_extended(m, &c, op);
		}
		if (m->at != was && m->at > m->target) {
			m->at = was;
			c = before;
			break;
		}
	}
	m->is_bad |= c.is_bad;
}

/* Computes the row at `address` of an entry that starts at `start`; false if its rules are invalid. */
static bool cfi_run(const struct cfi *c, const struct cie *cie, struct cursor program, uint64_t start, uint64_t address,
		struct cfi_row *row)
{
	struct machine m = { .cfi = c, .cie = cie, .at = start, .target = address };
	run(&m, cie->program);
	m.first = m.row;
	m.at = start;
	run(&m, program);
	*row = m.row;
	row->is_signal = cie->is_signal;
	return !m.is_bad && row->cfa.kind != CFI_SAME;
}

/* Entries. */

/* Reads the body of the entry at `offset`; *id is the position of its id field. */
static bool read_entry(const struct cfi *c, uint64_t offset, struct cursor *body, const uint8_t **id, uint32_t *value)
{
	if (offset >= c->frame_bytes)
		return false;
	struct cursor at = { .at = c->frame + offset, .end = c->frame + c->frame_bytes };
	uint64_t bytes = cursor_u32(&at);
	if (bytes == 0xffffffff)
		bytes = cursor_u64(&at);
	if (at.is_bad || bytes < 4 || bytes > cursor_left(&at))
		return false;
	*body = (struct cursor){ .at = at.at, .end = at.at + bytes };
	*id = body->at;
	*value = cursor_u32(body);
	return true;
}

static void read_augmentation(const struct cfi *c, struct cie *cie, const char *words, struct cursor *at)
{
	struct cursor data = { .at = at->at, .end = at->end };
	uint64_t bytes = cursor_uleb(&data);
	*at = data;
	cursor_skip(at, bytes);
	cie->has_augmentation = true;
	for (const char *w = words + 1; *w; w++) {
		uint8_t encoding;
		switch (*w) {
		case 'R':
			cie->pointer_encoding = cursor_u8(&data);
			break;
		case 'L':
			cursor_u8(&data);
			break;
		case 'P':
			encoding = cursor_u8(&data);
			cfi_pointer(&data, encoding, cfi_address_of(c, data.at), 0);
			break;
		case 'S':
			cie->is_signal = true;
			break;
		default:
			return; /* the length field lets us skip unknown augmentations */
		}
	}
}

static bool read_cie(const struct cfi *c, uint64_t offset, struct cie *cie)
{
	struct cursor at;
	const uint8_t *id;
	uint32_t value;
	if (!read_entry(c, offset, &at, &id, &value) || value != 0)
		return false;
	uint8_t version = cursor_u8(&at);
	const char *words = (const char *)at.at;
	while (!at.is_bad && cursor_u8(&at))
		;
	if (at.is_bad || (version != 1 && version != 3) || (words[0] && words[0] != 'z'))
		return false;
	*cie = (struct cie){ .code_align = cursor_uleb(&at) };
	cie->data_align = cursor_sleb(&at);
	uint64_t ra = version == 1 ? cursor_u8(&at) : cursor_uleb(&at);
	if (words[0] == 'z')
		read_augmentation(c, cie, words, &at);
	cie->program = at;
	return !at.is_bad && ra == CFI_RA;
}

static int by_start(const void *a, const void *b)
{
	const struct cfi_entry *x = a, *y = b;
	return (x->start > y->start) - (x->start < y->start);
}

/* Reads the start address of the entry at `offset`; false for a CIE. *next: offset of the next entry. */
static bool entry_start(const struct cfi *c, uint64_t offset, uint64_t *start, uint64_t *next)
{
	struct cursor at;
	struct cie cie;
	const uint8_t *id;
	uint32_t back;
	if (!read_entry(c, offset, &at, &id, &back))
		return false;
	*next = (uint64_t)(at.end - c->frame);
	*start = 0;
	if (back && back <= (uint64_t)(id - c->frame) && read_cie(c, (uint64_t)(id - c->frame) - back, &cie))
		*start = cfi_pointer(&at, cie.pointer_encoding, cfi_address_of(c, at.at), 0);
	return !at.is_bad;
}

bool cfi_index(struct cfi *c)
{
	size_t cap = 0;
	for (uint64_t offset = 0, next, start; entry_start(c, offset, &start, &next); offset = next) {
		if (!start)
			continue;
		if (!VEC_GROW(c->entries, cap, c->entry_count + 1, VEC_MAX))
			break;
		c->entries[c->entry_count++] = (struct cfi_entry){ start, offset };
	}
	if (c->entry_count)
		qsort(c->entries, c->entry_count, sizeof(*c->entries), by_start);
	return c->entry_count > 0;
}

static bool search_entries(const struct cfi *c, uint64_t address, uint64_t *offset)
{
	size_t low = 0, high = c->entry_count;
	while (low < high) {
		size_t mid = (low + high) / 2;
		if (c->entries[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (low)
		*offset = c->entries[low - 1].offset;
	return low > 0;
}

/* The header's table: (start address, entry), sorted, both relative to the header. */
static bool find_entry(const struct cfi *c, uint64_t address, uint64_t *offset)
{
	if (c->entries)
		return search_entries(c, address, offset);
	struct cursor h = { .at = c->hdr, .end = c->hdr + c->hdr_bytes };
	uint8_t version = cursor_u8(&h), frame = cursor_u8(&h), count_encoding = cursor_u8(&h), table = cursor_u8(&h);
	cfi_pointer(&h, frame, 0, 0);
	uint64_t count = cfi_pointer(&h, count_encoding, 0, 0), low = 0, high = count;
	if (h.is_bad || version != 1 || table != (PE_DATAREL | PE_S4) || !count || count > cursor_left(&h) / 8)
		return false;
	int64_t wanted = (int64_t)(address - c->hdr_address);
	while (low < high) {
		uint64_t mid = (low + high) / 2;
		int32_t start;
		memcpy(&start, h.at + 8 * mid, sizeof(start));
		if (start <= wanted)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return false;
	int32_t entry;
	memcpy(&entry, h.at + 8 * (low - 1) + 4, sizeof(entry));
	*offset = c->hdr_address + (uint64_t)(int64_t)entry - c->frame_address;
	return true;
}

bool cfi_find(const struct cfi *c, uint64_t address, struct cfi_row *row)
{
	struct cursor at;
	struct cie cie;
	const uint8_t *id;
	uint64_t offset;
	uint32_t back;
	if (!find_entry(c, address, &offset) || !read_entry(c, offset, &at, &id, &back) || !back ||
			back > (uint64_t)(id - c->frame) || !read_cie(c, (uint64_t)(id - c->frame) - back, &cie))
		return false;
	uint64_t start = cfi_pointer(&at, cie.pointer_encoding, cfi_address_of(c, at.at), c->hdr_address);
	uint64_t bytes = cfi_pointer(&at, cie.pointer_encoding & 0x0f, 0, 0);
	if (cie.has_augmentation)
		cursor_skip(&at, cursor_uleb(&at));
	if (at.is_bad || address < start || address - start >= bytes)
		return false;
	return cfi_run(c, &cie, at, start, address, row);
}
