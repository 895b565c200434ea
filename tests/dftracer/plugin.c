/* What a plugin does with files: through its own offset table. */
#include <fcntl.h>
#include <unistd.h>

int plugin_write(const char *path, int count);

__attribute__((visibility("default"))) int plugin_write(const char *path, int count)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < count; i++)
		if (write(fd, "x", 1) != 1)
			return 1;
	return close(fd);
}
