/* The profile of a session: medians over repeats, thresholds, recommended limits, its files, values of a run. */
#include "scratch.h"
#include "truth.h"

#include "session/profile.h"

#include <math.h>
#include <signal.h>

static struct session_profile profile;
static struct session_spec spec;

/* Three repeats: one value known of all, one of two, one of none. */
static void fill(void)
{
	spec = (struct session_spec){ .name = "a \"b\"",
		.sweep = { .over = "cpus", .metric = "m", .tolerance = 0.05 } };
	profile = (struct session_profile){ .spec = &spec };
	for (int i = 0; i < 3; i++) {
		static const double cpus[] = { 1, 4, 1.21 }, rss[] = { NAN, 3e6, 1e6 };

		profile.repeat_count++;
		snprintf(profile.repeats[i].run, sizeof(profile.repeats[i].run), "run%d", i);
		session_put(&profile, "cpus", "", "", "CPUs", cpus[i]);
		session_put(&profile, "max_rss_bytes", "", "", "Memory", rss[i]);
		session_put(&profile, "steps", "step", "a\"\\\nb", "Steps", NAN);
		session_put(&profile, "steps", "step", "c", "Steps", 10 * (i + 1));
	}
}

static void values_have_medians(void **state)
{
	struct stats_moments m;

	(void)state;
	fill();
	assert_int_equal(profile.value_count, 4);
	assert_true(session_metric(&profile, "cpus") == 1.21);
	assert_true(session_metric(&profile, "max_rss_bytes") == 2e6);
	assert_true(isnan(session_metric(&profile, "steps")));
	assert_true(session_metric(&profile, "steps.c") == 20);
	assert_true(isnan(session_metric(&profile, "steps.d")));
	assert_true(isnan(session_metric(&profile, "cpu")));
	assert_true(isnan(session_metric(&profile, "cpusx")));
	m = session_value_moments(&profile, &profile.values[1]);
	assert_int_equal(m.n, 2);
	assert_true(m.min == 1e6 && m.max == 3e6 && m.mean == 2e6);
	assert_int_equal(session_value_moments(&profile, &profile.values[2]).n, 0);
	assert_true(session_add(&profile, "cpus", "", "", "CPUs", 2) == 3.21);
	assert_true(session_add(&profile, "new", "l", "x", "New", 2) == 2);
	assert_true(isnan(profile.values[4].each[0]));
	assert_true(session_add(&profile, "new", "l", "x", "New", 3) == 5);
}

static void a_full_profile_counts_what_is_left_out(void **state)
{
	(void)state;
	profile = (struct session_profile){ .spec = &spec, .repeat_count = 1 };
	for (int i = 0; i < SESSION_VALUES_MAX; i++) {
		char of[16];

		snprintf(of, sizeof(of), "%d", i);
		session_put(&profile, "v", "l", of, "V", i);
	}
	assert_int_equal(profile.dropped_values, 0);
	session_put(&profile, "v", "l", "more", "V", 1);
	assert_true(session_add(&profile, "v", "l", "more", "V", 7) == 7);
	assert_int_equal(profile.dropped_values, 2);
	session_put(&profile, "v", "l", "511", "V", 8);
	assert_int_equal(profile.dropped_values, 2);
	assert_true(profile.values[511].each[0] == 8);
	assert_int_equal(profile.value_count, SESSION_VALUES_MAX);
}

static void repeats_fail(void **state)
{
	(void)state;
	fill();
	assert_false(session_failed(&profile));
	assert_false(session_repeat_failed(&(struct session_repeat){ .status = 0 }));
	assert_true(session_repeat_failed(&(struct session_repeat){ .status = 1 << 8 }));
	assert_true(session_repeat_failed(&(struct session_repeat){ .status = SIGTERM }));
	assert_false(session_repeat_failed(&(struct session_repeat){ .status = SIGTERM, .is_cut = true }));
	assert_true(session_repeat_failed(&(struct session_repeat){ .status = 0, .has_timed_out = true }));
	profile.repeats[2].status = 1 << 8;
	assert_true(session_failed(&profile));
	profile.repeat_count = 2;
	assert_false(session_failed(&profile));
}

