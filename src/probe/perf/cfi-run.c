/* Executes the call frame instructions of an .eh_frame entry; see cfi-private.h. */
#include "probe/perf/cfi-private.h"

#define REMEMBERED_MAX 16

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

bool cfi_run(const struct cfi *c, const struct cie *cie, struct cursor program, uint64_t start, uint64_t address,
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
