/* The functions of dftracer/core.h and dftracer/dftracer.h. */
#include "dftracer/core.h"
#include "dftracer/dftracer.h"
#include "image.h"
#include "pfw/line-write.h"
#include "pfw/pfwlog.h"
#include "region.h"
#include "tracer/tracer.h"

#include <sys/mman.h>

#define REGION_BYTES 2048u
#define REGION_ARGS_BYTES 1536u
#define RELATIONS_MAX 24u
#define JSON_BYTES_MAX 1024u
#define SLAB_BYTES (32u << 10)
#define US_MAX (INT64_MAX / 2000)

/* Initialize and finalize. */

static int begin(const char *log_file, const char *data_dirs, int process_id, bool is_binding)
{
	return image_begin(&(struct image_options){ .log_file = log_file,
			.data_dirs = data_dirs,
			.process_id = process_id,
			.is_binding = is_binding });
}

EXPORT int dftracer_initialize(const char *log_file, const char *data_dirs, int process_id)
{
	return begin(log_file, data_dirs, process_id, true);
}

EXPORT int dftracer_initialize_no_bind(const char *log_file, const char *data_dirs, int process_id)
{
	return begin(log_file, data_dirs, process_id, false);
}

EXPORT void dftracer_finalize(void)
{
	image_end();
}

EXPORT void initialize_main(const char *log_file, const char *data_dirs, int *process_id)
{
	begin(log_file, data_dirs, process_id ? *process_id : -1, true);
}

EXPORT void initialize_no_bind(const char *log_file, const char *data_dirs, int *process_id)
{
	begin(log_file, data_dirs, process_id ? *process_id : -1, false);
}

EXPORT void finalize(void)
{
	image_end();
}

EXPORT int dftracer_is_on(void)
{
	return (tracer.categories & SONDE_CAT_SPAN) != 0;
}

EXPORT int dftracer_wants_args(void)
{
	return dftracer_is_on() && image_has_args;
}

EXPORT int64_t dftracer_get_time(void)
{
	struct timespec ts;
	if (!image_is_on())
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec + image_real_minus_mono_ns()) / 1000;
}

EXPORT TimeResolution get_time(void)
{
	return (TimeResolution)dftracer_get_time();
}

/* Events from bindings. */

EXPORT int64_t dftracer_enter_event(void)
{
	int32_t parent;
	uint32_t level;
	int kept_errno = errno;
	int64_t id = region_enter(&parent, &level);
	errno = kept_errno;
	return id;
}

EXPORT void dftracer_exit_event(void)
{
	int kept_errno = errno;
	region_leave_last();
	errno = kept_errno;
}

static void add_arg(struct args *out, const struct dftracer_arg *arg)
{
	switch (arg->type) {
	case DFTRACER_ARG_INT:
		args_int(out, arg->key, arg->value.integer);
		break;
	case DFTRACER_ARG_FLOAT:
		args_real(out, arg->key, arg->value.real);
		break;
	case DFTRACER_ARG_STRING:
		args_text(out, arg->key, arg->value.text, arg->text_bytes);
		break;
	case DFTRACER_ARG_JSON:
		if (arg->text_bytes <= JSON_BYTES_MAX)
			args_json(out, arg->key, arg->value.text, arg->text_bytes);
		else
			args_json(out, arg->key, "null", 4);
		break;
	default:
		break;
	}
}

static int64_t ns_of(int64_t us)
{
	return us > US_MAX ? US_MAX * 1000 : us < -US_MAX ? -US_MAX * 1000 : us * 1000;
}

static void log_one(const char *name, const char *category, int64_t start_us, int64_t duration_us,
		const struct dftracer_arg *args, size_t arg_count, uint8_t type)
{
	_Alignas(8) char data[ARGS_BYTES + 16];
	struct args out = { .room = ARGS_BYTES, .data = data };
	int kept_errno = errno;
	if (!tracer_wants(SONDE_CAT_SPAN))
		return;
	struct event e = { .name = region_name(name),
		.category = category ? region_name(category) : 0,
		.start = (uint64_t)ns_of(start_us),
		.dur = (uint64_t)ns_of(duration_us),
		.type = type,
		.is_real = true };
	for (size_t i = 0; image_has_args && i < arg_count; i++)
		add_arg(&out, &args[i]);
	region_place(&e);
	region_record(&e, &out);
	errno = kept_errno;
}