static void thresholds_are_inclusive(void **state)
{
	struct session_breach breaches[SESSION_THRESHOLDS_MAX];

	(void)state;
	fill();
	spec.thresholds[0] = (struct session_threshold){ "cpus", 1.21, 1.21 };
	spec.thresholds[1] = (struct session_threshold){ "cpus", -INFINITY, 1.2 };
	spec.thresholds[2] = (struct session_threshold){ "steps.c", 21, INFINITY };
	spec.thresholds[3] = (struct session_threshold){ "unknown", -INFINITY, 5 };
	spec.thresholds[4] = (struct session_threshold){ "steps.c", 20, INFINITY };
	spec.threshold_count = 5;
	assert_int_equal(session_breaches(&profile, breaches), 3);
	assert_ptr_equal(breaches[0].threshold, &spec.thresholds[1]);
	assert_true(breaches[0].value == 1.21);
	assert_ptr_equal(breaches[1].threshold, &spec.thresholds[2]);
	assert_true(breaches[1].value == 20);
	assert_ptr_equal(breaches[2].threshold, &spec.thresholds[3]);
	assert_true(isnan(breaches[2].value));
}

static void limits_are_a_fifth_above(void **state)
{
	(void)state;
	fill();
	assert_true(fabs(session_recommended_cpus(&profile) - 4.8) < 1e-9);
	assert_true(session_recommended_memory_bytes(&profile) == 4 * 1048576.0);
	profile.values[1].each[1] = 5242000; /* 1.2 times almost 5 MiB is almost 6 MiB */
	assert_true(session_recommended_memory_bytes(&profile) == 6 * 1048576.0);
	profile.value_count = 0;
	assert_true(isnan(session_recommended_cpus(&profile)));
	assert_true(isnan(session_recommended_memory_bytes(&profile)));
}

static void the_least_good_point_is_recommended(void **state)
{
	static const struct session_point points[] = {
		{ .text = "8", .value = 8, .metric = 100 },
		{ .text = "4", .value = 4, .metric = 95 },
		{ .text = "2", .value = 2, .metric = 94.9 },
		{ .text = "1", .value = 1, .metric = 200, .has_failed = true },
		{ .text = "0", .value = 0, .metric = NAN },
	};

	(void)state;
	fill();
	assert_null(session_recommended_point(&profile));
	memcpy(profile.points, points, sizeof(points));
	profile.point_count = 5;
	assert_string_equal(session_recommended_point(&profile)->text, "4");
	spec.sweep.tolerance = 0;
	assert_string_equal(session_recommended_point(&profile)->text, "8");
	spec.sweep.tolerance = 0.2;
	assert_string_equal(session_recommended_point(&profile)->text, "2");
}

static void add_results(void)
{
	fill();
	spec.threshold_count = 2;
	spec.thresholds[0] = (struct session_threshold){ "cpus", 0, 1 };
	spec.thresholds[1] = (struct session_threshold){ "none", 3, INFINITY };
	profile.repeats[1].is_cut = true;
	profile.repeats[1].status = SIGINT;
	profile.repeats[2].status = 7 << 8;
	profile.point_count = 2;
	profile.points[0] = (struct session_point){ .text = "1", .value = 1, .metric = 10, .run = "p1" };
	profile.points[1] = (struct session_point){ .text = "2<",
		.value = 2,
		.metric = 40,
		.run = "p2",
		.has_failed = true };
	profile.dump_count = 2;
	profile.dumps[0] = (struct session_dump){ "tau", "TAU profiles", 1, 2, 3, "" };
	profile.dumps[1] = (struct session_dump){ "n&", "nsys reports", 2, 4, 5, "it is <cut>" };
	session_put(&profile, "tau_calls", "function", "main", "Calls", 6);
	session_put(&profile, "tau_seconds", "function", "main", "Time", 7);
	session_put(&profile, "tau_calls", "function", "work", "Calls", 8);
	profile.dropped_values = 4;
}

