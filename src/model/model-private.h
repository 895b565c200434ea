/*
 * model-private: shared by the parts of model/. Private to model/.
 */
#ifndef SONDE_MODEL_MODEL_PRIVATE_H
#define SONDE_MODEL_MODEL_PRIVATE_H

#include "base/arena.h"
#include "base/map.h"
#include "model/dimensions.h"
#include "model/lanes.h"
#include "model/run-model.h"
#include "store/run-dir.h"
#include "store/strings.h"

#define MODEL_TABLES_MAX 128

struct model_file {
	int64_t id, base, name;
	uint32_t order; /* of its row */
	uint32_t path;  /* 0: not built yet, MODEL_PATH_NONE: has none */
};

#define MODEL_PATH_NONE UINT32_MAX
#define MODEL_FILE_CACHE 1024u

struct model_files {
	struct model_file *files; /* sorted by id, one of each */
	size_t count, cap;
	struct map paths; /* text -> number: its index there, from 1 */
	uint64_t path_bytes;
	struct map known; /* (number of the base's path, name) -> number of the path */
	struct {
		int64_t id;
		uint32_t path;
	} cache[MODEL_FILE_CACHE];
};

struct model_run {
	struct store_run store;
	char *path;
	struct json_t *json;
	char trouble[256]; /* error in run.json, "" if none */
	struct model_table tables[MODEL_TABLES_MAX];
	size_t table_count;
	unsigned loaded; /* of enum model_dimension */
	struct store_names names;
	struct store_process *processes;
	size_t process_count;
	struct store_thread *threads;
	size_t thread_count;
	struct model_call *calls;
	uint32_t *call_index; /* by string id: number in calls, plus 1 */
	size_t call_index_count;
	struct model_files files;
	struct arena arena;
};

/* run-files.c */
int model_files_load(struct model_run *run, struct sonde_err *err);
void model_files_release(struct model_files *files);

/* lanes-fill.c: add the rows of a run to the lanes of a pyramid. */
int lanes_fill(struct pyramid_writer *w, struct model_run *run, const struct model_lanes_opts *opts,
		struct sonde_err *err);
/* A hash of the tables that the lanes are built from. */
uint64_t lanes_stamp(const struct model_run *run);

#endif