EXPORT void dftracer_log_event(const char *name, const char *category, int64_t start_us, int64_t duration_us,
		const struct dftracer_arg *args, size_t arg_count)
{
	log_one(name, category, start_us, duration_us, args, arg_count, PFWLOG_PYTHON);
}

EXPORT void log_event(ConstEventNameType name, ConstEventNameType cat, TimeResolution start, TimeResolution duration)
{
	log_one(name, cat, (int64_t)start, (int64_t)duration, NULL, 0, PFWLOG_CPP_APP);
}

static void log_metadata(const char *key, const char *value, uint32_t type)
{
	_Alignas(8) char data[ARGS_BYTES + 16];
	struct args out = { .room = ARGS_BYTES, .data = data };
	int kept_errno = errno;
	if (!tracer_wants(SONDE_CAT_SPAN))
		return;
	args_text(&out, "name", key, SIZE_MAX);
	args_text(&out, "value", value, SIZE_MAX);
	region_meta("CM", type, &out);
	errno = kept_errno;
}

EXPORT void dftracer_log_metadata_event(const char *key, const char *value)
{
	log_metadata(key, value, PFWLOG_PYTHON);
}

/* Regions of C and C++. */

struct region {
	struct DFTracerData data; /* handed out to the program */
	struct region *next;
	struct event event;
	uint32_t epoch;
	uint32_t relation_count;
	struct {
		uint32_t relation;
		EntityID entity;
	} relations[RELATIONS_MAX];
	struct args args;
	_Alignas(8) char arg_data[];
};
_Static_assert(sizeof(struct region) + REGION_ARGS_BYTES + 16 <= REGION_BYTES, "a region fits its place");

static _Thread_local struct region *spare __attribute__((tls_model("initial-exec")));