static void json_has_everything(void **state)
{
	struct buf out = BUF_INIT, squeezed = BUF_INIT;
	char path[] = "/x";

	(void)state;
	add_results();
	spec.dataset.source = "file:x";
	profile.dataset =
			(struct dataset_file){ .path = path, .sha256 = "00ff", .was_cached = true, .resumed_bytes = 9 };
	session_write_json(&out, &profile);
	for (const char *c = out.data; *c; c++)
		if (*c != '\n' && *c != ' ' && *c != '\t')
			buf_addc(&squeezed, *c);
	assert_string_equal(squeezed.data,
			"{\"sonde_profile\":1,\"name\":\"a\\\"b\\\"\",\"has_failed\":true,"
			"\"dataset\":{\"source\":\"file:x\",\"path\":\"/x\",\"sha256\":\"00ff\",\"was_cached\":true,"
			"\"resumed_bytes\":9},\"repeats\":["
			"{\"run\":\"run0\",\"exit_code\":0,\"is_cut\":false,\"has_timed_out\":false,"
			"\"has_failed\":false},"
			"{\"run\":\"run1\",\"signal\":2,\"is_cut\":true,\"has_timed_out\":false,\"has_failed\":false},"
			"{\"run\":\"run2\",\"exit_code\":7,\"is_cut\":false,\"has_timed_out\":false,"
			"\"has_failed\":true}],"
			"\"values\":["
			"{\"name\":\"cpus\",\"n\":3,\"min\":1,\"median\":1.21,\"mean\":2.07,\"max\":4,\"each\":[1,4,"
			"1.21]},"
			"{\"name\":\"max_rss_bytes\",\"n\":2,\"min\":1000000,\"median\":2000000,\"mean\":2000000,"
			"\"max\":3000000,"
			"\"each\":[null,3000000,1000000]},"
			"{\"name\":\"steps\",\"step\":\"a\\\"\\\\\\nb\",\"n\":0,\"min\":null,\"median\":null,"
			"\"mean\":null,"
			"\"max\":null,\"each\":[null,null,null]},"
			"{\"name\":\"steps\",\"step\":\"c\",\"n\":3,\"min\":10,\"median\":20,\"mean\":20,\"max\":30,"
			"\"each\":[10,20,30]},"
			"{\"name\":\"tau_calls\",\"function\":\"main\",\"n\":1,\"min\":6,\"median\":6,\"mean\":6,"
			"\"max\":6,"
			"\"each\":[null,null,6]},"
			"{\"name\":\"tau_seconds\",\"function\":\"main\",\"n\":1,\"min\":7,\"median\":7,\"mean\":7,"
			"\"max\":7,"
			"\"each\":[null,null,7]},"
			"{\"name\":\"tau_calls\",\"function\":\"work\",\"n\":1,\"min\":8,\"median\":8,\"mean\":8,"
			"\"max\":8,"
			"\"each\":[null,null,8]}],\"dropped_values\":4,\"dumps\":["
			"{\"repeat\":1,\"tool\":\"tau\",\"kind\":\"TAUprofiles\",\"files\":2,\"rows\":3,"
			"\"reason\":null},"
			"{\"repeat\":2,\"tool\":\"n&\",\"kind\":\"nsysreports\",\"files\":4,\"rows\":5,"
			"\"reason\":\"itis<cut>\"}],"
			"\"recommended\":{\"cpus\":4.8,\"memory_bytes\":4194304,"
			"\"basis\":\"themostofallrepeatsandafifth;"
			"memorybythelargestprocess,cpusbytheaverage\"},"
			"\"sweep\":{\"over\":\"cpus\",\"metric\":\"m\",\"points\":["
			"{\"value\":\"1\",\"metric\":10,\"has_failed\":false,\"run\":\"p1\"},"
			"{\"value\":\"2<\",\"metric\":40,\"has_failed\":true,\"run\":\"p2\"}],\"recommended\":\"1\","
			"\"basis\":\"theleastthatiswithinthetoleranceofthebest\",\"tolerance\":0.05},"
			"\"breaches\":[{\"metric\":\"cpus\",\"value\":1.21,\"min\":0,\"max\":1},"
			"{\"metric\":\"none\",\"value\":null,\"min\":3}]}");
	assert_true(out.data[out.len - 1] == '\n');
	spec.image = "i";
	profile = (struct session_profile){ .spec = &spec, .repeat_count = 1 };
	buf_reset(&out);
	session_write_json(&out, &profile);
	assert_non_null(strstr(out.data, "of the container: last reading"));
	assert_non_null(strstr(out.data, "\"memory_bytes\": null"));
	assert_null(strstr(out.data, "\"sweep\""));
	assert_null(strstr(out.data, "\"dataset\""));
	buf_release(&out);
	buf_release(&squeezed);
}

