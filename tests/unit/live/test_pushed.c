/* pushed: a file in the way of the socket stays; a socket without a server is replaced. */
#include "../support.h"

#include "base/fs.h"
#include "live/push-receiver.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static void what_is_in_the_way(void **state)
{
	char dir[FS_TEMP_BYTES];
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct live_pushed *p = NULL;
	struct stat st;

	(void)state;
	assert_int_equal(fs_temp_dir(dir, "sonde-unit-pushed", NULL), 0);
	snprintf(at.sun_path, sizeof(at.sun_path), "%.80s/socket", dir);
	assert_int_equal(fs_replace_file(AT_FDCWD, at.sun_path, "precious", 8, NULL), 0);
	assert_int_not_equal(live_pushed_start(&p, at.sun_path, NULL), 0);
	assert_int_equal(stat(at.sun_path, &st), 0);
	assert_int_equal(st.st_size, 8);
	assert_int_equal(unlink(at.sun_path), 0);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	close(fd);
	assert_int_equal(live_pushed_start(&p, at.sun_path, NULL), 0);
	assert_int_equal(stat(at.sun_path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	live_pushed_free(p);
	fs_remove_tree(AT_FDCWD, dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_in_the_way),
	};

	return RUN_TESTS(tests);
}
