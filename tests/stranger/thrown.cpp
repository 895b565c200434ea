// Exceptions that pass through libc's frames and through whatever is between.
#include <cstdio>
#include <dirent.h>
#include <ftw.h>
#include <stdexcept>

static int on_file(const char *, const struct stat *, int, struct FTW *)
{
	throw std::runtime_error("nftw");
}

static int on_entry(const struct dirent *)
{
	throw std::runtime_error("scandir");
}

static ssize_t on_read(void *, char *, size_t)
{
	throw std::runtime_error("read");
}

static ssize_t on_write(void *, const char *, size_t)
{
	throw std::runtime_error("write");
}

static FILE *stream()
{
	cookie_io_functions_t functions{};
	functions.read = on_read;
	functions.write = on_write;
	FILE *made = fopencookie(nullptr, "r+", functions);
	setvbuf(made, nullptr, _IONBF, 0);
	return made;
}

template <typename Call> static void expect(const char *name, Call call)
{
	try {
		call();
		std::printf("%s: nothing was thrown\n", name);
	} catch (const std::runtime_error &e) {
		std::printf("%s: %s\n", name, e.what());
	}
}

int main()
{
	char buf[8];
	int number;
	struct dirent **entries;
	expect("nftw", [] { nftw("/etc", on_file, 4, 0); });
	expect("scandir", [&] { scandir("/etc", &entries, on_entry, nullptr); });
	expect("fread", [&] { return std::fread(buf, 1, sizeof(buf), stream()); });
	expect("fgets", [&] { return std::fgets(buf, sizeof(buf), stream()); });
	expect("getc", [] { return std::getc(stream()); });
	expect("fscanf", [&] { return std::fscanf(stream(), "%d", &number); });
	expect("fwrite", [] { return std::fwrite("abc", 1, 3, stream()); });
	expect("fprintf", [] { return std::fprintf(stream(), "%d", 3); });
	return 0;
}