/* Allocate another slab for this thread. */
static bool spare_add(void)
{
	char *slab = tracer.is_seccomped ? NULL
					 : sys_map(SLAB_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	for (size_t at = 0; slab && at + REGION_BYTES <= SLAB_BYTES; at += REGION_BYTES) {
		struct region *r = (void *)(slab + at);
		r->next = spare;
		spare = r;
	}
	return slab != NULL;
}

static struct region *region_new(void)
{
	if (!spare && !spare_add())
		return NULL;
	struct region *r = spare;
	spare = r->next;
	r->data.profiler = r;
	r->relation_count = 0;
	r->args = (struct args){ .room = REGION_ARGS_BYTES, .data = r->arg_data };
	return r;
}

static uint8_t type_of(const char *category)
{
	if (category && !strcmp(category, "C_APP"))
		return PFWLOG_C_APP;
	return category && !strcmp(category, "CPP_APP") ? PFWLOG_CPP_APP : PFWLOG_PYTHON;
}

static struct region *region_begin(const char *name, const char *category)
{
	struct region *r = tracer_wants(SONDE_CAT_SPAN) ? region_new() : NULL;
	if (!r)
		return NULL;
	r->event = (struct event){ .name = region_name(name),
		.category = category ? region_name(category) : 0,
		.type = type_of(category) };
	r->event.id = region_enter(&r->event.parent, &r->event.level);
	r->epoch = thread.epoch;
	r->event.start = tick();
	return r;
}

EXPORT struct DFTracerData *initialize_region(ConstEventNameType name, ConstEventNameType cat, int event_type)
{
	int kept_errno = errno;
	struct region *r = NULL;
	if (event_type == DF_METADATA_EVENT)
		log_metadata(name, cat, PFWLOG_C_APP);
	else
		r = region_begin(name, cat);
	errno = kept_errno;
	return r ? &r->data : NULL;
}

static const char *relation_name(uint32_t relation)
{
	static const char *const names[] = { "used", "generated", "invalidated", "updated" };
	return relation < sizeof(names) / sizeof(*names) ? names[relation] : "related";
}

/* "relations":{"used":["..",".."],..} */
static void add_relations(struct region *r)
{
	char text[RELATIONS_MAX * 40 + 16], *at = text;
	*at++ = '{';
	for (uint32_t kind = 0; kind <= DFT_REL_UPDATED; kind++) {
		bool is_first = true;
		for (uint32_t i = 0; i < r->relation_count; i++) {
			if (r->relations[i].relation != kind)
				continue;
			if (is_first) {
				at = PUT(at, ",\"");
				at = put_text(at, relation_name(kind));
				at = PUT(at, "\":[");
			}
			at = is_first ? PUT(at, "\"") : PUT(at, ",\"");
			at = put_hex(at, r->relations[i].entity);
			*at++ = '"';
			is_first = false;
		}
		if (!is_first)
			*at++ = ']';
	}
	*at++ = '}';
	if (text[1] == ',')
		text[1] = '{';
	args_json(&r->args, DFT_RELATIONS_ARG, text + (text[1] == '{'), (size_t)(at - text) - (text[1] == '{'));
}

EXPORT void finalize_region(struct DFTracerData *data)
{
	int kept_errno = errno;
	if (data && data->profiler == data) {
		data->profiler = NULL; /* a second finalize does nothing */
		struct region *r = (struct region *)data;
		uint64_t end = tick();
		if (tracer_wants(SONDE_CAT_SPAN) &&
				r->epoch == thread.epoch) { /* else it was started before a fork, by the parent */
			r->event.dur = end - r->event.start;
			r->event.is_left = region_leave(r->event.id);
			if (r->relation_count)
				add_relations(r);
			region_record(&r->event, &r->args);
		}
		r->next = spare;
		spare = r;
	}
	errno = kept_errno;
}

EXPORT void finalize_region_cleanup(struct DFTracerData **data)
{
	finalize_region(*data);
	*data = NULL;
}

static struct region *live(struct DFTracerData *data)
{
	return data && data->profiler == data && (tracer.categories & SONDE_CAT_SPAN) ? (struct region *)data : NULL;
}

EXPORT void update_metadata_int(struct DFTracerData *data, const char *key, int value)
{
	struct region *r = live(data);
	if (r && image_has_args)
		args_int(&r->args, key, value);
}

EXPORT void update_metadata_string(struct DFTracerData *data, const char *key, const char *value)
{
	int kept_errno = errno;
	struct region *r = live(data);
	if (r && image_has_args)
		args_text(&r->args, key, value, SIZE_MAX);
	errno = kept_errno;
}

EXPORT void update_metadata_int_type(struct DFTracerData *data, const char *key, int value, int type)
{
	(void)type;
	update_metadata_int(data, key, value);
}

EXPORT void update_metadata_string_type(struct DFTracerData *data, const char *key, const char *value, int type)
{
	(void)type;
	update_metadata_string(data, key, value);
}

/* Metadata for the record `end`. */

static void fact(bool is_app, const char *key, const char *text, int64_t number)
{
	_Alignas(8) char data[ARGS_BYTES + 16];
	struct args out = { .room = ARGS_BYTES, .data = data };
	int kept_errno = errno;
	if (!tracer_wants(SONDE_CAT_SPAN))
		return;
	if (text)
		args_text(&out, key, text, SIZE_MAX);
	else
		args_int(&out, key, number);
	region_fact(is_app, &out);
	errno = kept_errno;
}

EXPORT void set_app_metadata_int(const char *key, int value)
{
	fact(true, key, NULL, value);
}

EXPORT void set_app_metadata_string(const char *key, const char *value)
{
	fact(true, key, value ? value : "", 0);
}

EXPORT void mark_used(const char *name)
{
	fact(false, name, NULL, 1);
}

/* Entities. */

static uint64_t fnv(uint64_t h, const char *text)
{
	for (; text && *text; text++)
		h = (h ^ (unsigned char)*text) * 1099511628211ull;
	return h;
}

/* True once per process; if the table is full, always. */
static bool is_first_time(uint64_t id)
{
	static uint64_t seen[4096];
	static uint32_t epoch;
	if (epoch != tracer.epoch) {
		memset(seen, 0, sizeof(seen));
		epoch = tracer.epoch;
	}
	for (unsigned i = 0; i < 64; i++) {
		uint64_t *slot = &seen[(id + i) % 4096], none = 0;
		if (__atomic_load_n(slot, __ATOMIC_RELAXED) == id)
			return false;
		if (!*slot && __atomic_compare_exchange_n(slot, &none, id, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
		if (none == id)
			return false;
	}
	return true;
}

/* Truncate to the length that DFTracer keeps. */
static void add_cut(struct args *out, const char *key, const char *text, size_t room)
{
	args_text(out, key, text ? text : "", text ? strnlen(text, room - 1) : 0);
}

EXPORT EntityID dftracer_declare_entity(ConstEntityTypeName type, ConstEntityKey key, EntityStore store,
		ConstEntityURI uri)
{
	_Alignas(8) char data[ARGS_BYTES + 16];
	struct args out = { .room = ARGS_BYTES, .data = data };
	int kept_errno = errno;
	if (!tracer_wants(SONDE_CAT_SPAN))
		return DFT_ENTITY_NONE;
	/* The same in every language and process. */
	uint64_t h = fnv(1469598103934665603ull, type);
	h = fnv((h ^ 0x1f) * 1099511628211ull, key);
	EntityID id = h ? h : 1;
	if (is_first_time(id)) {
		args_hex(&out, "id", id);
		add_cut(&out, "type", type, DFT_ENTITY_TYPE_LEN);
		args_int(&out, "store", store);
		add_cut(&out, "uri", uri, DFT_ENTITY_URI_LEN);
		region_meta("EH", PFWLOG_DFTRACER, &out);
	}
	errno = kept_errno;
	return id;
}

EXPORT void dftracer_declare_entity_type(ConstEntityTypeName type, EntityRole role, ConstEntityDescription description)
{
	_Alignas(8) char data[ARGS_BYTES + 16];
	struct args out = { .room = ARGS_BYTES, .data = data };
	int kept_errno = errno;
	if (!tracer_wants(SONDE_CAT_SPAN) || !is_first_time(fnv(1469598103934665603ull, type) | 1))
		return;
	add_cut(&out, "type", type, DFT_ENTITY_TYPE_LEN);
	args_int(&out, "role", role);
	add_cut(&out, "description", description, DFT_ENTITY_DESC_LEN);
	region_meta("ET", PFWLOG_DFTRACER, &out);
	errno = kept_errno;
}

EXPORT void dftracer_relate_entities(EntityRelation relation, EntityID subject, EntityID object)
{
	_Alignas(8) char data[ARGS_BYTES + 16];
	struct args out = { .room = ARGS_BYTES, .data = data };
	int kept_errno = errno;
	if (!tracer_wants(SONDE_CAT_SPAN))
		return;
	args_int(&out, "relation", relation);
	args_hex(&out, "subject", subject);
	args_hex(&out, "object", object);
	region_meta("ER", PFWLOG_DFTRACER, &out);
	errno = kept_errno;
}

EXPORT void update_relation(struct DFTracerData *data, EntityRelation relation, EntityID entity)
{
	struct region *r = live(data);
	if (!r || relation > DFT_REL_UPDATED || entity == DFT_ENTITY_NONE)
		return;
	if (r->relation_count == RELATIONS_MAX) {
		r->args.lost++;
		return;
	}
	r->relations[r->relation_count].relation = relation;
	r->relations[r->relation_count++].entity = entity;
}

EXPORT EntityID update_relation_entity(struct DFTracerData *data, EntityRelation relation, ConstEntityTypeName type,
		ConstEntityKey key, EntityStore store, ConstEntityURI uri)
{
	EntityID id = dftracer_declare_entity(type, key, store, uri);
	update_relation(data, relation, id);
	return id;
}
