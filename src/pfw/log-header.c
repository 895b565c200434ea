/* The log's own records: start, end, metadata; and the head of every line. See pfwlog.h. */
#include "pfw/log-private.h"

#define ID_BLOCK 64

static const char category_own[] = "dftracer";

/* Ids are reserved in blocks: the program's threads share the counter. */
uint32_t log_next_id(struct pfwlog *log)
{
	if (log->id_next == log->id_end) {
		log->id_next = (uint32_t)__atomic_fetch_add(&log->control->reserved[PFWLOG_NEXT_ID], ID_BLOCK,
				__ATOMIC_RELAXED);
		log->id_end = log->id_next + ID_BLOCK;
	}
	return log->id_next++;
}

static uint64_t hash_of(struct pfwlog *log, const char *text)
{
	const struct name *name = names_put(&log->names, text, strlen(text));
	return name ? name->hash : 0;
}

/* Builds the constant parts of each kind of line. */
void log_head_prepare(struct pfwlog *log)
{
	char *at = PUT(log->host, ",\"args\":{\"hhash\":");
	at = put_hash(at, hash_of(log, log->state->setup.host), log->names.is_hex);
	log->host_bytes = (size_t)(at - log->host);
	log->who_tid = log->who_pid = -1;
}

char *line_begin(struct pfwlog *log, size_t more)
{
	if (!log->now.is_begun)
		log_head_begin(log);
	return text_need(&log->text, LINE_ROOM + more) ? log->text.data + log->text.len : NULL;
}

void line_end(struct pfwlog *log, char *at)
{
	*at++ = '\n';
	log->text.len = (size_t)(at - log->text.data);
}

static int32_t pid_shown(const struct pfwlog *log, int32_t pid)
{
	return pid == log->state->true_pid ? log->state->setup.pid : pid;
}

char *put_who(struct pfwlog *log, char *at, int32_t pid, int32_t tid)
{
	at = PUT(at, ",\"pid\":");
	at = put_int(at, pid_shown(log, pid));
	at = PUT(at, ",\"tid\":");
	return put_int(at, log->state->setup.has_tids ? tid : pid_shown(log, pid));
}

char *put_who_when(struct pfwlog *log, char *at, int32_t pid, int32_t tid)
{
	if (log->who_tid != tid || log->who_pid != pid) {
		char *end = put_who(log, log->who, pid, tid);
		end = PUT(end, ",\"ts\":");
		log->who_bytes = (size_t)(end - log->who);
		log->who_pid = pid;
		log->who_tid = tid;
	}
	return put_bytes(at, log->who, log->who_bytes);
}

/* {"id":..,"name":..,"cat":..,"pid":..,"tid":.. of a record written by the log itself */
static char *put_own_head(struct pfwlog *log, char *at, bool has_id, const char *name, int32_t pid, int32_t tid)
{
	*at++ = '{';
	if (has_id) {
		at = PUT(at, "\"id\":");
		at = put_uint(at, log_next_id(log));
		*at++ = ',';
	}
	at = PUT(at, "\"name\":\"");
	at = put_text(at, name);
	at = PUT(at, "\",\"cat\":\"");
	at = put_text(at, category_own);
	at = PUT(at, "\"");
	if (log->state->setup.generation == 'E')
		at = PUT(at, ",\"type\":1");
	return put_who(log, at, pid, tid);
}

/* Writes a metadata record with a name and a value. */
static void write_meta(struct pfwlog *log, const char *kind, const char *name, size_t name_bytes, const char *value,
		uint64_t hash, int32_t pid, int32_t tid)
{
	char *at = line_begin(log, LINE_JSON_ROOM(name_bytes));
	if (!at)
		return;
	at = put_own_head(log, at, log->state->setup.generation != 'E', kind, pid, tid);
	at = put_phase(at, log->state->setup.generation, 'M');
	at = put_bytes(at, log->host, log->host_bytes);
	at = put_definition(at, name, name_bytes, value, hash, log->names.is_hex, log->state->setup.is_strict);
	line_end(log, PUT(at, "}}"));
}

void log_announce(struct pfwlog *log, struct name *name, bool is_file, int32_t pid, int32_t tid)
{
	uint64_t *place = is_file ? &name->file_at : &name->string_at;
	if (*place)
		return;
	if (!log->now.is_begun)
		log_head_begin(log);
	*place = log->now.text_bytes + log->text.len + 1;
	write_meta(log, is_file ? "FH" : "SH", name->text, name->bytes, NULL, name->hash, pid, tid);
}

