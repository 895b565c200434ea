/*
 * The fold of a fleet's events: leases, epochs, ends, the finish rule.
 */
#include "../support.h"

#include "fleet/job-state.h"

#include <stdio.h>
#include <string.h>

#define SUBMIT \
	"{\"event\":\"submit\",\"name\":\"n\",\"cwd\":\"/" \
	"\",\"argv\":[\"x\",\"y\"],\"env\":[],\"target_loss\":0.5,\"window\":2}"
#define CLAIM "{\"event\":\"claim\",\"agent\":\"a\"}"

static struct fleet_jobs jobs_state;
static uint64_t sequence;

static int setup(void **state)
{
	fleet_jobs_init(&jobs_state);
	sequence = 0;
	return 0;
}

static int teardown(void **state)
{
	fleet_jobs_release(&jobs_state);
	return 0;
}

static int apply(const char *text)
{
	return fleet_jobs_apply(&jobs_state, "j", ++sequence, text, strlen(text));
}

static struct fleet_job *job(void)
{
	return fleet_jobs_find(&jobs_state, "j");
}

static void a_job_from_start_to_end(void **state)
{
	assert_int_equal(apply(SUBMIT), 1);
	assert_int_equal(job()->state, FLEET_SUBMITTED);
	assert_string_equal(job()->argv[1], "y");
	assert_null(job()->argv[2]);
	assert_int_equal(apply("{\"event\":\"queue\"}"), 1);
	assert_int_equal(apply(CLAIM), 1);
	assert_int_equal(job()->state, FLEET_RUNNING);
	assert_int_equal(job()->epoch, 3);
	assert_int_equal(apply("{\"event\":\"end\",\"epoch\":3,\"exit_code\":0}"), 1);
	assert_int_equal(job()->state, FLEET_DONE);
	assert_int_equal(job()->refused, 0);
}

static void a_lost_lease_is_refused(void **state)
{
	apply(SUBMIT);
	apply(CLAIM); /* epoch 2 */
	apply(CLAIM); /* epoch 3 */
	assert_int_equal(job()->attempts, 2);
	assert_int_equal(apply("{\"event\":\"end\",\"epoch\":2,\"exit_code\":1}"), 0);
	assert_int_equal(apply("{\"event\":\"report\",\"epoch\":2,\"rows\":[[1,0.1,1]]}"), 0);
	assert_int_equal(job()->state, FLEET_RUNNING);
	assert_int_equal(job()->report_count, 0);
	assert_int_equal(apply("{\"event\":\"end\",\"epoch\":3,\"exit_code\":0}"), 1);
	assert_int_equal(job()->refused, 2);
}

static void an_end_is_final(void **state)
{
	apply(SUBMIT);
	apply(CLAIM);
	apply("{\"event\":\"end\",\"epoch\":2,\"exit_code\":4}");
	assert_int_equal(job()->state, FLEET_FAILED);
	assert_int_equal(apply("{\"event\":\"end\",\"epoch\":2,\"exit_code\":0}"), 0);
	assert_int_equal(apply(CLAIM), 0);
	assert_int_equal(apply("{\"event\":\"stop\",\"why\":\"cancel\"}"), 0);
	assert_int_equal(apply(SUBMIT), 0);
	assert_int_equal(job()->state, FLEET_FAILED);
	assert_int_equal(job()->exit_code, 4);
	assert_int_equal(job()->epoch, 2);
	assert_int_equal(jobs_state.count, 1);
}

static void cancelled_before_and_while_it_runs(void **state)
{
	apply(SUBMIT);
	assert_int_equal(apply("{\"event\":\"stop\",\"why\":\"cancel\"}"), 1);
	assert_int_equal(job()->state, FLEET_CANCELLED);
	assert_int_equal(apply(CLAIM), 0);
	fleet_jobs_release(&jobs_state);
	sequence = 0;
	apply(SUBMIT);
	apply(CLAIM);
	apply("{\"event\":\"stop\",\"why\":\"target\"}");
	apply("{\"event\":\"stop\",\"why\":\"cancel\"}");
	assert_int_equal(job()->state, FLEET_RUNNING);
	apply("{\"event\":\"end\",\"epoch\":2,\"exit_code\":143}");
	assert_int_equal(job()->state, FLEET_CANCELLED);
}