static void openmetrics_has_families(void **state)
{
	struct buf out = BUF_INIT;

	(void)state;
	fill();
	session_put(&profile, "other", "", "", "Other", 1);
	session_put(&profile, "steps", "step", "d", "Steps", 5);
	session_write_openmetrics(&out, &profile);
	assert_string_equal(out.data,
			"# TYPE sonde_session_cpus gauge\n# HELP sonde_session_cpus CPUs (median of the repeats).\n"
			"sonde_session_cpus{session=\"a \\\"b\\\"\"} 1.21\n"
			"# TYPE sonde_session_max_rss_bytes gauge\n"
			"# HELP sonde_session_max_rss_bytes Memory (median of the repeats).\n"
			"sonde_session_max_rss_bytes{session=\"a \\\"b\\\"\"} 2000000\n"
			"# TYPE sonde_session_steps gauge\n# HELP sonde_session_steps Steps (median of the repeats).\n"
			"sonde_session_steps{session=\"a \\\"b\\\"\",step=\"c\"} 20\n"
			"sonde_session_steps{session=\"a \\\"b\\\"\",step=\"d\"} 5\n"
			"# TYPE sonde_session_other gauge\n# HELP sonde_session_other Other (median of the repeats).\n"
			"sonde_session_other{session=\"a \\\"b\\\"\"} 1\n"
			"# EOF\n");
	buf_reset(&out);
	profile.values[2].each[0] = 3;
	session_write_openmetrics(&out, &profile);
	assert_non_null(strstr(out.data, "step=\"a\\\"\\\\\\nb\"} 3\n"));
	buf_release(&out);
}

static void csv_has_a_line_per_value(void **state)
{
	struct buf out = BUF_INIT;

	(void)state;
	fill();
	profile.repeat_count = 2;
	session_write_csv(&out, &profile);
	assert_string_equal(out.data,
			"repeat,name,of,value\n1,cpus,\"\",1\n1,max_rss_bytes,\"\",\n1,steps,\"a\"\"\\\nb\",\n1,"
			"steps,\"c\",10\n"
			"2,cpus,\"\",4\n2,max_rss_bytes,\"\",3000000\n2,steps,\"a\"\"\\\nb\",\n2,steps,\"c\",20\n");
	buf_release(&out);
}

static void expect_html(const struct buf *out, const char *part)
{
	if (!strstr(out->data, part))
		fail_msg("'%s' is not in:\n%s", part, out->data);
}

