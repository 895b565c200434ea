#include "analyze/layer-rules.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/shell-words.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>

static const char *const class_words[RULES_CLASSES] = {
	[RULES_NONE] = "none",
	[RULES_IO] = "io",
	[RULES_APP_IO] = "app_io",
	[RULES_COMPUTE] = "compute",
};

const char *rules_class_word(enum rules_class class)
{
	return class_words[class];
}

/* Parsing: one row for each keyword that can start a line. */

struct parsing {
	struct rules *rules;
	struct rules_layer *layer; /* NULL before the first */
	char **words;              /* of the line; words[0] is the keyword */
	unsigned line;
	struct sonde_err *err;
};

static int bad(const struct parsing *p, const char *what)
{
	return err_set(p->err, EINVAL, "%s, line %u: %s", p->rules->name, p->line, what);
}

static int set_layer(struct parsing *p)
{
	if (!p->words[1] || p->words[2])
		return bad(p, "a layer needs one name; quote it if it contains spaces");
	if (p->rules->count == RULES_LAYERS_MAX)
		return bad(p, "too many layers (maximum 16)");
	p->layer = &p->rules->layers[p->rules->count++];
	*p->layer = (struct rules_layer){ .name = p->words[1], .tables = RULES_OF_CALLS | RULES_OF_SPANS };
	return 0;
}

static int set_class(struct parsing *p)
{
	for (unsigned c = 0; p->words[1] && c < RULES_CLASSES; c++)
		if (strcmp(p->words[1], class_words[c]) == 0) {
			p->layer->class = (enum rules_class)c;
			return 0;
		}
	return bad(p, "'class' must be io, app_io, compute or none");
}

static int set_table(struct parsing *p)
{
	if (p->words[1] && strcmp(p->words[1], "io") == 0)
		p->layer->tables = RULES_OF_CALLS;
	else if (p->words[1] && strcmp(p->words[1], "span") == 0)
		p->layer->tables = RULES_OF_SPANS;
	else
		return bad(p, "'table' must be io or span");
	return 0;
}

static int set_again(struct parsing *p)
{
	p->layer->is_again = true;
	return 0;
}

static int set_no_path(struct parsing *p)
{
	p->layer->has_no_path = true;
	return 0;
}

#define WORDS(field) offsetof(struct rules_layer, field) + 1 /* 0: the row has a function */

static const struct {
	const char *word;
	int (*set)(struct parsing *p);
	size_t words; /* target of its words */
} lines[] = {
	{ "layer", set_layer, 0 },
	{ "class", set_class, 0 },
	{ "table", set_table, 0 },
	{ "again", set_again, 0 },
	{ "no-path", set_no_path, 0 },
	{ "name", NULL, WORDS(names.words) },
	{ "not-name", NULL, WORDS(names.not_words) },
	{ "category", NULL, WORDS(categories.words) },
	{ "not-category", NULL, WORDS(categories.not_words) },
	{ "path", NULL, WORDS(paths.words) },
	{ "not-path", NULL, WORDS(paths.not_words) },
};

static int parse_words(struct parsing *p)
{
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		if (strcmp(p->words[0], lines[i].word) != 0)
			continue;
		if (!p->layer && i > 0)
			return bad(p, "expected 'layer NAME' first");
		if (lines[i].set)
			return lines[i].set(p);
		if (!p->layer || !p->words[1])
			return bad(p, "missing patterns");
		*(char ***)((char *)p->layer + lines[i].words - 1) = p->words + 1;
		return 0;
	}
	return bad(p,
			"unknown keyword (supported: layer, class, table, again, no-path, name, category, path, "
			"not-name, not-category, not-path)");
}

/* Quotes the characters that a shell would act on outside quotes, since globs must not be expanded. */
static void quote_globs(struct buf *out, const char *line)
{
	char quote = '\0';

	for (; *line; line++) {
		if (*line == quote)
			quote = '\0';
		else if (!quote && (*line == '\'' || *line == '"'))
			quote = *line;
		else if (!quote && strchr("*?[]{}$`~;&|<>()!#", *line))
			buf_addc(out, '\\');
		buf_addc(out, *line);
	}
}

