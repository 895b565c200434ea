/* Compresses responses with ISA-L: a few hundred kilobytes take a millisecond. */
#include "serve/http-server-private.h"

#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>

#define LEVEL 1

int http_gzip(struct buf *out, const void *bytes, size_t n)
{
	struct isal_zstream *z = calloc(1, sizeof(*z) + ISAL_DEF_LVL1_DEFAULT);
	size_t room = n + n / 16 + 4096;
	char *at = n > UINT32_MAX / 2 ? NULL : buf_room(out, room);
	int rc = -ENOMEM;

	if (z && at) {
		isal_deflate_init(z);
		z->level = LEVEL;
		z->level_buf = (uint8_t *)(z + 1);
		z->level_buf_size = ISAL_DEF_LVL1_DEFAULT;
		z->gzip_flag = IGZIP_GZIP;
		z->end_of_stream = 1;
		z->next_in = (uint8_t *)(uintptr_t)bytes;
		z->avail_in = (uint32_t)n;
		z->next_out = (uint8_t *)at;
		z->avail_out = (uint32_t)room;
		if (isal_deflate(z) == COMP_OK && z->avail_in == 0 && z->internal_state.state == ZSTATE_END) {
			out->len += z->total_out;
			rc = 0;
		}
	}
	free(z);
	return rc;
}
