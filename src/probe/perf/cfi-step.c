/* Computes the caller's registers from the callee's: applies rules and evaluates expressions. See cfi.h. */
#include "probe/perf/cfi.h"

#include "probe/perf/cursor.h"

#define VALUES_MAX 32
#define OPERATIONS_MAX 256

bool cfi_load(const struct cfi_memory *m, uint64_t address, uint64_t *value)
{
	if (address < m->start || address - m->start > m->len || m->len - (address - m->start) < sizeof(*value))
		return false;
	memcpy(value, m->bytes + (address - m->start), sizeof(*value));
	return true;
}

struct values {
	uint64_t v[VALUES_MAX];
	unsigned count;
	bool is_bad;
};

static void push(struct values *s, uint64_t v)
{
	if (s->count < VALUES_MAX)
		s->v[s->count++] = v;
	else
		s->is_bad = true;
}

static uint64_t pop(struct values *s)
{
	if (s->count)
		return s->v[--s->count];
	s->is_bad = true;
	return 0;
}

/* DW_OP_ numbers. */
enum {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S,
	OP_CONST2U,
	OP_CONST2S,
	OP_CONST4U,
	OP_CONST4S,
	OP_CONST8U,
	OP_CONST8S,
	OP_CONSTU = 0x10,
	OP_CONSTS,
	OP_DUP,
	OP_DROP,
	OP_OVER,
	OP_PICK,
	OP_SWAP,
	OP_ROT,
	OP_ABS = 0x19,
	OP_AND,
	OP_DIV,
	OP_MINUS,
	OP_MOD,
	OP_MUL,
	OP_NEG,
	OP_NOT,
	OP_OR,
	OP_PLUS,
	OP_PLUS_UCONST,
	OP_SHL,
	OP_SHR,
	OP_SHRA,
	OP_XOR,
	OP_BRA,
	OP_EQ,
	OP_GE,
	OP_GT,
	OP_LE,
	OP_LT,
	OP_NE,
	OP_SKIP,
	OP_LIT0 = 0x30,
	OP_REG0 = 0x50,
	OP_BREG0 = 0x70,
	OP_NOP = 0x96
};

static uint64_t constant(struct cursor *c, uint8_t op)
{
	switch (op) {
	case OP_CONST1U:
		return cursor_u8(c);
	case OP_CONST1S:
		return (uint64_t)(int64_t)(int8_t)cursor_u8(c);
	case OP_CONST2U:
		return cursor_u16(c);
	case OP_CONST2S:
		return (uint64_t)(int64_t)(int16_t)cursor_u16(c);
	case OP_CONST4U:
		return cursor_u32(c);
	case OP_CONST4S:
		return (uint64_t)(int64_t)(int32_t)cursor_u32(c);
	case OP_CONSTU:
		return cursor_uleb(c);
	case OP_CONSTS:
		return (uint64_t)cursor_sleb(c);
	default:
		return cursor_u64(c);
	}
}

static uint64_t binary(struct values *s, uint8_t op, uint64_t a, uint64_t b)
{
	switch (op) {
	case OP_AND:
		return a & b;
	case OP_MINUS:
		return a - b;
	case OP_MUL:
		return a * b;
	case OP_OR:
		return a | b;
	case OP_PLUS:
		return a + b;
	case OP_SHL:
	case OP_SHR:
	case OP_SHRA:
		if (b > 63)
			return op == OP_SHRA && (int64_t)a < 0 ? ~(uint64_t)0 : 0;
		return op == OP_SHL ? a << b : op == OP_SHR ? a >> b : (uint64_t)((int64_t)a >> b);
	case OP_XOR:
		return a ^ b;
	case OP_EQ:
		return a == b;
	case OP_GE:
		return (int64_t)a >= (int64_t)b;
	case OP_GT:
		return (int64_t)a > (int64_t)b;
	case OP_LE:
		return (int64_t)a <= (int64_t)b;
	case OP_LT:
		return (int64_t)a < (int64_t)b;
	case OP_NE:
		return a != b;
	default: /* divisions: compilers do not use them in frame rules */
		s->is_bad = true;
		return 0;
	}
}

