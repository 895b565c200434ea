/* sonde.hpp; prints what must be recorded. */
#include "expect.h"

#include <sonde/sonde.hpp>
#include <stdexcept>

static void arguments()
{
	const std::string name = "made " + std::to_string(1);
	sonde::span s(name, "cpp");
	s.arg("int", -3).arg("unsigned", 3u).arg("bool", true).arg("real", 0.5).arg("float", 0.25f);
	s.arg("text", "literal").arg("string", std::string("a\0b", 3));
	expect_head("span", "made 1", "cpp", 0);
	expect_arg_int("int", -3);
	expect_arg_uint("unsigned", 3);
	expect_arg_uint("bool", 1);
	expect_arg_real("real", 0.5);
	expect_arg_real("float", 0.25);
	expect_arg_text("text", "literal", 7);
	expect_arg_text("string", "a\0b", 3);
	expect_end();
}

/* Spans within spans, the last one throws. */
static void descend(int depth)
{
	expect("span", depth % 2 ? "odd" : "even", nullptr, 7 - depth);
	if (depth % 2) {
		SONDE_SPAN("odd");
		descend(depth - 1);
	} else {
		sonde::span s("even");
		if (!depth)
			throw std::runtime_error("thrown");
		descend(depth - 1);
	}
}

/* What an exception passes is ended; depths fit again afterwards. */
static void exceptions()
{
	for (int i = 0; i < 3; i++)
		try {
			descend(7);
		} catch (const std::runtime_error &) {
			expect_head("instant", "caught", nullptr, 0);
			expect_arg_int("round", i);
			expect_end();
			sonde::instant("caught").arg("round", i);
		}
}

static void values()
{
	sonde::counter("queue", 2);
	expect_head("counter", "queue", nullptr, 0);
	printf(" 2\n");
	sonde::step(std::string("train"), 1, 0.5);
	expect_head("step", "train", nullptr, 0);
	printf(" 1 0.5\n");
	sonde::step("train", 2);
	expect_head("step", "train", nullptr, 0);
	printf(" 2 nan\n");
	sonde::meta("key", std::string("value"));
	expect_head("meta", "key", nullptr, 0);
	expect_arg_text("key", "value", 5);
	expect_end();
}

int main()
{
	arguments();
	exceptions();
	values();
	sonde::metric_add("count");
	sonde::rate("frames");
	sonde::rate(std::string("frames"), 2);
	{
		sonde::timer t("infer_seconds");
	}
	return sonde::knob("threads", 4) == 4 && sonde::knob("rate", 0.5) == 0.5 && sonde::knob("small", 3, 1, 5) == 3
			? 0
			: 1;
}
