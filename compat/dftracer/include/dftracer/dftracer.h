/*
 * dftracer/dftracer.h: annotate C and C++ programs, compatible with DFTracer's header.
 *
 * Macros and functions are those of DFTracer 1 and 2 and of its development version: programs written for it compile
 * and link unchanged. Everything is a no-op unless DFTRACER_ENABLE is 1. Events of a thread nest like its calls; a
 * region may be ended by another thread, and one that is never ended is not written. core.h has plain functions for
 * bindings.
 */
#ifndef DFTRACER_DFTRACER_H
#define DFTRACER_DFTRACER_H

#include <stddef.h>
#include <stdint.h>

#define DF_DATA_EVENT 0
#define DF_METADATA_EVENT 1

#define DFT_ENTITY_TYPE_LEN 32
#define DFT_ENTITY_URI_LEN 256
#define DFT_ENTITY_DESC_LEN 256
#define DFT_ENTITY_HEX_LEN 17
#define DFT_ENTITY_NONE ((EntityID)0)
#define DFT_RELATIONS_ARG "relations"

#ifdef __cplusplus
extern "C" {
#endif

typedef const char *ConstEventNameType;
typedef const char *ConstEntityTypeName;
typedef const char *ConstEntityKey;
typedef const char *ConstEntityURI;
typedef const char *ConstEntityDescription;
typedef uint64_t TimeResolution; /* microseconds */
typedef uint64_t EntityID;

/* The role of an argument in aggregation. */
typedef enum { MT_KEY = 0, MT_VALUE = 1, MT_IGNORE = 2 } MetadataType;

/* Where an entity is stored. */
typedef enum {
	DFT_STORE_MEMORY = 0,
	DFT_STORE_GPU_MEMORY = 1,
	DFT_STORE_LOCAL_DISK = 2,
	DFT_STORE_PARALLEL_FS = 3,
	DFT_STORE_BURST_BUFFER = 4,
	DFT_STORE_OBJECT_STORE = 5,
	DFT_STORE_DATABASE = 6,
	DFT_STORE_NETWORK = 7,
	DFT_STORE_OTHER = 8
} EntityStore;

/* The role of a type of entities in a workflow. */
typedef enum {
	DFT_ROLE_UNKNOWN = 0,
	DFT_ROLE_INPUT = 1,
	DFT_ROLE_OUTPUT = 2,
	DFT_ROLE_INTERMEDIATE = 3,
	DFT_ROLE_PARAMETER = 4,
	DFT_ROLE_REFERENCE = 5
} EntityRole;

/* Below 16: from an event to an entity; 16 and above: from an entity to another. */
typedef enum {
	DFT_REL_USED = 0,
	DFT_REL_GENERATED = 1,
	DFT_REL_INVALIDATED = 2,
	DFT_REL_UPDATED = 3,
	DFT_REL_DERIVED_FROM = 16,
	DFT_REL_REVISION_OF = 17,
	DFT_REL_CONTAINS = 18,
	DFT_REL_PART_OF = 19,
	DFT_REL_SPECIALIZATION_OF = 20,
	DFT_REL_ALTERNATE_OF = 21,
	DFT_REL_DEPENDS_ON = 22
} EntityRelation;

struct DFTracerData {
	void *profiler;
};

/* log_file, data_dirs NULL: from the environment. process_id NULL or -1: the real one. */
void initialize_main(const char *log_file, const char *data_dirs, int *process_id);
void initialize_no_bind(const char *log_file, const char *data_dirs, int *process_id); /* annotations only */
#ifdef __cplusplus
void finalize();
#else
void finalize(void);
#endif

TimeResolution get_time(void);
void log_event(ConstEventNameType name, ConstEventNameType cat, TimeResolution start_time, TimeResolution duration);

/* event_type DF_METADATA_EVENT: name and cat are a key and its value, recorded at the end of the region. */
struct DFTracerData *initialize_region(ConstEventNameType name, ConstEventNameType cat, int event_type);
void finalize_region(struct DFTracerData *data); /* NULL accepted */
void finalize_region_cleanup(struct DFTracerData **data);
void update_metadata_int(struct DFTracerData *data, const char *key, int value);
void update_metadata_string(struct DFTracerData *data, const char *key, const char *value);
void update_metadata_int_type(struct DFTracerData *data, const char *key, int value, int type);
void update_metadata_string_type(struct DFTracerData *data, const char *key, const char *value, int type);

/* Metadata of the process; the last value of a key wins. */
void set_app_metadata_int(const char *key, int value);
void set_app_metadata_string(const char *key, const char *value);
void mark_used(const char *name);

/* Entities: equal (type, key) have the same id everywhere. */
EntityID dftracer_declare_entity(ConstEntityTypeName type, ConstEntityKey key, EntityStore store, ConstEntityURI uri);
void dftracer_declare_entity_type(ConstEntityTypeName type, EntityRole role, ConstEntityDescription description);
void dftracer_relate_entities(EntityRelation relation, EntityID subject, EntityID object);
void update_relation(struct DFTracerData *data, EntityRelation relation, EntityID entity);
EntityID update_relation_entity(struct DFTracerData *data, EntityRelation relation, ConstEntityTypeName type,
		ConstEntityKey key, EntityStore store, ConstEntityURI uri);

#ifdef __cplusplus
}
#endif

