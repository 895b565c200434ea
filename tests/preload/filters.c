/* What filters.sh looks at: files in two directories, under numbers that come back. */
#include <fcntl.h>
#include <unistd.h>

static void look(const char *path)
{
	char buf[2];
	int fd = open(path, O_RDONLY);
	if (read(fd, buf, 2) == 2)
		close(fd);
}

int main(void)
{
	char buf[2];
	look("in/a");
	int fd = open("in/b", O_RDONLY);
	if (read(fd, buf, 2) != 2)
		return 1;
	int other = dup(fd);
	if (read(other, buf, 2) != 2)
		return 1;
	close(other);
	close(fd);
	if (chdir("out"))
		return 1;
	look("a");
	look("../in/a");
	return 0;
}
