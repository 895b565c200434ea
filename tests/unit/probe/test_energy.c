/* Energy meters: zones by their names, an overflow is no loss, and no meter is a reason. */
#include "sinks.h"

#include "probe/proc/energy.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void put(const struct made_sink *s, const char *path, const char *text)
{
	int fd = openat(s->fd, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void take_away(const struct made_sink *s, const char *zone)
{
	static const char *const files[] = { "name", "energy_uj", "max_energy_range_uj" };
	char path[96];
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", zone, files[i]);
		unlinkat(s->fd, path, 0);
	}
	unlinkat(s->fd, zone, AT_REMOVEDIR);
}

static void zones(void **state)
{
	struct made_sink sink;
	struct energy e;
	struct sonde_err err = SONDE_ERR_INIT;
	sink_make(&sink);
	struct counters c = { .sink = &sink.sink, .now_ns = 1000 };
	mkdirat(sink.fd, "intel-rapl", 0700);
	mkdirat(sink.fd, "intel-rapl:0", 0700);
	mkdirat(sink.fd, "intel-rapl:0:1", 0700);
	put(&sink, "intel-rapl:0/name", "package-0\n");
	put(&sink, "intel-rapl:0/energy_uj", "9000000\n");
	put(&sink, "intel-rapl:0/max_energy_range_uj", "10000000\n");
	put(&sink, "intel-rapl:0:1/name", "dram\n");
	put(&sink, "intel-rapl:0:1/energy_uj", "5\n");
	assert_int_equal(energy_open(&e, sink.dir, &err), 0);
	assert_int_equal(e.count, 2);
	energy_read(&e, &c);
	put(&sink, "intel-rapl:0/energy_uj", "9500000\n");
	c.now_ns += 1000;
	energy_read(&e, &c);
	put(&sink, "intel-rapl:0/energy_uj", "250000\n"); /* it was full meanwhile */
	c.now_ns += 1000;
	energy_read(&e, &c);
	for (size_t i = 0; i < 2; i++) {
		bool is_package = !strcmp(e.zones[i].name, "energy.package-0_joules");
		assert_true(is_package || !strcmp(e.zones[i].name, "energy.package-0.dram_joules"));
		assert_true(e.zones[i].counter.last == (is_package ? 1.25 : 0));
	}
	energy_close(&e, &c);
	counters_release(&c);
	take_away(&sink, "intel-rapl:0");
	take_away(&sink, "intel-rapl:0:1");
	take_away(&sink, "intel-rapl");
	assert_int_equal(store_sink_close(&sink.sink, NULL), 0);
	sink_remove(&sink);
}

static void none(void **state)
{
	struct energy e;
	struct sonde_err err = SONDE_ERR_INIT;
	assert_true(energy_open(&e, "/nonexistent", &err) < 0);
	assert_non_null(strstr(err.text, "does not meter"));
	assert_int_equal(e.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zones),
		cmocka_unit_test(none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
