#include "sinks.h"

#include "base/fs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void sink_make(struct made_sink *s)
{
	memcpy(s->dir, "/tmp/sonde-sink.XXXXXX", sizeof("/tmp/sonde-sink.XXXXXX"));
	assert_non_null(mkdtemp(s->dir));
	s->fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(s->fd >= 0);
	assert_int_equal(store_sink_open(&s->sink, s->fd, NULL), 0);
}

size_t sink_rows(struct made_sink *s, enum store_table_id table, void *rows, size_t room)
{
	struct store_table *t;
	struct store_batch batch = STORE_BATCH_INIT;
	size_t count = 0, bytes = 8 * store_schemas[table]->count;
	assert_int_equal(store_sink_close(&s->sink, NULL), 0);
	if (store_table_open(&t, s->fd, store_schemas[table]->name, NULL))
		return 0;
	for (size_t b = 0; b < store_table_blocks(t); b++) {
		assert_int_equal(store_block_load(t, b, NULL, 0, &batch, NULL), 0);
		for (size_t i = 0; i < batch.rows && count < room; i++, count++)
			store_batch_row(&batch, i, (char *)rows + count * bytes);
	}
	store_batch_release(&batch);
	store_table_free(t);
	return count;
}

void sink_remove(struct made_sink *s)
{
	close(s->fd);
	fs_remove_tree(AT_FDCWD, s->dir);
}
