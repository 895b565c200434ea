/*
 * bytes FILE: moves the bytes of FILE by calls of many kinds, each a known number of times. Prints what it read and
 * wrote by its own count, for the files FILE, lines, copied, sent and spliced.
 */
#include <fcntl.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

static uint64_t read_bytes, line_bytes;

static void read_lines(const char *path)
{
	char line[64];
	fpos_t at;
	FILE *f = fopen(path, "r");
	while (fgets(line, sizeof(line), f))
		read_bytes += strlen(line);
	for (int i = 0; i < 1000; i++)
		fgetpos(f, &at); /* no read */
	fclose(f);
}

/* The file ends within the last item. */
static void read_items(const char *path)
{
	static char item[5000];
	char *line = NULL;
	size_t room = 0;
	FILE *f = fopen(path, "r");
	read_bytes += (uint64_t)getline(&line, &room, f);
	while (fread(item, sizeof(item), 1, f) == 1)
		;
	read_bytes += (uint64_t)(ftell(f) - (long)strlen(line));
	free(line);
	fclose(f);
}

static void write_lines(void)
{
	FILE *f = fopen("lines", "w");
	for (int i = 0; i < 100; i++) {
		line_bytes += (uint64_t)fprintf(f, "%099d\n", i);
		line_bytes += 2 * (uint64_t)(fputs("xy", f) >= 0);
	}
	fclose(f);
}

static void copy(const char *path, const char *to, int how)
{
	int fd = open(path, O_RDONLY), target = open(to, O_CREAT | O_WRONLY | O_TRUNC, 0600), ends[2];
	ssize_t n;
	if (pipe(ends))
		exit(1);
	do {
		n = how == 0               ? copy_file_range(fd, NULL, target, NULL, 1 << 20, 0)
				: how == 1 ? sendfile(target, fd, NULL, 1 << 16)
					   : splice(fd, NULL, ends[1], NULL, 1 << 12, 0);
		if (how == 2 && n > 0 && splice(ends[0], NULL, target, NULL, (size_t)n, 0) != n)
			exit(1);
		read_bytes += n > 0 ? (uint64_t)n : 0;
	} while (n > 0);
	close(fd);
	close(target);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	read_lines(argv[1]);
	read_items(argv[1]);
	write_lines();
	for (int i = 0; i < 50; i++)
		getpwnam("root"); /* no read of this program's */
	copy(argv[1], "copied", 0);
	copy(argv[1], "sent", 1);
	copy(argv[1], "spliced", 2);
	printf("%llu %llu\n", (unsigned long long)read_bytes, (unsigned long long)line_bytes);
	return 0;
}
