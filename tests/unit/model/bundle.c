/* Runs made by hand; see bundle.h. */
#include "bundle.h"

#include "base/fs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char bundle_json[] = "{\"sonde_run\":1,\"state\":\"complete\",\"name\":\"test\","
			   "\"clock\":{\"start_mono_ns\":1000,\"start_real_ns\":5}}";

void bundle_make(struct bundle *b)
{
	*b = (struct bundle){ .run = STORE_RUN_INIT };
	snprintf(b->dir, sizeof(b->dir), "/tmp/sonde-model-XXXXXX");
	assert_non_null(mkdtemp(b->dir));
	assert_int_equal(chdir(b->dir), 0);
	assert_int_equal(setenv("SONDE_RUNS", "runs", 1), 0);
	assert_int_equal(store_run_create(&b->run, NULL, "test", NULL), 0);
	assert_int_equal(store_sink_open(&b->sink, b->run.tablesfd, NULL), 0);
}

int64_t bundle_name(struct bundle *b, const char *text)
{
	return store_strings_of(&b->sink.strings, text);
}

void bundle_file(struct bundle *b, int64_t id, int64_t base, const char *name)
{
	struct store_file row = { .file = id, .base = base, .name = bundle_name(b, name) };

	store_sink_add(&b->sink, STORE_TABLE_FILE, &row);
}

struct model_run *bundle_open(struct bundle *b)
{
	struct buf text = BUF_INIT;
	struct model_run *run = NULL;

	assert_int_equal(store_sink_close(&b->sink, NULL), 0);
	buf_adds(&text, b->json ? b->json : bundle_json);
	assert_int_equal(fs_replace_file(b->run.dirfd, "run.json", text.data, text.len, NULL), 0);
	buf_release(&text);
	assert_int_equal(model_run_open(&run, NULL, NULL), 0);
	return run;
}

void bundle_remove(struct bundle *b, struct model_run *run)
{
	model_run_free(run);
	store_run_release(&b->run);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(fs_remove_tree(AT_FDCWD, b->dir), 0);
}