static int parse_line(struct parsing *p, const char *line, size_t n)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, quoted = BUF_INIT;
	int rc;

	buf_add(&text, line, n);
	text.data[strcspn(text.data, "\r")] = '\0';
	if (text.data[strspn(text.data, " \t")] == '#')
		return 0;
	quote_globs(&quoted, text.data);
	if (buf_error(&quoted))
		return -ENOMEM;
	rc = words_split(quoted.data, &p->rules->arena, &p->words, p->err);
	if (rc < 0)
		err_prefix(p->err, "%s, line %u", p->rules->name, p->line);
	return rc < 0 || !p->words[0] ? rc : parse_words(p);
}

/* Sets. */

static int number_sets(struct rules *r, struct sonde_err *err)
{
	r->set_of = arena_alloc(&r->arena, (size_t)1 << r->count);
	if (!r->set_of)
		return -ENOMEM;
	for (uint32_t fits = 0; fits < (uint32_t)1 << r->count; fits++) {
		uint32_t set = 0;
		bool is_taken = false;
		size_t number = 0;

		for (size_t i = 0; i < r->count; i++) {
			if (!(fits >> i & 1) || (is_taken && !r->layers[i].is_again))
				continue;
			set |= (uint32_t)1 << i;
			is_taken |= !r->layers[i].is_again;
		}
		while (number < r->set_count && r->sets[number] != set)
			number++;
		if (number == RULES_SETS_MAX)
			return err_set(err, EINVAL, "%s: too many 'again' layers", r->name);
		if (number == r->set_count)
			r->sets[r->set_count++] = set;
		r->set_of[fits] = (uint8_t)number;
	}
	return 0;
}

int rules_parse(struct rules *r, const char *name, const char *text, struct sonde_err *err)
{
	struct parsing p = { .rules = r, .err = err };
	const char *line;
	int rc = 0;

	*r = (struct rules){ .name = NULL };
	r->name = arena_strdup(&r->arena, name);
	r->text = arena_strdup(&r->arena, text);
	if (!r->name || !r->text)
		rc = -ENOMEM;
	for (line = text; rc == 0 && *line; line += *line == '\n') {
		size_t n = strcspn(line, "\n");

		p.line++;
		rc = parse_line(&p, line, n);
		line += n;
	}
	if (rc == 0 && !r->count)
		rc = err_set(err, EINVAL, "%s has no layers", name);
	if (rc == 0)
		rc = number_sets(r, err);
	if (rc == -ENOMEM)
		err_sys(err, ENOMEM, "cannot read the rules '%s'", name);
	if (rc < 0)
		rules_release(r);
	return rc;
}

int rules_open(struct rules *r, const char *name, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc;

	for (size_t i = 0; rules_presets[i]; i++)
		if (strcmp(name, rules_presets[i]) == 0)
			return rules_parse(r, name, rules_preset_texts[i], err);
	rc = fs_read_file(AT_FDCWD, name, RULES_BYTES_MAX, &text, err);
	if (rc == -ENOENT)
		err_hint(err, "rules are posix, dlio, or a file; its syntax is in sonde-summary(1)");
	return rc < 0 ? rc : rules_parse(r, name, text.data, err);
}

void rules_release(struct rules *r)
{
	arena_release(&r->arena);
	*r = (struct rules){ .count = 0 };
}

/* Matching. */

static bool is_any(char *const *words, const char *text)
{
	for (; text && *words; words++)
		if (fnmatch(*words, text, 0) == 0)
			return true;
	return false;
}

static bool holds(const struct rules_condition *c, const char *text, const char *other)
{
	if (c->words && !is_any(c->words, text) && !is_any(c->words, other))
		return false;
	return !c->not_words || (!is_any(c->not_words, text) && !is_any(c->not_words, other));
}

uint32_t rules_names(const struct rules *r, enum rules_table table, const char *name)
{
	uint32_t fits = 0;

	for (size_t i = 0; i < r->count; i++)
		if (r->layers[i].tables & table && holds(&r->layers[i].names, name, NULL))
			fits |= (uint32_t)1 << i;
	return fits;
}

