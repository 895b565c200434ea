#include "probe/python/merge.h"

#include "probe/python/python-image.h"

static bool is_eval(const struct frame *f)
{
	const struct python_image *image = f->module ? f->module->python : NULL;
	return image && f->address >= image->eval_start && f->address < image->eval_end;
}

static size_t count_evals(const struct merge_native *n)
{
	size_t evals = 0;
	for (size_t i = 0; i < n->count; i++)
		evals += is_eval(&n->frames[i]);
	return evals;
}

static size_t count_stretches(const struct python_stack *p)
{
	size_t stretches = 0;
	for (size_t i = 0; p && i < p->count; i++)
		stretches += p->frames[i].is_entry;
	return stretches;
}

/* Adds one segment, outermost frame first; *left: Python frames not added yet. */
static int64_t add_stretch(struct stacks *s, const struct python_stack *p, size_t *left, int64_t stack)
{
	while (*left) {
		const struct python_frame *f = &p->frames[--*left];
		stack = stacks_add(s, stack, f->module, f->address);
		if (*left && p->frames[*left - 1].is_entry)
			break;
	}
	return stack;
}

enum merge_result merge_add(struct stacks *s, const struct merge_native *native, const struct python_stack *python,
		int64_t *stack)
{
	size_t evals = count_evals(native), stretches = count_stretches(python);
	size_t left = python ? python->count : 0, missing = 0;
	bool is_joined = stretches && (evals || native->is_cut);
	if (is_joined && native->is_cut)
		for (; stretches > evals; stretches--)
			*stack = add_stretch(s, python, &left, *stack);
	if (native->is_cut && evals > stretches)
		missing = evals - stretches; /* the outermost calls have none */
	for (size_t i = native->count; i-- > 0;) {
		const struct frame *f = &native->frames[i];
		if (is_joined && left && is_eval(f) && !(missing && missing--))
			*stack = add_stretch(s, python, &left, *stack);
		else
			*stack = stacks_add(s, *stack, f->module, f->address);
	}
	if (!is_joined)
		return evals ? MERGE_MISSING : MERGE_NATIVE;
	return evals == stretches ? MERGE_JOINED : MERGE_PARTLY;
}
