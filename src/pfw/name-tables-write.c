/* Writes the name tables at the end of an import. */
#include "pfw/name-tables.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *pfw_generation(unsigned forms)
{
	if (forms & PFW_FORM_INTEGER_PHASE)
		return "E";
	if (forms & PFW_FORM_HEX_HASH)
		return "D";
	if (forms & PFW_FORM_INTEGER_HASH)
		return "C";
	if (forms & PFW_FORM_SHORT_HASH)
		return "B";
	return forms & PFW_FORM_QUOTED ? "A" : "C";
}

static const struct store_text *text_of(const struct pfw_dims *d, int64_t id, struct store_text *text)
{
	if (id < 1)
		return NULL;
	text->data = map_key(&d->sink->strings.ids, (size_t)id - 1, &text->bytes);
	return text;
}

static void add_meta(struct pfw_dims *d, const struct pfw_process *p, const char *key, const struct store_text *value)
{
	struct store_meta row = {
		.process = p->number,
		.pid = p->key.pid,
		.key = store_strings_of(&d->sink->strings, key),
		.value = value,
	};

	if (value)
		store_sink_add(d->sink, STORE_TABLE_META, &row);
}

static void add_meta_str(struct pfw_dims *d, const struct pfw_process *p, const char *key, const char *value)
{
	struct store_text text = { .data = value, .bytes = strlen(value) };

	add_meta(d, p, key, &text);
}

/* The tracer joins the command as "a;b;c"; it becomes NUL-terminated arguments. */
static const struct store_text *make_argv(const struct pfw_dims *d, const struct pfw_process *p, struct buf *out,
		struct store_text *argv)
{
	struct store_text text = { .data = NULL };

	if (!p->has_cmd && text_of(d, p->argv, argv))
		return argv;
	if (!p->has_cmd || !text_of(d, pfw_dims_text(d, 'S', p, p->cmd_hash), &text))
		return NULL;
	buf_add(out, text.data, text.bytes);
	if (out->len && out->data[out->len - 1] != ';')
		buf_addc(out, ';');
	for (size_t i = 0; i < out->len; i++)
		if (out->data[i] == ';')
			out->data[i] = '\0';
	*argv = (struct store_text){ .data = out->data, .bytes = out->len };
	return argv;
}

/* The first process with that pid on the same host. */
static int64_t parent_of(const struct pfw_dims *d, const struct pfw_process *p)
{
	struct pfw_process_key key = p->key;

	key.pid = p->ppid;
	uint64_t *number = p->ppid == STORE_NULL ? NULL : map_get(&d->process_numbers, &key, sizeof(key));
	return number ? (int64_t)*number : STORE_NULL;
}

static void write_process(struct pfw_dims *d, const struct pfw_process *p)
{
	CLEANUP(buf_release) struct buf bytes = BUF_INIT;
	struct store_text argv;
	struct store_process row = {
		.process = p->number,
		.pid = p->key.pid,
		.ppid = p->ppid,
		.parent = parent_of(d, p),
		.start_ns = p->first_ns,
		.end_ns = p->last_ns,
		.exe = p->has_exec ? pfw_dims_text(d, 'S', p, p->exec_hash) : p->exe,
		.cwd = p->has_cwd ? pfw_dims_text(d, 'F', p, p->cwd_hash) : STORE_NULL,
		.argv = make_argv(d, p, &bytes, &argv),
		.exit_code = p->exit_code,
		.exit_signal = p->exit_signal,
		.events = (int64_t)p->events,
		.dropped = STORE_NULL,
		.filtered = STORE_NULL,
		.state = store_strings_of(&d->sink->strings, "ended"),
	};

	if (p->has_cwd && row.cwd == STORE_NULL)
		row.cwd = pfw_dims_text(d, 'S', p, p->cwd_hash);
	store_sink_add(d->sink, STORE_TABLE_PROCESS, &row);
	if (!d->is_foreign) {
		/* The host and the trace format of a process: needed to export it in the same form. */
		struct store_text name;
		int64_t host = STORE_NULL;
		char text[32];
		if (p->key.host_kind == PFW_HOST_NAME)
			host = (int64_t)p->key.host;
		if (p->key.host_kind == PFW_HOST_HASH) {
			host = pfw_dims_text(d, 'H', p, p->key.host);
			if (p->forms & PFW_FORM_HEX_HASH)
				snprintf(text, sizeof(text), "0x%016" PRIx64, p->key.host);
			else
				snprintf(text, sizeof(text), "%" PRIu64, p->key.host);
			add_meta_str(d, p, "dftracer.hhash", text);
		}
		add_meta(d, p, "host", text_of(d, host, &name));
		add_meta_str(d, p, "dftracer.generation", pfw_generation(p->forms));
	}
}

static void write_call(struct pfw_dims *d, const struct pfw_call *call)
{
	CLEANUP(buf_release) struct buf names = BUF_INIT;
	struct store_call row = { .call = call->name, .category = call->category };

	for (unsigned i = 0; i < call->arg_count; i++)
		buf_addf(&names, "%s%s", i ? "," : "", call->arg_names[i]);
	struct store_text text = (struct store_text){ .data = names.data, .bytes = names.len };
	row.arg_names = &text;
	store_sink_add(d->sink, STORE_TABLE_CALL, &row);
}

void pfw_dims_write(struct pfw_dims *d)
{
	for (size_t i = 0; i < d->process_count; i++)
		write_process(d, d->processes[i]);
	for (size_t i = 0; i < d->thread_count; i++) {
		const struct pfw_thread *t = &d->threads[i];
		struct store_thread row = {
			.process = t->process->number,
			.pid = t->process->key.pid,
			.tid = t->tid,
			.start_ns = t->first_ns,
			.end_ns = t->last_ns,
			.name = t->name,
			.events = (int64_t)t->events,
		};

		store_sink_add(d->sink, STORE_TABLE_THREAD, &row);
	}
	for (size_t i = 0; i < d->file_count; i++) {
		struct store_file row = {
			.file = (int64_t)i + 1,
			.base = STORE_NULL,
			.name = d->files[i].name,
			.hash = d->files[i].hash,
		};

		store_sink_add(d->sink, STORE_TABLE_FILE, &row);
	}
	for (size_t i = 0; i < d->call_count; i++)
		write_call(d, d->calls[i]);
}