static void the_target_is_a_moving_average(void **state)
{
	apply(SUBMIT);
	apply(CLAIM);
	apply("{\"event\":\"report\",\"epoch\":2,\"rows\":[[1,0.1,1]]}");
	assert_false(fleet_job_has_reached(job())); /* one of two */
	apply("{\"event\":\"report\",\"epoch\":2,\"rows\":[[2,1.0,2]]}");
	assert_false(fleet_job_has_reached(job())); /* 0.55 */
	apply("{\"event\":\"report\",\"epoch\":2,\"rows\":[[3,0.0,3]]}");
	assert_true(fleet_job_has_reached(job())); /* 0.5 */
	apply("{\"event\":\"report\",\"epoch\":2,\"rows\":[[4,null,4]]}");
	assert_false(fleet_job_has_reached(job())); /* not a number */
	apply("{\"event\":\"report\",\"epoch\":2,\"rows\":[[5,0.2,5],[6,0.2,6]]}");
	assert_true(fleet_job_has_reached(job()));
	apply(CLAIM); /* a new lease has reported nothing */
	assert_false(fleet_job_has_reached(job()));
}

static void what_is_malformed_is_refused(void **state)
{
	static const char *const texts[] = { "", "{", "[]", "null", "{}", "{\"event\":1}", "{\"event\":\"end\"}",
		"{\"event\":\"end\",\"epoch\":-1}", "{\"event\":\"claim\"}", "{\"event\":\"stop\",\"why\":7}",
		"{\"event\":\"report\",\"epoch\":\"x\",\"rows\":9}", "{\"event\":\"nonsense\"}" };

	assert_int_equal(apply("{\"event\":\"submit\",\"argv\":[],\"env\":[],\"name\":\"n\",\"cwd\":\"/\"}"), 0);
	assert_int_equal(apply("{\"event\":\"submit\",\"argv\":[1],\"env\":[],\"name\":\"n\",\"cwd\":\"/\"}"), 0);
	assert_null(job());
	apply(SUBMIT);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(apply(texts[i]), 0);
	assert_int_equal(job()->state, FLEET_SUBMITTED);
}

static void queued_later_than_claimed(void **state)
{
	apply(SUBMIT);
	apply("{\"event\":\"claim\",\"agent\":\"a\",\"message\":7}");
	assert_int_equal(apply("{\"event\":\"queue\"}"), 0);
	assert_int_equal(job()->state, FLEET_RUNNING);
	assert_int_equal(job()->refused, 0);
	assert_int_equal(job()->message, 7);
	assert_int_equal(job()->sequence, 3);
}

static void needs_and_files(void **state)
{
	static const char hash[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	static const char *const bad[] = { "{}", "{\"hash\":\"*\",\"chunks\":1}", "1",
		"{\"hash\":\"%s\",\"chunks\":0}" };
	struct fleet_offer offer = { .cpus = 4, .memory_bytes = 100, .labels = (const char *const[]){ "a", "gpu" } };
	char text[512];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), "%.*s,\"files\":%s}", (int)strlen(SUBMIT) - 1, SUBMIT, bad[i]);
		assert_int_equal(apply(text), 0);
	}
	snprintf(text, sizeof(text),
			"%.*s,\"files\":{\"hash\":\"%s\",\"chunks\":3},"
			"\"needs\":{\"cpus\":4,\"memory_bytes\":100,\"label\":\"gpu\"}}",
			(int)strlen(SUBMIT) - 1, SUBMIT, hash);
	assert_int_equal(apply(text), 1);
	assert_string_equal(job()->files, hash);
	assert_int_equal(job()->file_chunks, 3);
	assert_false(fleet_requirements_are_met(&job()->needs, &offer));
	offer.label_count = 2;
	assert_true(fleet_requirements_are_met(&job()->needs, &offer));
	offer.cpus = 3;
	assert_false(fleet_requirements_are_met(&job()->needs, &offer));
	offer.cpus = 5;
	offer.memory_bytes = 99;
	assert_false(fleet_requirements_are_met(&job()->needs, &offer));
}

static void leases_end_before_redelivery(void **state)
{
	assert_true(fleet_lease_redelivery_ns(3000) > 3000);
	assert_int_equal(fleet_lease_of_redelivery_ns(fleet_lease_redelivery_ns(3000)), 3000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_job_from_start_to_end, setup, teardown),
		cmocka_unit_test_setup_teardown(a_lost_lease_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(an_end_is_final, setup, teardown),
		cmocka_unit_test_setup_teardown(cancelled_before_and_while_it_runs, setup, teardown),
		cmocka_unit_test_setup_teardown(the_target_is_a_moving_average, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_malformed_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(queued_later_than_claimed, setup, teardown),
		cmocka_unit_test_setup_teardown(needs_and_files, setup, teardown),
		cmocka_unit_test(leases_end_before_redelivery),
	};

	return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
