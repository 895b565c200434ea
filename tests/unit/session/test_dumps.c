/* Output of other tools in a run: TAU, nsys, tegrastats; whole files, cut ones, and none. */
#include "scratch.h"

#include "session/dumps.h"

#include <math.h>
#include <sqlite3.h>

static struct session_profile profile;
static struct session_spec spec;

/* Reads what lies in run/tools/tool. */
static void read_dumps(void)
{
	spec.tools[0] = (struct companion_spec){ .name = "tool" };
	spec.tool_count = 1;
	profile = (struct session_profile){ .spec = &spec, .repeat_count = 1 };
	session_dumps_read(&profile, "run");
}

static double value(const char *name, const char *of)
{
	for (size_t i = 0; i < profile.value_count; i++)
		if (strcmp(profile.values[i].name, name) == 0 && strcmp(profile.values[i].of, of) == 0)
			return profile.values[i].each[0];
	return NAN;
}

static void expect(const char *name, const char *of, double expected)
{
	double is = value(name, of);

	if (!(fabs(is - expected) <= 1e-12 * fabs(expected)))
		fail_msg("%s of '%s' is %.17g, expected %.17g", name, of, is, expected);
}

static void expect_dump(const char *kind, uint64_t files, uint64_t rows, const char *reason)
{
	assert_int_equal(profile.dump_count, 1);
	assert_string_equal(profile.dumps[0].tool, "tool");
	assert_string_equal(profile.dumps[0].kind, kind);
	assert_int_equal(profile.dumps[0].repeat, 1);
	assert_int_equal(profile.dumps[0].files, files);
	assert_int_equal(profile.dumps[0].rows, rows);
	assert_string_equal(profile.dumps[0].reason, reason);
}

static int set_up(void **state)
{
	struct sonde_err err;

	scratch_make(state);
	assert_int_equal(fs_mkdir_p("run/tools/tool/MULTI__A", 0700, &err), 0);
	assert_int_equal(fs_mkdir_p("run/tools/tool/MULTI__B", 0700, &err), 0);
	return 0;
}

#define TAU_HEAD "# Name Calls Subrs Excl Incl ProfileCalls # <metadata></metadata>\n"

static void tau_threads_add_up(void **state)
{
	(void)state;
	scratch_write("run/tools/tool/profile.0.0.0",
			"3 templated_functions_MULTI_TIME\n" TAU_HEAD
			"\"main \" 1 2 1000000 5000000 0 GROUP=\"TAU_USER|IO\"\n"
			"\"main => work\" 2 0 100 200 0 GROUP=\"TAU_CALLPATH|TAU_USER\"\n"
			"\"say \"hi\"\" 3 0 500000 500000 2 GROUP=\"TAU_USER\"\nmore\nmore\n"
			"1 aggregates\nan aggregate\n"
			"2 userevents\n# eventname numevents max min mean sumsqr\n"
			"\"Bytes\" 2 10 4 7 0\n\"None\" 0 0 0 0 0\n");
	scratch_write("run/tools/tool/profile.1.0.12",
			"1 templated_functions_MULTI_TIME\n" TAU_HEAD
			"\"main\" 4 1 250000 750000 0 GROUP=\"TAU_USER\"\n"
			"0 aggregates\n1 userevents\n# head\n\"Bytes\" 6 8 1 3 0\n");
	scratch_write("run/tools/tool/profile.1.0", "not a profile");
	scratch_write("run/tools/tool/profile.1.0.2x", "not a profile");
	read_dumps();
	expect_dump("TAU profiles", 2, 6, "");
	expect("tau_calls", "main", 5);
	expect("tau_subroutines", "main", 3);
	expect("tau_exclusive_seconds", "main", 1.25);
	expect("tau_inclusive_seconds", "main", 5.75);
	expect("tau_calls", "say \"hi\"", 3);
	expect("tau_group_seconds", "TAU_USER", 1.75);
	expect("tau_group_seconds", "IO", 1);
	expect("tau_event_count", "Bytes", 8);
	expect("tau_event_min", "Bytes", 1);
	expect("tau_event_max", "Bytes", 10);
	expect("tau_event_mean", "Bytes", 4);
	assert_true(isnan(value("tau_calls", "main => work")));
	assert_true(isnan(value("tau_event_count", "None")));
	assert_true(session_value_is_dumped(&profile.values[0]));
}