uint32_t rules_categories(const struct rules *r, const char *category, const char *other)
{
	uint32_t fits = 0;

	for (size_t i = 0; i < r->count; i++)
		if (holds(&r->layers[i].categories, category, other))
			fits |= (uint32_t)1 << i;
	return fits;
}

uint32_t rules_paths(const struct rules *r, const char *path)
{
	uint32_t fits = 0;

	for (size_t i = 0; i < r->count; i++)
		if (holds(&r->layers[i].paths, path, NULL) && !(path && r->layers[i].has_no_path))
			fits |= (uint32_t)1 << i;
	return fits;
}

/*
 * Layer rules that come with sonde, in the syntax of user files: posix, for any program, and dlio, for DLIO benchmark
 * jobs, as in DFAnalyzer.
 */

const char *const rules_presets[] = { "posix", "dlio", NULL };

#define POSIX \
	"layer Compute\n" \
	"	class compute\n" \
	"	table span\n" \
	"	category *compute* *COMPUTE*\n" \
	"layer 'Application I/O'\n" \
	"	class app_io\n" \
	"	table span\n" \
	"	category *reader* *data_loader* *dataloader* *checkpoint* *io* *IO*\n" \
	"layer Pipes\n" \
	"	table io\n" \
	"	category data stdio\n" \
	"	path pipe:*\n" \
	"layer 'POSIX data'\n" \
	"	class io\n" \
	"	table io\n" \
	"	category data map aio\n" \
	"layer 'POSIX open and close'\n" \
	"	class io\n" \
	"	table io\n" \
	"	category open\n" \
	"layer 'POSIX metadata'\n" \
	"	class io\n" \
	"	table io\n" \
	"	category meta dir sync\n" \
	"layer STDIO\n" \
	"	class io\n" \
	"	table io\n" \
	"	category stdio\n" \
	"layer Network\n" \
	"	table io\n" \
	"	category net\n" \
	"layer Processes\n" \
	"	table io\n" \
	"	category process\n" \
	"layer 'Other calls'\n" \
	"	table io\n"

#define DLIO \
	"layer App\n" \
	"	table span\n" \
	"	name DLIOBenchmark.run\n" \
	"layer Training\n" \
	"	table span\n" \
	"	name DLIOBenchmark._train\n" \
	"layer Compute\n" \
	"	class compute\n" \
	"	table span\n" \
	"	name *Framework.compute\n" \
	"layer 'Fetch Data'\n" \
	"	class app_io\n" \
	"	table span\n" \
	"	name loop.iter\n" \
	"layer 'Data Loader'\n" \
	"	class app_io\n" \
	"	table span\n" \
	"	category data_loader\n" \
	"	not-name loop.yield TorchDataLoader.__init__ TorchDataLoader.next TorchDataLoader.read " \
	"TorchDataLoader.finalize TorchDataset.__init__\n" \
	"layer 'Data Loader Fork'\n" \
	"	table io\n" \
	"	name fork vfork\n" \
	"layer Reader\n" \
	"	class app_io\n" \
	"	table span\n" \
	"	category reader\n" \
	"layer 'Reader POSIX (Lustre)'\n" \
	"	class io\n" \
	"	table io\n" \
	"	path */lustre*/data*\n" \
	"layer Checkpoint\n" \
	"	class app_io\n" \
	"	table span\n" \
	"	name *save_checkpoint\n" \
	"layer 'Checkpoint POSIX (Lustre)'\n" \
	"	class io\n" \
	"	table io\n" \
	"	path */lustre*/checkpoint*\n" \
	"layer 'Reader POSIX'\n" \
	"	class io\n" \
	"	table io\n" \
	"	path */data*\n" \
	"	not-path */lustre*\n" \
	"layer 'Checkpoint POSIX'\n" \
	"	class io\n" \
	"	table io\n" \
	"	path */checkpoint*\n" \
	"	not-path */lustre*\n" \
	"layer 'Other POSIX'\n" \
	"	table io\n" \
	"	no-path\n" \
	"	again\n"

const char *const rules_preset_texts[] = { POSIX, DLIO };