static void html_shows_the_same(void **state)
{
	struct buf out = BUF_INIT;

	(void)state;
	add_results();
	session_write_html(&out, &profile);
	expect_html(&out, "<title>a &quot;b&quot;</title>");
	expect_html(&out, "</h1><p>3 repeats, <span class=bad>failed</span></p>\n");
	expect_html(&out, "<p>Recommended limits: cpus 4.80, memory 4M</p>\n");
	expect_html(&out,
			"<p class=bad>Threshold breached: cpus is 1.21</p>\n<p class=bad>Threshold breached: none "
			"is nan</p>\n");
	expect_html(&out,
			"<h2>Sweep over cpus</h2><table>\n<tr class=best><td>1</td><td class=n>10</td>"
			"<td class=bar><div style=\"width:25.0%\"></div></td><td>recommended</td></tr>\n"
			"<tr><td>2&lt;</td><td class=n>40</td><td class=bar><div style=\"width:100.0%\"></div></td>"
			"<td>failed</td></tr>\n</table>\n");
	expect_html(&out,
			"<tr><td>cpus</td><td></td><td class=n>3</td><td class=n>1</td><td class=n>1.21</td>"
			"<td class=n>2.07</td><td class=n>4</td><td>CPUs</td></tr>\n");
	expect_html(&out,
			"<td class=n>0</td><td class=n>not measured</td><td class=n>not measured</td>"
			"<td class=n>not measured</td><td class=n>not measured</td><td>Steps</td></tr>\n");
	expect_html(&out,
			"</table>\n<p>Repeat 1, tau: TAU profiles, files 2, rows 3</p>\n"
			"<p>Repeat 2, n&amp;: nsys reports, files 4, rows 5; <span class=bad>incomplete: it is &lt;"
			"cut&gt;</span></p>\n");
	expect_html(&out,
			"<h2>By tools: function</h2><div class=wide><table><tr><th>function</th>"
			"<th class=n title=\"Calls\">tau_calls</th><th class=n title=\"Time\">tau_seconds</th></tr>\n"
			"<tr><td>main</td><td class=n>6</td><td class=n>7</td></tr>\n"
			"<tr><td>work</td><td class=n>8</td><td class=n>not measured</td></tr>\n</table></div>\n"
			"</html>\n");
	assert_null(strstr(out.data, "<tr><td>tau_calls"));
	buf_reset(&out);
	profile = (struct session_profile){ .spec = &spec, .repeat_count = 1 };
	spec.threshold_count = 0;
	session_write_html(&out, &profile);
	expect_html(&out, "</h1><p>1 repeat</p>\n<h2>Values</h2>");
	assert_null(strstr(out.data, "Recommended"));
	assert_null(strstr(out.data, "Sweep"));
	buf_release(&out);
}

static double each(const char *name, const char *of)
{
	for (size_t i = 0; i < profile.value_count; i++)
		if (strcmp(profile.values[i].name, name) == 0 && strcmp(profile.values[i].of, of) == 0)
			return profile.values[i].each[0];
	return NAN;
}

static void run_values(int64_t warm_up_ns)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct truth t;

	truth_start(&t);
	t.bundle.json = "{\"sonde_run\":1,\"state\":\"complete\",\"name\":\"test\",\"clock\":{\"start_mono_ns\":1000},"
			"\"usage\":{\"user_ns\":3000000000,\"system_ns\":1000000000,\"max_rss_bytes\":4096}}";
	for (int i = 0; i < 5; i++)
		truth_row(&t, "step", "ts_ns process pid tid name index", "%lld 1 10 10 epoch %d", T0 + i * S, i);
	truth_row(&t, "step", "ts_ns process pid tid name index", "%lld 1 10 10 once 0", T0 + 3 * S);
	truth_row(&t, "span", "ts_ns dur_ns process pid tid name", "%lld %lld 1 10 10 load", T0 + S, S);
	truth_row(&t, "span", "ts_ns dur_ns process pid tid name", "%lld %lld 1 10 10 load", T0 + 3 * S, 2 * S);
	truth_row(&t, "span", "ts_ns dur_ns process pid tid name", "%lld - 1 10 10 load", T0 + 4 * S);
	truth_open(&t);
	spec = (struct session_spec){ .name = "n", .warm_up_ns = warm_up_ns };
	profile = (struct session_profile){ .spec = &spec, .repeat_count = 1 };
	if (session_profile_add_run(&profile, model_run_path(t.run), 2 * S, &err) < 0)
		fail_msg("%s", err.text);
	truth_end(&t);
}