static void tau_metrics_are_apart(void **state)
{
	static const char text[] = "1 templated_functions_MULTI_%s\n" TAU_HEAD "\"main\" 1 0 10 20 0 GROUP=\"G\"\n"
				   "0 aggregates\n1 userevents\n# head\n\"E\" 1 5 5 5 25\n";
	char out[512];

	(void)state;
	snprintf(out, sizeof(out), text, "PAPI_X");
	scratch_write("run/tools/tool/MULTI__A/profile.0.0.0", out);
	snprintf(out, sizeof(out), text, "GET_TIME_OF_DAY");
	scratch_write("run/tools/tool/MULTI__B/profile.0.0.0", out);
	read_dumps();
	expect_dump("TAU profiles", 2, 3, "");
	expect("tau_exclusive", "PAPI_X main", 10);
	expect("tau_inclusive", "PAPI_X main", 20);
	expect("tau_exclusive_seconds", "main", 10e-6);
	expect("tau_group_seconds", "G", 10e-6);
	expect("tau_event_count", "E", 1); /* it is in the files of both metrics */
	assert_true(isnan(value("tau_calls", "PAPI_X main")));
}

static void tau_largest_come_first(void **state)
{
	char text[8192] = "25 templated_functions\n" TAU_HEAD;
	char name[SESSION_LABEL_BYTES * 2] = "";

	(void)state;
	for (int i = 0; i < 24; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "\"f%d\" 1 0 %d 0 0 GROUP=\"\"\n", i,
				1000 * i);
	memset(name, 'x', SESSION_LABEL_BYTES + 10);
	snprintf(text + strlen(text), sizeof(text) - strlen(text),
			"\"a%sz\" 1 0 1000000 0 0 GROUP=\"\"\n0 aggregates\n", name);
	scratch_write("run/tools/tool/profile.0.0.0", text);
	read_dumps();
	expect_dump("TAU profiles", 1, 25, "");
	expect("tau_exclusive_seconds", "f23", 0.023);
	expect("tau_exclusive_seconds", "f5", 0.005);
	assert_true(isnan(value("tau_exclusive_seconds", "f4")));
	assert_int_equal(strlen(profile.values[0].of), 2 * (SESSION_LABEL_BYTES / 2 - 3) + 3);
	assert_non_null(strstr(profile.values[0].of, "x...x"));
	assert_int_equal(profile.values[0].of[0], 'a');
	assert_int_equal(profile.values[0].of[strlen(profile.values[0].of) - 1], 'z');
	assert_string_equal(profile.values[4].of, "f23");
}

/* Each prefix of a profile, cut at a line, is refused, and so is text that is none. */
static void tau_cut_files_have_a_reason(void **state)
{
	static const char *const wrong[] = { "", "x", "x templated_functions\n", "1 other\n", "1 templated_functions",
		"1 templated_functions\n" TAU_HEAD, "1 templated_functions\n" TAU_HEAD "\"f\" 1 2 3\n",
		"1 templated_functions\n" TAU_HEAD "f 1 2 3 4 0\n",
		"1 templated_functions\n" TAU_HEAD "\"f\" 1 2 3 4 1\n",
		"1 templated_functions\n" TAU_HEAD "\"f\" 1 2 3 4 0\n",
		"1 templated_functions\n" TAU_HEAD "\"f\" 1 2 3 4 0\n1 aggregates\n",
		"0 templated_functions\n" TAU_HEAD "0 aggregates\n2 userevents\n# head\n\"E\" 1 2 3 4 5\n",
		"0 templated_functions\n" TAU_HEAD "0 aggregates\n1 userevents\n# head\n\"E\" 1 2 3\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		scratch_write("run/tools/tool/profile.0.0.0", wrong[i]);
		read_dumps();
		assert_int_equal(profile.dump_count, 1);
		assert_string_equal(profile.dumps[0].reason, "'profile.0.0.0' is not a TAU profile, or is truncated");
	}
	scratch_write("run/tools/tool/profile.0.0.0",
			"0 templated_functions\n" TAU_HEAD "0 aggregates\n0 userevents\n");
	read_dumps();
	expect_dump("TAU profiles", 1, 0, "");
}

