/* packet: headers of all kinds as numbers; what is cut, lies or is nonsense. */
#include "../support.h"

#include "base/packet.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t v4_tcp[] = { 0x45, 0, 0, 52, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, /* IP */
	0x30, 0x39, 0, 80, 0, 0, 1, 0, 0, 0, 2, 0, 0x50, 0x18, 0, 0, 0, 0, 0, 0 };

static void v4_is_read(void **state)
{
	struct packet p;
	assert_true(packet_parse(&p, v4_tcp, sizeof(v4_tcp), 60)); /* the card padded it */
	assert_int_equal(p.family, 4);
	assert_int_equal(p.protocol, IPPROTO_TCP);
	assert_int_equal(p.from.port, 12345);
	assert_int_equal(p.to.port, 80);
	assert_int_equal(p.bytes, 52);
	assert_int_equal(p.payload, 12);
	assert_int_equal(p.seq, 256);
	assert_int_equal(p.ack, 512);
	assert_int_equal(p.tcp_flags, 0x18);
	assert_memory_equal(p.to.address, "\x0a\0\0\x02\0\0\0\0\0\0\0\0\0\0\0\0", 16);
}

/* A total of 0 means: longer than it can say. */
static void big_tcp_has_its_length(void **state)
{
	struct packet p;
	uint8_t bytes[sizeof(v4_tcp)];
	memcpy(bytes, v4_tcp, sizeof(bytes));
	bytes[2] = bytes[3] = 0;
	assert_true(packet_parse(&p, bytes, sizeof(bytes), 100040));
	assert_int_equal(p.bytes, 100040);
	assert_int_equal(p.payload, 100000);
}

static void a_later_fragment_has_no_ports(void **state)
{
	struct packet p;
	uint8_t bytes[sizeof(v4_tcp)];
	memcpy(bytes, v4_tcp, sizeof(bytes));
	bytes[7] = 9;
	assert_true(packet_parse(&p, bytes, sizeof(bytes), 52));
	assert_false(p.has_ports);
	assert_int_equal(p.bytes, 52);
}

static void v6_extensions_are_skipped(void **state)
{
	struct packet p;
	uint8_t bytes[40 + 8 + 16 + 8] = { [0] = 0x60, [5] = 8 + 16 + 8 + 5, [6] = IPPROTO_HOPOPTS };
	bytes[40] = IPPROTO_DSTOPTS;
	bytes[48] = IPPROTO_UDP;
	bytes[49] = 1; /* 16 bytes */
	bytes[64] = 1;
	bytes[67] = 53;
	assert_true(packet_parse(&p, bytes, sizeof(bytes), sizeof(bytes) + 5));
	assert_int_equal(p.protocol, IPPROTO_UDP);
	assert_true(p.has_ports);
	assert_int_equal(p.from.port, 256);
	assert_int_equal(p.to.port, 53);
	assert_int_equal(p.payload, 5);
}

/* A fragment says so in an extension: the first has ports, a later one has what was there before. */
static void v6_fragments(void **state)
{
	struct packet p;
	uint8_t bytes[40 + 8 + 8] = { [0] = 0x60, [5] = 16, [6] = IPPROTO_FRAGMENT };

	bytes[40] = IPPROTO_UDP;
	bytes[49] = 7;
	assert_true(packet_parse(&p, bytes, sizeof(bytes), sizeof(bytes)));
	assert_true(p.has_ports);
	assert_int_equal(p.from.port, 7);
	bytes[43] = 8;
	assert_true(packet_parse(&p, bytes, sizeof(bytes), sizeof(bytes)));
	assert_int_equal(p.protocol, IPPROTO_UDP);
	assert_false(p.has_ports);
}

/* As far as it is there: addresses, ports, numbers, and how long the payload was. */
static void a_cut_packet_says_what_it_has(void **state)
{
	static const struct {
		size_t n;
		bool is_packet, has_ports, has_tcp;
	} cuts[] = { { 19, false, false, false }, { 23, true, false, false }, { 24, true, true, false },
		{ 33, true, true, false }, { 34, true, true, true } };
	struct packet p;

	for (size_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
		assert_int_equal(packet_parse(&p, v4_tcp, cuts[i].n, 52), cuts[i].is_packet);
		assert_int_equal(p.has_ports, cuts[i].has_ports);
		assert_int_equal(p.has_tcp, cuts[i].has_tcp);
		assert_int_equal(p.has_payload, cuts[i].has_tcp);
		assert_int_equal(p.payload, cuts[i].has_tcp ? 12 : 0);
	}
}

/* A TCP header shorter than it can be, or longer than the packet: nobody knows where the payload begins. */
static void a_lying_header_has_no_payload(void **state)
{
	static const uint8_t lengths[] = { 0x00, 0x40, 0xf0 };
	uint8_t bytes[sizeof(v4_tcp)];
	struct packet p;

	memcpy(bytes, v4_tcp, sizeof(bytes));
	bytes[3] = 40;
	for (size_t i = 0; i < sizeof(lengths); i++) {
		bytes[32] = lengths[i];
		assert_true(packet_parse(&p, bytes, sizeof(bytes), 40));
		assert_true(p.has_tcp);
		assert_false(p.has_payload);
	}
}

static void protocols_have_names(void **state)
{
	assert_string_equal(packet_protocol_name(IPPROTO_TCP), "tcp");
	assert_string_equal(packet_protocol_name(IPPROTO_ICMPV6), "icmp6");
	assert_string_equal(packet_protocol_name(IPPROTO_FRAGMENT), "ip");
}

/* Cut anywhere, and filled with anything: nothing is read that is not there (the sanitizers look). */
static void nonsense_is_refused(void **state)
{
	struct packet p;

	random_init();
	for (int round = 0; round < 20000; round++) {
		size_t n = random_below(80);
		uint8_t *bytes = malloc(n ? n : 1);

		random_bytes(bytes, n);
		if (n && round % 2)
			bytes[0] = round % 4 == 1 ? 0x45 : 0x60;
		packet_parse(&p, bytes, n, (uint32_t)random_below(2000));
		free(bytes);
	}
	assert_false(packet_parse(&p, v4_tcp, 0, 60));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(v4_is_read),
		cmocka_unit_test(big_tcp_has_its_length),
		cmocka_unit_test(a_later_fragment_has_no_ports),
		cmocka_unit_test(v6_extensions_are_skipped),
		cmocka_unit_test(v6_fragments),
		cmocka_unit_test(a_cut_packet_says_what_it_has),
		cmocka_unit_test(a_lying_header_has_no_payload),
		cmocka_unit_test(protocols_have_names),
		cmocka_unit_test(nonsense_is_refused),
	};

	return RUN_TESTS(tests);
}