static void arrange(struct values *s, uint8_t op, struct cursor *c)
{
	uint64_t a = pop(s), b;
	switch (op) {
	case OP_DUP:
		push(s, a);
		push(s, a);
		break;
	case OP_SWAP:
		b = pop(s);
		push(s, a);
		push(s, b);
		break;
	case OP_OVER:
		b = pop(s);
		push(s, b);
		push(s, a);
		push(s, b);
		break;
	case OP_PLUS_UCONST:
		push(s, a + cursor_uleb(c));
		break;
	case OP_NEG:
		push(s, (uint64_t)0 - a);
		break;
	case OP_NOT:
		push(s, ~a);
		break;
	case OP_DROP:
		break;
	default:
		s->is_bad = true;
	}
}

static void operate(struct values *s, struct cursor *c, const struct cfi_memory *m, const uint64_t *regs)
{
	uint8_t op = cursor_u8(c);
	uint64_t a, b;
	if (op >= OP_CONST1U && op <= OP_CONSTS) {
		push(s, constant(c, op));
	} else if (op >= OP_LIT0 && op < OP_REG0) {
		push(s, op - OP_LIT0);
	} else if (op >= OP_BREG0 && op < OP_BREG0 + CFI_REGS) {
		push(s, regs[op - OP_BREG0] + (uint64_t)cursor_sleb(c));
	} else if (op == OP_DEREF) {
		s->is_bad |= !cfi_load(m, pop(s), &a);
		push(s, s->is_bad ? 0 : a);
	} else if (op == OP_DUP || op == OP_DROP || op == OP_OVER || op == OP_SWAP || op == OP_PLUS_UCONST ||
			op == OP_NEG || op == OP_NOT) {
		arrange(s, op, c);
	} else if (op != OP_NOP) {
		b = pop(s);
		a = pop(s);
		push(s, binary(s, op, a, b));
	}
}

static bool evaluate(const struct cfi *cfi, int32_t at, const struct cfi_memory *m, const uint64_t *regs, bool has_cfa,
		uint64_t cfa, uint64_t *value)
{
	struct values s = { .count = 0 };
	if (at < 0 || (size_t)at >= cfi->frame_bytes)
		return false;
	struct cursor c = { .at = cfi->frame + at, .end = cfi->frame + cfi->frame_bytes };
	uint64_t bytes = cursor_uleb(&c);
	if (bytes > cursor_left(&c))
		return false;
	c.end = c.at + bytes;
	if (has_cfa)
		push(&s, cfa);
	for (unsigned i = 0; c.at < c.end && i < OPERATIONS_MAX && !s.is_bad && !c.is_bad; i++)
		operate(&s, &c, m, regs);
	*value = pop(&s);
	return !s.is_bad && !c.is_bad && c.at == c.end;
}

static bool apply(const struct cfi *c, const struct cfi_rule *r, const struct cfi_memory *m, const uint64_t *old,
		uint64_t cfa, uint64_t *value)
{
	uint64_t at;
	switch (r->kind) {
	case CFI_OFFSET:
		return cfi_load(m, cfa + (uint64_t)(int64_t)r->offset, value);
	case CFI_VALUE:
		*value = cfa + (uint64_t)(int64_t)r->offset;
		return true;
	case CFI_REGISTER:
		*value = old[r->reg];
		return true;
	case CFI_EXPR:
		return evaluate(c, r->offset, m, old, true, cfa, &at) && cfi_load(m, at, value);
	case CFI_VAL_EXPR:
		return evaluate(c, r->offset, m, old, true, cfa, value);
	default:
		return true; /* same or undefined: the callee's value is the best guess */
	}
}

bool cfi_step(const struct cfi *c, const struct cfi_row *row, const struct cfi_memory *m, uint64_t regs[CFI_REGS])
{
	uint64_t old[CFI_REGS], cfa;
	memcpy(old, regs, sizeof(old));
	if (row->regs[CFI_RA].kind == CFI_UNDEFINED || row->regs[CFI_RA].kind == CFI_SAME)
		return false;
	if (row->cfa.kind == CFI_REGISTER)
		cfa = old[row->cfa.reg] + (uint64_t)(int64_t)row->cfa.offset;
	else if (!evaluate(c, row->cfa.offset, m, old, false, 0, &cfa))
		return false;
	regs[CFI_RSP] = cfa;
	for (unsigned i = 0; i < CFI_REGS; i++)
		if (row->regs[i].kind != CFI_SAME && !apply(c, &row->regs[i], m, old, cfa, &regs[i]) && i == CFI_RA)
			return false;
	return true;
}