static void a_run_has_steps_and_phases(void **state)
{
	(void)state;
	run_values(0);
	assert_true(each("wall_seconds", "") == 2);
	assert_true(each("cpu_seconds", "") == 4);
	assert_true(each("cpus", "") == 2);
	assert_true(each("max_rss_bytes", "") == 4096);
	assert_true(each("steps", "epoch") == 5);
	assert_true(each("steps_per_second", "epoch") == 1);
	assert_true(each("steps", "once") == 1);
	assert_true(isnan(each("steps_per_second", "once")));
	assert_true(each("phase_count", "load") == 3);
	assert_true(each("phase_seconds", "load") == 3);
	assert_true(each("phase_mean_seconds", "load") == 1);
	assert_int_equal(profile.dropped_values, 0);
	run_values(2 * S);
	assert_true(each("steps", "epoch") == 3);
	assert_true(each("steps_per_second", "epoch") == 1);
	assert_true(each("phase_seconds", "load") == 2);
}

static void a_run_has_at_most_so_many_names(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct truth t;

	(void)state;
	truth_start(&t);
	for (int i = 0; i < 33; i++)
		truth_row(&t, "step", "ts_ns process pid tid name index", "%d 1 10 10 s%d 0", T0 + i, i);
	truth_row(&t, "step", "ts_ns process pid tid name index", "%d 1 10 10 s0 1", T0 + 100);
	truth_open(&t);
	spec = (struct session_spec){ .name = "n" };
	profile = (struct session_profile){ .spec = &spec, .repeat_count = 1 };
	assert_int_equal(session_profile_add_run(&profile, model_run_path(t.run), 0, &err), 0);
	assert_true(each("steps", "s0") == 2);
	assert_true(each("steps", "s31") == 1);
	assert_true(isnan(each("steps", "s32")));
	assert_true(isnan(each("cpus", "")));
	assert_true(isnan(each("max_rss_bytes", "")));
	assert_int_equal(profile.dropped_values, 1);
	truth_end(&t);
	assert_int_equal(session_profile_add_run(&profile, "/no/such/run", 0, &err), -ENOENT);
}

static uint64_t bits(double value)
{
	uint64_t out;

	memcpy(&out, &value, sizeof(out));
	return out;
}

/* A counter that starts at one second with 10, and has `total` at `end` seconds. */
static struct sonde_metric counter(double total, double end)
{
	struct sonde_metric m = { .name = "frames",
		.kind = SONDE_METRIC_COUNTER,
		.value = bits(total),
		.first_value = bits(10),
		.first_ticks = 1000000000,
		.ticks = (uint64_t)(end * 1e9),
		.rejected = 2 };

	return m;
}