void log_announce_thread(struct pfwlog *log, int32_t pid, int32_t tid)
{
	uint32_t first = (uint32_t)tid * 0x9e3779b9u;
	for (uint32_t i = 0; i < 16; i++) {
		int32_t *slot = &log->tids[(first + i) % TIDS_MAX];
		if (*slot == tid)
			return;
		if (*slot)
			continue;
		*slot = tid;
		char number[24];
		size_t n = (size_t)(put_int(number, tid) - number);
		write_meta(log, "thread_name", number, n, "\"thread_name\"", 0, pid, tid);
		return;
	}
}

static void announce_text(struct pfwlog *log, const char *text, bool is_file)
{
	int32_t pid = log->state->true_pid;
	struct name *name = *text ? names_put(&log->names, text, strlen(text)) : NULL;
	if (name)
		log_announce(log, name, is_file, pid, pid);
}

static char *put_bound(struct pfwlog *log, char *at, const char *name, int64_t ns)
{
	int32_t pid = log->state->true_pid;
	at = put_own_head(log, at, true, name, pid, pid);
	at = PUT(at, ",\"ts\":");
	at = put_int(at, in_units(log, ns));
	at = PUT(at, ",\"dur\":0");
	at = put_phase(at, log->state->setup.generation, 'X');
	return put_bytes(at, log->host, log->host_bytes);
}

static void write_start(struct pfwlog *log)
{
	const struct pfwlog_setup *u = &log->state->setup;
	const struct pfwlog_clock *c = &log->state->clock;
	uint64_t cwd = hash_of(log, u->cwd), command = hash_of(log, u->command), exe = hash_of(log, u->exe);
	const struct line_start start = { .ppid = u->ppid,
		.date = u->date,
		.cwd = u->generation >= 'D' && *u->cwd ? &cwd : NULL,
		.command = *u->command ? &command : NULL,
		.exe = *u->exe ? &exe : NULL,
		.is_hex = log->names.is_hex };
	char *at = line_begin(log, 0);
	if (!at)
		return;
	at = put_bound(log, at, "start", c->mono_ns + c->real_minus_mono_ns);
	at = put_start(at, &start);
	at = put_text(at, u->generation >= 'D' ? ",\"version\":\"v2.0.2\"" : ",\"version\":100008");
	line_end(log, PUT(at, "}}"));
}

void log_head_begin(struct pfwlog *log)
{
	const struct pfwlog_setup *u = &log->state->setup;
	int32_t pid = log->state->true_pid;
	log->now.is_begun = 1;
	if (log->file.fd < 0)
		log->error = log_open_file(log);
	if (!text_need(&log->text, LINE_ROOM))
		return;
	if (u->generation != 'E' && !log->file.bytes) {
		char *at = PUT(log->text.data + log->text.len, "[\n");
		log->text.len = (size_t)(at - log->text.data);
	}
	write_meta(log, "HH", u->host, strlen(u->host), NULL, hash_of(log, u->host), pid, pid);
	log_announce_thread(log, pid, pid);
	announce_text(log, u->command, false);
	announce_text(log, u->exe, false);
	if (u->generation >= 'D')
		announce_text(log, u->cwd, true);
	write_start(log);
	if (*u->affinity)
		write_meta(log, "PR", "core_affinity", 13, u->affinity, 0, pid, pid);
	if (u->rank >= 0) {
		char number[24], *end = put_int(number, u->rank);
		*end = '\0';
		write_meta(log, "PR", "rank", 4, number, 0, pid, pid);
	}
}

static char *put_facts(const struct pfwlog *log, char *at)
{
	const struct pfwlog_state *s = log->state;
	at = put_text(at, s->setup.facts);
	at = PUT(at, ",\"used\":{");
	at = put_text(at, s->used);
	at = PUT(at, "},\"app\":{");
	at = put_text(at, s->app);
	return PUT(at, "}");
}

void log_head_end(struct pfwlog *log, bool is_recovered)
{
	const struct pfwlog_clock *c = &log->state->clock;
	int64_t now_ns = c->last_mono_ns + c->real_minus_mono_ns;
	char *at = line_begin(log, 0);
	if (!at)
		return;
	if (is_recovered || log->now.last_ns > now_ns)
		now_ns = log->now.last_ns;
	at = put_bound(log, at, "end", now_ns);
	at = PUT(at, ",\"p_idx\":-1,\"level\":1,\"num_events\":");
	at = put_uint(at, log->now.events);
	if (is_recovered)
		at = PUT(at, ",\"recovered\":1");
	if (log->state->setup.generation == 'E')
		at = put_facts(log, at);
	line_end(log, PUT(at, "}}"));
}

