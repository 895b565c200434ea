#include "probe/perf/unwind.h"

#include "probe/perf/unwind-table.h"

struct frame unwind_frame(const struct space *s, uint64_t address, bool is_call)
{
	uint64_t at = address - is_call;
	const struct mapping *m = space_find(s, at);
	if (!m)
		return (struct frame){ .address = at };
	return (struct frame){ .module = m->module,
		.address = m->module->kind == MODULE_MEMORY ? at : at - m->start + m->offset };
}

/* [rbp] is the caller's rbp, [rbp + 8] the return address, if the code follows this convention. */
static bool step_by_pointer(const struct cfi_memory *stack, uint64_t regs[CFI_REGS])
{
	uint64_t rbp, ra, from = regs[CFI_RBP];
	if (from < regs[CFI_RSP] || !cfi_load(stack, from, &rbp) || !cfi_load(stack, from + 8, &ra) || rbp <= from)
		return false;
	regs[CFI_RSP] = from + 16;
	regs[CFI_RBP] = rbp;
	regs[CFI_RA] = ra;
	return true;
}

enum step { STEP_ON, STEP_TOP, STEP_LOST };

static enum step step(const struct frame *f, const struct cfi_memory *stack, uint64_t regs[CFI_REGS], bool *is_exact)
{
	const struct cfi_row *row = NULL;
	const struct cfi *cfi = NULL;
	uint64_t sp = regs[CFI_RSP];
	*is_exact = false;
	if (f->module)
		row = unwind_table_row((struct module *)(uintptr_t)f->module, f->address, &cfi);
	if (row) {
		if (row->regs[CFI_RA].kind == CFI_UNDEFINED)
			return STEP_TOP;
		*is_exact = row->is_signal;
		if (!cfi_step(cfi, row, stack, regs))
			return STEP_LOST;
	} else if (!step_by_pointer(stack, regs)) {
		return STEP_LOST;
	}
	if (!regs[CFI_RA])
		return STEP_TOP;
	/* Every frame is above its callee's, except after a signal on an alternate stack. */
	return regs[CFI_RSP] > sp || *is_exact ? STEP_ON : STEP_LOST;
}

void unwind_user(const struct space *s, uint64_t regs[CFI_REGS], const struct cfi_memory *stack,
		struct unwind_result *out)
{
	bool is_exact = true;
	enum step how = STEP_ON;
	uint64_t sp = regs[CFI_RSP];
	out->count = 0;
	while (how == STEP_ON && out->count < UNWIND_FRAMES_MAX) {
		struct frame f = unwind_frame(s, regs[CFI_RA], !is_exact);
		if (out->count && !f.module)
			how = STEP_LOST; /* an unmapped return address is invalid */
		else
			out->frames[out->count++] = f;
		if (how == STEP_ON)
			how = step(&f, stack, regs, &is_exact);
	}
	out->is_cut = how != STEP_TOP;
	out->needed_bytes = regs[CFI_RSP] - sp;
}
