/* Mappings: what was mapped last is there, whatever lay there before. */
#include "sinks.h"

#include "probe/perf/addrspace.h"

#include <unistd.h>

#define PAGES 64

/* The same with one entry a page. */
struct naive {
	struct module *module;
	uint64_t offset;
};

static void same_as_page_by_page(void **state)
{
	struct module modules[8] = { { 0 } };
	random_init();
	for (int round = 0; round < 200; round++) {
		struct naive naive[PAGES] = { { 0 } };
		struct space *s = NULL, *shared = NULL;
		for (int i = 0; i < 40; i++) {
			uint64_t start = random_below(PAGES), end = start + 1 + random_below(PAGES - start);
			struct mapping m = { start << 12, end << 12, random_below(100) << 12,
				&modules[random_below(8)] };
			assert_int_equal(space_map(&s, &m), 0);
			for (uint64_t p = start; p < end; p++)
				naive[p] = (struct naive){ m.module, m.offset + ((p - start) << 12) };
			if (i == 20)
				shared = space_share(s); /* keeps what was there then */
		}
		for (uint64_t p = 0; p < PAGES; p++) {
			const struct mapping *m = space_find(s, (p << 12) + 5);
			assert_ptr_equal(m ? m->module : NULL, naive[p].module);
			if (m)
				assert_int_equal((p << 12) - m->start + m->offset, naive[p].offset);
		}
		space_drop(s);
		space_drop(shared);
	}
}

static void empty_mappings_are_refused(void **state)
{
	struct space *s = NULL;
	struct mapping m = { 4096, 4096, 0, NULL };
	assert_true(space_map(&s, &m) < 0);
	assert_null(space_find(s, 4096));
}

static void a_process_is_read_from_proc(void **state)
{
	struct made_sink sink;
	struct modules modules;
	sink_make(&sink);
	modules_init(&modules, &sink.sink);
	struct space *s = space_read(&modules, getpid());
	assert_non_null(s);
	const struct mapping *m = space_find(s, (uint64_t)(uintptr_t)&space_read);
	assert_non_null(m);
	assert_int_equal(m->module->kind, MODULE_ELF);
	assert_null(space_read(&modules, -1));
	/* Names are kinds. */
	assert_int_equal(modules_get(&modules, 1, "[vdso]", NULL, 0)->kind, MODULE_VDSO);
	assert_int_equal(modules_get(&modules, 1, "//anon", NULL, 0)->kind, MODULE_MEMORY);
	assert_int_equal(modules_get(&modules, 1, "/memfd:code (deleted)", NULL, 0)->kind, MODULE_MEMORY);
	assert_ptr_not_equal(modules_get(&modules, 1, "//anon", NULL, 0), modules_get(&modules, 2, "//anon", NULL, 0));
	assert_ptr_equal(modules_get(&modules, 1, "/a", NULL, 0), modules_get(&modules, 2, "/a", NULL, 0));
	space_drop(s);
	modules_release(&modules);
	store_sink_close(&sink.sink, NULL);
	sink_remove(&sink);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_as_page_by_page),
		cmocka_unit_test(empty_mappings_are_refused),
		cmocka_unit_test(a_process_is_read_from_proc),
	};
	return RUN_TESTS(tests);
}
