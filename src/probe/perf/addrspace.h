/*
 * space: which code a process has mapped where, and the modules that it comes from.
 *
 * A module is a file (known by path and build id), the vdso, the kernel, code in
 * memory that one process made, or a source file of Python. Modules belong to the recording and are rows of
 * the table module; mappings belong to a space. A forked process shares its
 * parent's space until one of them maps something.
 */
#ifndef SONDE_PROBE_PERF_ADDRSPACE_H
#define SONDE_PROBE_PERF_ADDRSPACE_H

#include "base/map.h"
#include "store/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_BYTES_MAX 20

enum module_kind { MODULE_ELF, MODULE_VDSO, MODULE_KERNEL, MODULE_MEMORY, MODULE_PYTHON };

struct module {
	int64_t number; /* in the table module */
	enum module_kind kind;
	int32_t pid; /* who mapped it first: a way to its file, and the owner of MEMORY */
	char *path;
	int fd; /* its file, when its process has another root than we: nobody finds it by its path later; else -1 */
	uint8_t build_id[BUILD_ID_BYTES_MAX];
	unsigned build_id_bytes;
	struct unwind_table *table; /* unwind.h; NULL: not read yet */
	struct python_image
			*python; /* python/image.h: it holds an interpreter; NULL: it does not, or nobody has looked */
	bool was_asked_for_python;
};

struct mapping {
	uint64_t start, end, offset;
	struct module *module;
};

struct modules {
	struct store_sink *sink;
	struct module **all;
	size_t count;
	/* private */
	size_t cap;
	struct map by_name;
	struct module *kernel;
	unsigned foreign;
};

void modules_init(struct modules *m, struct store_sink *sink);
void modules_release(struct modules *m);
/* The module of a mapping's name as perf and /proc/PID/maps give it. NULL: no memory. */
struct module *modules_get(struct modules *m, int32_t pid, const char *name, const uint8_t *build_id,
		unsigned build_id_bytes);
struct module *modules_kernel(struct modules *m);
struct module *modules_python(struct modules *m, const char *source); /* of a source file; NULL: no memory */

struct space;
struct space *space_new(void);
struct space *space_share(struct space *s); /* NULL: NULL */
void space_drop(struct space *s);           /* NULL is fine */
/* *s gets the mapping in the place of what was there; it becomes a space of its own if it was shared. */
int space_map(struct space **s, const struct mapping *m);
const struct mapping *space_find(const struct space *s, uint64_t address); /* NULL when nothing is there */
size_t space_count(const struct space *s);
const struct mapping *space_at(const struct space *s, size_t i); /* in the order of addresses */
uint64_t space_version(const struct space *s); /* another number whenever it is another or has changed; NULL: 0 */
/* What /proc says that `pid` has mapped now, executable mappings only; NULL when it cannot be read. */
struct space *space_read(struct modules *m, int32_t pid);

#endif