/* Writes metadata as lines, and collects facts for the `end` record; see pfwlog.h. */

static bool has_member(const char *object, const char *key, size_t n)
{
	for (const char *p = object; *p; p++)
		if (*p == '"' && !strncmp(p + 1, key, n) && p[1 + n] == '"' && p[2 + n] == ':')
			return true;
	return false;
}

void log_record_used(struct pfwlog *log, const char *name, size_t n)
{
	char *used = log->state->used, line[256], *at = line;
	size_t len = strlen(used);
	if (n > 64 || has_member(used, name, n) || len + LINE_JSON_ROOM(n) + 4 > sizeof(log->state->used))
		return;
	if (len)
		*at++ = ',';
	at = put_json(at, name, n);
	at = PUT(at, ":1");
	*at++ = '\0';
	if (len + (size_t)(at - line) <= sizeof(log->state->used))
		memcpy(used + len, line, (size_t)(at - line));
}

static bool is_letters(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((text[i] < 'A' || text[i] > 'Z') && (text[i] < 'a' || text[i] > 'z') && text[i] != '_')
			return false;
	return n > 0;
}

enum taken log_on_meta(struct pfwlog *log, const struct walk *w, bool is_last_chance)
{
	const struct pfwlog_rec_meta *r = (const void *)log->ring_record.bytes;
	const struct name *name = names_string(&log->names, r->name);
	char kind[16] = "CM";
	if ((!name || !args_known(log, sizeof(*r), r->head.call)) && !is_last_chance)
		return WAITS;
	if (name && name->bytes < sizeof(kind) && is_letters(name->text, name->bytes)) {
		memcpy(kind, name->text, name->bytes);
		kind[name->bytes] = '\0';
	}
	char *at = line_begin(log, 0);
	if (!at)
		return TAKEN;
	at = put_own_head(log, at, log->state->setup.generation != 'E', kind, w->pid, w->tid);
	at = put_phase(at, log->state->setup.generation, 'M');
	at = put_bytes(at, log->host, log->host_bytes);
	at = args_put(log, at, sizeof(*r), r->head.call);
	line_end(log, PUT(at, "}}"));
	return TAKEN;
}

/* A new value of an app fact replaces the old one: readers use the last member of a name, so the old one is removed. */
static void forget_fact(char *app, const char *key, size_t n)
{
	for (char *p = app; *p; p++) {
		bool is_start = p == app || p[-1] == ',';
		if (!is_start || strncmp(p, key, n) || p[n] != ':')
			continue;
		char *end = p + n + 1;
		bool is_inside = false;
		for (; *end && (is_inside || *end != ','); end++) {
			if (*end == '\\' && end[1])
				end++;
			else if (*end == '"')
				is_inside = !is_inside;
		}
		if (*end)
			end++;
		else if (p > app)
			p--;
		memmove(p, end, strlen(end) + 1);
		return;
	}
}

void log_record_fact(struct pfwlog *log)
{
	const struct pfwlog_rec_meta *r = (const void *)log->ring_record.bytes;
	const struct name *key;
	struct arg arg;
	size_t at = sizeof(*r);
	char line[2048], *end = line;
	if (!args_next(&log->ring_record, &at, &arg) || !(key = names_string(&log->names, arg.head.key)))
		return;
	if (r->type == 0) {
		log_record_used(log, key->text, key->bytes);
		return;
	}
	if (LINE_JSON_ROOM(key->bytes) + LINE_JSON_ROOM(arg.bytes) + 32 > sizeof(line) ||
			arg.head.type == PFWLOG_ARG_FAR)
		return;
	char *app = log->state->app;
	end = put_json(end, key->text, key->bytes);
	forget_fact(app, line, (size_t)(end - line));
	*end++ = ':';
	end = args_put_value(log, end, &arg);
	size_t len = strlen(app), n = (size_t)(end - line);
	if (len + n + 2 > sizeof(log->state->app))
		return;
	if (len)
		app[len++] = ',';
	memcpy(app + len, line, n);
	app[len + n] = '\0';
}