static void make_database(const char *path, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void nsys_tables_are_summed(void **state)
{
	(void)state;
	make_database("run/tools/tool/report.sqlite",
			"CREATE TABLE StringIds(id INTEGER, value TEXT);"
			"INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunch');"
			"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, \"end\" INTEGER, demangledName "
			"INTEGER);"
			"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 1000000000, 1), (5, 500000005, 1), (7, "
			"17, 9);"
			"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, \"end\" INTEGER, bytes INTEGER, "
			"copyKind INTEGER);"
			"INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (0, 4, 100, 1), (0, 6, 50, 1), (0, 1, 7, 77);"
			"CREATE TABLE NVTX_EVENTS(start INTEGER, \"end\" INTEGER, text TEXT, textId INTEGER);"
			"INSERT INTO NVTX_EVENTS VALUES (0, 2000000000, 'step', NULL), (5, 5, 'mark', NULL), (1, 3, "
			"NULL, 2);");
	read_dumps();
	expect_dump("nsys reports", 1, 8, "");
	expect("nsys_kernel_count", "gemm", 2);
	expect("nsys_kernel_seconds", "gemm", 1.5);
	expect("nsys_kernel_count", "9", 1);
	expect("nsys_copy_count", "host-to-device", 2);
	expect("nsys_copy_seconds", "host-to-device", 10e-9);
	expect("nsys_copy_bytes", "host-to-device", 150);
	expect("nsys_copy_bytes", "copy kind 77", 7);
	expect("nsys_range_seconds", "step", 2);
	expect("nsys_range_count", "cudaLaunch", 1);
	assert_true(isnan(value("nsys_range_count", "mark")));
	assert_true(session_value_is_dumped(&profile.values[0]));
	/* A report and its export are one file, and two exports add up. */
	scratch_write("run/tools/tool/report.nsys-rep", "x");
	make_database("run/tools/tool/more.sqlite",
			"CREATE TABLE StringIds(id INTEGER, value TEXT);"
			"CREATE TABLE OSRT_API(start INTEGER, \"end\" INTEGER, nameId INTEGER);"
			"INSERT INTO OSRT_API VALUES (0, 3000000000, 5);"
			"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, \"end\" INTEGER, bytes INTEGER, "
			"copyKind INTEGER);"
			"INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (0, 4, 100, 1)");
	read_dumps();
	expect_dump("nsys reports", 2, 10, "");
	expect("nsys_copy_bytes", "host-to-device", 250);
	expect("nsys_os_seconds", "5", 3);
}

static void nsys_trouble_has_a_reason(void **state)
{
	(void)state;
	scratch_write("run/tools/tool/report.sqlite",
			"this is no database, whatever its name, and it is long enough for a header");
	read_dumps();
	expect_dump("nsys reports", 1, 0, "'report.sqlite' is not an nsys export: file is not a database");
	unlink("run/tools/tool/report.sqlite");
	make_database("run/tools/tool/report.sqlite", "CREATE TABLE t(a)");
	read_dumps();
	expect_dump("nsys reports", 1, 0, "no nsys tables in 'report.sqlite'");
	make_database("run/tools/tool/report.sqlite",
			"CREATE TABLE StringIds(id, value); CREATE TABLE OSRT_API(start)");
	read_dumps();
	assert_non_null(strstr(profile.dumps[0].reason, "'report.sqlite' is not an nsys export: no such column: "));
	unlink("run/tools/tool/report.sqlite");
	scratch_write("run/tools/tool/other.qdrep", "x");
	setenv("PATH", "/nowhere", 1);
	read_dumps();
	setenv("PATH", "/usr/bin:/bin", 1);
	expect_dump("nsys reports", 1, 0,
			"'other.qdrep' was kept unread: nsys export failed (nsys export --type sqlite other.qdrep)");
}

static void tegrastats_series(void **state)
{
	(void)state;
	scratch_write("run/tools/tool/tegrastats.log",
			"RAM 1000/2000MB CPU [10%@100,off,30%@100] GR3D_FREQ 50% CPU@41.5C VDD_IN 2000mW/2000mW\n"
			"nothing here\n"
			"RAM 3000/2000MB CPU [40%@100,off,40%@100] GR3D_FREQ 0% CPU@40.5C VDD_IN 4000mW/3000mW");
	scratch_write("run/tools/tool/tegrastats.txt", "RAM 1/2MB\n");
	scratch_write("run/tools/tool/other.log", "RAM 1/2MB\n");
	read_dumps();
	expect_dump("tegrastats logs", 1, 2, "");
	expect("tegrastats_mean", "ram_used_bytes", 2000.0 * 1048576);
	expect("tegrastats_max", "ram_used_bytes", 3000.0 * 1048576);
	expect("tegrastats_mean", "cpu_busy_ratio", 0.3);
	expect("tegrastats_max", "busy_ratio GR3D", 0.5);
	expect("tegrastats_mean", "busy_ratio GR3D", 0.25);
	expect("tegrastats_max", "temperature_celsius CPU", 41.5);
	expect("tegrastats_mean", "power_watts VDD_IN", 3);
	assert_true(session_value_is_dumped(&profile.values[0]));
	assert_true(strncmp(scratch_read("run/tools/tool/tegrastats.log.csv"),
				    "line,series,value\n1,ram_used_bytes,1048576000\n", 45) == 0);
	assert_non_null(strstr(scratch_read("run/tools/tool/tegrastats.log.csv"), "\n3,power_watts VDD_IN,4\n"));
	scratch_write("run/tools/tool/tegrastats.log", "\n\n");
	read_dumps();
	expect_dump("tegrastats logs", 1, 0, "no lines of tegrastats in 'tegrastats.log'");
}

/* No tool, no files, hidden files, links and what is too deep. */
static void other_files_are_left(void **state)
{
	struct sonde_err err;

	(void)state;
	read_dumps();
	assert_int_equal(profile.dump_count, 0);
	assert_int_equal(profile.value_count, 0);
	scratch_write("run/tools/tool/.tegrastats.log", "RAM 1/2MB\n");
	scratch_write("real", "RAM 1/2MB\n");
	assert_int_equal(symlink("../../../real", "run/tools/tool/tegrastats.log"), 0);
	assert_int_equal(fs_mkdir_p("run/tools/tool/1/2/3/4", 0700, &err), 0);
	scratch_write("run/tools/tool/1/2/3/4/tegrastats.log", "RAM 1/2MB\n");
	read_dumps();
	assert_int_equal(profile.dump_count, 0);
	scratch_write("run/tools/tool/1/2/3/tegrastats.log", "RAM 1/2MB\n");
	read_dumps();
	expect_dump("tegrastats logs", 1, 1, "");
}

#define WITH_FILES(f) cmocka_unit_test_setup_teardown(f, set_up, scratch_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILES(tau_threads_add_up),
		WITH_FILES(tau_metrics_are_apart),
		WITH_FILES(tau_largest_come_first),
		WITH_FILES(tau_cut_files_have_a_reason),
		WITH_FILES(nsys_tables_are_summed),
		WITH_FILES(nsys_trouble_has_a_reason),
		WITH_FILES(tegrastats_series),
		WITH_FILES(other_files_are_left),
	};

	return RUN_TESTS(tests);
}