static void boards_add_up(void **state)
{
	static struct live_board board;
	const struct live_clock clock = { .is_monotonic = true, .tick_s = 1e-9 };

	(void)state;
	spec = (struct session_spec){ .name = "n", .warm_up_ns = S };
	profile = (struct session_profile){ .spec = &spec, .repeat_count = 1 };
	board.metric_count = 5;
	board.histogram_count = 1;
	board.board.histograms[0] = (struct sonde_histogram){ .sum = bits(12), .count = 4 };
	board.board.metrics[0] = counter(50, 5);
	board.board.metrics[1] = (struct sonde_metric){ .name = "size",
		.kind = SONDE_METRIC_HISTOGRAM,
		.histogram = 1 };
	board.board.metrics[2] = (struct sonde_metric){ .name = "level",
		.kind = SONDE_METRIC_GAUGE,
		.value = bits(7),
		.count = 1 };
	board.board.metrics[3] = (struct sonde_metric){ .name = "unset", .kind = SONDE_METRIC_GAUGE, .value = bits(7) };
	session_profile_add_board(&profile, &board, &clock);
	assert_true(each("metric_total", "frames") == 50);
	assert_true(each("metric_per_second", "frames") == 10); /* 40 in 4 seconds: the first starts the interval */
	assert_true(each("metric_rejected", "frames") == 2);
	assert_true(each("metric_mean", "size") == 3);
	assert_true(each("metric_sum", "size") == 12);
	assert_true(each("metric_count", "size") == 4);
	assert_true(each("metric_last", "level") == 7);
	assert_true(isnan(each("metric_last", "unset")));
	session_profile_add_board(&profile, &board, &clock);
	assert_true(each("metric_total", "frames") == 100);
	assert_true(each("metric_rejected", "frames") == 4);
	assert_true(each("metric_sum", "size") == 24);
	assert_true(each("metric_mean", "size") == 3);
	/* From the end of the warm-up: 20 of 50 were before it. */
	profile = (struct session_profile){ .spec = &spec, .repeat_count = 1 };
	board.board.metrics[0] = counter(20, 2);
	session_profile_mark_board(&profile, &board, &clock, 3);
	board.board.metrics[0] = counter(50, 5);
	session_profile_add_board(&profile, &board, &clock);
	assert_true(each("metric_per_second", "frames") == 15);
	/* The next repeat starts from nothing. */
	profile.repeat_count = 2;
	session_profile_add_board(&profile, &board, &clock);
	assert_true(each("metric_per_second", "frames") == 15);
	for (size_t i = 0; i < profile.value_count; i++)
		if (strcmp(profile.values[i].name, "metric_per_second") == 0)
			assert_true(profile.values[i].each[1] == 10);
}

/* A rate that started in the warm-up and was not marked at its end is not known. */
static void cold_rates_are_dropped(void **state)
{
	static struct live_board board;
	const struct live_clock clock = { .is_monotonic = true, .tick_s = 1e-9 };
	struct sonde_err err = SONDE_ERR_INIT;
	struct truth t;

	(void)state;
	truth_start(&t);
	truth_open(&t);
	spec = (struct session_spec){ .name = "n", .warm_up_ns = 2 * S };
	profile = (struct session_profile){ .spec = &spec, .repeat_count = 1 };
	board.metric_count = 2;
	board.board.metrics[0] = counter(50, 5);
	board.board.metrics[1] = counter(50, 5);
	snprintf(board.board.metrics[1].name, sizeof(board.board.metrics[1].name), "late");
	board.board.metrics[1].first_ticks = 3000000000;
	session_profile_add_board(&profile, &board, &clock);
	assert_true(each("metric_per_second", "frames") == 10);
	assert_int_equal(session_profile_add_run(&profile, model_run_path(t.run), S, &err), 0);
	assert_true(isnan(each("metric_per_second", "frames")));
	assert_true(each("metric_per_second", "late") == 20);
	truth_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_have_medians),
		cmocka_unit_test(a_full_profile_counts_what_is_left_out),
		cmocka_unit_test(repeats_fail),
		cmocka_unit_test(thresholds_are_inclusive),
		cmocka_unit_test(limits_are_a_fifth_above),
		cmocka_unit_test(the_least_good_point_is_recommended),
		cmocka_unit_test(json_has_everything),
		cmocka_unit_test(openmetrics_has_families),
		cmocka_unit_test(csv_has_a_line_per_value),
		cmocka_unit_test(html_shows_the_same),
		cmocka_unit_test(a_run_has_steps_and_phases),
		cmocka_unit_test(a_run_has_at_most_so_many_names),
		cmocka_unit_test(boards_add_up),
		cmocka_unit_test(cold_rates_are_dropped),
	};

	return RUN_TESTS(tests);
}