__attribute__((unused)) static ConstEventNameType C_LOG_CATEGORY = "C_APP";

#define DFTRACER_C_REGION_CLEANUP __attribute__((cleanup(finalize_region_cleanup)))

#define DFTRACER_C_INIT(log_file, data_dirs, process_id) \
	initialize_main(log_file, data_dirs, process_id); \
	mark_used("C_APP");
#define DFTRACER_C_INIT_NO_BIND(log_file, data_dirs, process_id) \
	initialize_no_bind(log_file, data_dirs, process_id); \
	mark_used("C_APP");
#define DFTRACER_C_FINI() finalize()
#define DFTRACER_C_FUNCTION_START() \
	struct DFTracerData *data_fn DFTRACER_C_REGION_CLEANUP = initialize_region(__func__, C_LOG_CATEGORY, \
			DF_DATA_EVENT);
#define DFTRACER_C_FUNCTION_END() \
	finalize_region(data_fn); \
	data_fn = NULL;
#define DFTRACER_C_REGION_START(name) \
	struct DFTracerData *data_##name DFTRACER_C_REGION_CLEANUP = initialize_region(#name, C_LOG_CATEGORY, \
			DF_DATA_EVENT);
#define DFTRACER_C_REGION_END(name) \
	finalize_region(data_##name); \
	data_##name = NULL;
#define DFTRACER_C_METADATA(name, key, val) \
	{ \
		struct DFTracerData *data_##name = initialize_region(key, val, DF_METADATA_EVENT); \
		finalize_region(data_##name); \
	}
#define DFTRACER_C_FUNCTION_UPDATE_INT(key, val) update_metadata_int(data_fn, key, val);
#define DFTRACER_C_FUNCTION_UPDATE_STR(key, val) update_metadata_string(data_fn, key, val);
#define DFTRACER_C_REGION_UPDATE_INT(name, key, val) update_metadata_int(data_##name, key, val);
#define DFTRACER_C_REGION_UPDATE_STR(name, key, val) update_metadata_string(data_##name, key, val);
#define DFTRACER_C_FUNCTION_UPDATE_INT_TYPE(key, val, type) update_metadata_int_type(data_fn, key, val, type);
#define DFTRACER_C_FUNCTION_UPDATE_STR_TYPE(key, val, type) update_metadata_string_type(data_fn, key, val, type);
#define DFTRACER_C_REGION_UPDATE_INT_TYPE(name, key, val, type) update_metadata_int_type(data_##name, key, val, type);
#define DFTRACER_C_REGION_UPDATE_STR_TYPE(name, key, val, type) \
	update_metadata_string_type(data_##name, key, val, type);
#define DFTRACER_C_APP_METADATA_INT(key, val) set_app_metadata_int(key, val);
#define DFTRACER_C_APP_METADATA_STR(key, val) set_app_metadata_string(key, val);
#define DFTRACER_C_MARK_USED(name) mark_used(name);
#define DFTRACER_C_ENTITY(type, key, store, uri) dftracer_declare_entity(type, key, store, uri)
#define DFTRACER_C_ENTITY_TYPE(type, role, description) dftracer_declare_entity_type(type, role, description);
#define DFTRACER_C_ENTITY_RELATE(relation, subject, object) dftracer_relate_entities(relation, subject, object);
#define DFTRACER_C_FUNCTION_RELATE(relation, entity) update_relation(data_fn, relation, entity);
#define DFTRACER_C_FUNCTION_USES(type, key) \
	update_relation_entity(data_fn, DFT_REL_USED, type, key, DFT_STORE_MEMORY, NULL);
#define DFTRACER_C_FUNCTION_GENERATES(type, key) \
	update_relation_entity(data_fn, DFT_REL_GENERATED, type, key, DFT_STORE_MEMORY, NULL);
#define DFTRACER_C_REGION_RELATE(name, relation, entity) update_relation(data_##name, relation, entity);

#ifdef __cplusplus

__attribute__((unused)) static ConstEventNameType CPP_LOG_CATEGORY = "CPP_APP";

/* An event from here to the end of the scope. */
class DFTracer
{
public:
	DFTracer(ConstEventNameType name, ConstEventNameType cat, int event_type = DF_DATA_EVENT)
		: data(initialize_region(name, cat, event_type))
	{
	}
	~DFTracer()
	{
		finalize();
	}
	DFTracer(const DFTracer &) = delete;
	DFTracer &operator=(const DFTracer &) = delete;

	void update(const char *key, int value, MetadataType type = MT_KEY)
	{
		update_metadata_int_type(data, key, value, type);
	}
	void update(const char *key, const char *value, MetadataType type = MT_KEY)
	{
		update_metadata_string_type(data, key, value, type);
	}
	void relate(EntityRelation relation, EntityID entity)
	{
		update_relation(data, relation, entity);
	}
	EntityID relate(EntityRelation relation, ConstEntityTypeName type, ConstEntityKey key,
			EntityStore store = DFT_STORE_MEMORY, ConstEntityURI uri = nullptr)
	{
		return update_relation_entity(data, relation, type, key, store, uri);
	}
	EntityID uses(ConstEntityTypeName type, ConstEntityKey key, EntityStore store = DFT_STORE_MEMORY,
			ConstEntityURI uri = nullptr)
	{
		return relate(DFT_REL_USED, type, key, store, uri);
	}
	EntityID generates(ConstEntityTypeName type, ConstEntityKey key, EntityStore store = DFT_STORE_MEMORY,
			ConstEntityURI uri = nullptr)
	{
		return relate(DFT_REL_GENERATED, type, key, store, uri);
	}
	void finalize()
	{
		finalize_region(data);
		data = nullptr;
	}

private:
	struct DFTracerData *data;
};

#define DFTRACER_CPP_INIT(log_file, data_dirs, process_id) \
	initialize_main(log_file, data_dirs, process_id); \
	mark_used("CPP_APP");
#define DFTRACER_CPP_INIT_NO_BIND(log_file, data_dirs, process_id) \
	initialize_no_bind(log_file, data_dirs, process_id); \
	mark_used("CPP_APP");
#define DFTRACER_CPP_FINI() finalize()
#define DFTRACER_CPP_FUNCTION() DFTracer profiler_dft_fn(__FUNCTION__, CPP_LOG_CATEGORY, DF_DATA_EVENT);
#define DFTRACER_CPP_METADATA(name, key, value) \
	{ \
		DFTracer profiler_##name(key, value, DF_METADATA_EVENT); \
	}
#define DFTRACER_CPP_REGION(name) DFTracer profiler_##name(#name, CPP_LOG_CATEGORY, DF_DATA_EVENT);
#define DFTRACER_CPP_REGION_START(name) \
	DFTracer *profiler_##name = new DFTracer(#name, CPP_LOG_CATEGORY, DF_DATA_EVENT);
#define DFTRACER_CPP_REGION_END(name) delete profiler_##name
#define DFTRACER_CPP_FUNCTION_UPDATE(key, val) profiler_dft_fn.update(key, val);
#define DFTRACER_CPP_FUNCTION_UPDATE_TYPE(key, val, type) profiler_dft_fn.update(key, val, type);
#define DFTRACER_CPP_REGION_UPDATE(name, key, val) profiler_##name.update(key, val);
#define DFTRACER_CPP_REGION_DYN_UPDATE(name, key, val) profiler_##name->update(key, val);
#define DFTRACER_CPP_REGION_UPDATE_TYPE(name, key, val, type) profiler_##name.update(key, val, type);
#define DFTRACER_CPP_REGION_DYN_UPDATE_TYPE(name, key, val, type) profiler_##name->update(key, val, type);
#define DFTRACER_CPP_APP_METADATA_INT(key, val) set_app_metadata_int(key, val);
#define DFTRACER_CPP_APP_METADATA_STR(key, val) set_app_metadata_string(key, val);
#define DFTRACER_CPP_MARK_USED(name) mark_used(name);
#define DFTRACER_CPP_ENTITY(type, key, store, uri) dftracer_declare_entity(type, key, store, uri)
#define DFTRACER_CPP_ENTITY_TYPE(type, role, description) dftracer_declare_entity_type(type, role, description);
#define DFTRACER_CPP_ENTITY_RELATE(relation, subject, object) dftracer_relate_entities(relation, subject, object);
#define DFTRACER_CPP_FUNCTION_RELATE(relation, entity) profiler_dft_fn.relate(relation, entity);
#define DFTRACER_CPP_FUNCTION_USES(type, key) profiler_dft_fn.uses(type, key);
#define DFTRACER_CPP_FUNCTION_GENERATES(type, key) profiler_dft_fn.generates(type, key);
#define DFTRACER_CPP_REGION_RELATE(name, relation, entity) profiler_##name.relate(relation, entity);
#define DFTRACER_CPP_REGION_DYN_RELATE(name, relation, entity) profiler_##name->relate(relation, entity);

#endif
#endif
