/* elffile: our own functions are found; files that are cut or scribbled on are read without harm. */
#include "../support.h"

#include "base/buf.h"
#include "base/elf-symbols.h"
#include "base/fs.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_BYTES 1024u

static size_t count_functions(const void *file, size_t bytes, const char *wanted, bool *has_wanted)
{
	struct elf_symbols symbols;
	struct elf_function f;
	size_t count = 0;

	if (!elf_symbols(file, bytes, &symbols))
		return 0;
	for (size_t i = 0; i < symbols.count; i++)
		if (elf_function(&symbols, i, &f)) {
			count += strlen(f.name) > 0 && f.end >= f.at;
			*has_wanted |= wanted && !strcmp(f.name, wanted);
		}
	assert_false(elf_function(&symbols, symbols.count, &f));
	return count;
}

static void test_ourselves(void **state)
{
	struct buf file = BUF_INIT;
	bool has_main = false;

	(void)state;
	assert_int_equal(fs_read_file(AT_FDCWD, "/proc/self/exe", (size_t)64 << 20, &file, NULL), 0);
	assert_true(count_functions(file.data, file.len, "main", &has_main) > 5);
	assert_true(has_main);
	buf_release(&file);
}

/* A file of our own: a head, a table of two symbols, their names, four sections. */
struct small {
	Elf64_Ehdr head;
	Elf64_Sym symbols[2];
	char names[16];
	Elf64_Shdr sections[4];
};

static size_t make_small(uint8_t *at)
{
	struct small s = {
		.head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64 },
				.e_shentsize = sizeof(Elf64_Shdr),
				.e_shnum = 4,
				.e_shoff = offsetof(struct small, sections) },
		.symbols = { { .st_name = 1, .st_info = STT_FUNC, .st_value = 64, .st_size = 8 },
				{ .st_name = 5, .st_info = STT_OBJECT, .st_value = 96 } },
		.names = "\0one\0two",
		.sections = { { .sh_type = SHT_NULL }, { .sh_type = SHT_DYNSYM, .sh_link = 9 },
				{ .sh_type = SHT_SYMTAB,
						.sh_offset = offsetof(struct small, symbols),
						.sh_size = 2 * sizeof(Elf64_Sym),
						.sh_link = 3 },
				{ .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct small, names), .sh_size = 16 } }
	};

	memcpy(at, &s, sizeof(s));
	return sizeof(s);
}

static void test_small(void **state)
{
	uint8_t file[SMALL_BYTES + 1];
	bool has_one = false, has_two = false;
	size_t bytes = make_small(file);

	(void)state;
	assert_int_equal(count_functions(file, bytes, "one", &has_one), 1);
	count_functions(file, bytes, "two", &has_two);
	assert_true(has_one && !has_two);
	memmove(file + 1, file, bytes); /* not aligned */
	assert_int_equal(count_functions(file + 1, bytes, NULL, &has_two), 1);
}

/* Memory of exactly the file's length, so that a sanitizer sees what lies beyond it. */
static void test_cut_and_scribbled(void **state)
{
	uint8_t whole[SMALL_BYTES];
	size_t bytes = make_small(whole);
	bool unused = false;

	(void)state;
	for (size_t n = 0; n <= bytes; n++) {
		uint8_t *cut = malloc(n ? n : 1);

		memcpy(cut, whole, n);
		count_functions(cut, n, NULL, &unused);
		free(cut);
	}
	for (size_t at = 0; at < bytes; at++)
		for (unsigned value = 0; value < 256; value += 51) {
			uint8_t *changed = malloc(bytes);

			memcpy(changed, whole, bytes);
			changed[at] = (uint8_t)value;
			count_functions(changed, bytes, NULL, &unused);
			free(changed);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ourselves),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_cut_and_scribbled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
