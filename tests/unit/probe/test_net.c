/* Headers as flows: known conversations, lost and repeated segments. */
#include "sinks.h"

#include "probe/net/flows.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

struct talk {
	struct made_sink sink;
	struct probe_host host;
	struct owners owners;
	struct flows flows;
	int64_t now_ns;
};

static int64_t nobody(void *arg, int64_t pid, int64_t ts_ns)
{
	(void)arg, (void)pid, (void)ts_ns;
	return STORE_NULL;
}

static void talk_begin(struct talk *t)
{
	memset(t, 0, sizeof(*t));
	sink_make(&t->sink);
	t->host.sink = &t->sink.sink;
	t->host.process_of = nobody;
	assert_int_equal(owners_init(&t->owners, &t->host), 0);
	assert_int_equal(flows_init(&t->flows, &t->host, &t->owners), 0);
	t->flows.has_packets = true;
	t->now_ns = 1000000000;
}

/* A segment 1 ms after the one before; side 0 is 192.0.2.1:1000, which sends from here. */
static void say(struct talk *t, int side, uint32_t seq, uint32_t ack, uint32_t payload, uint8_t flags,
		int32_t interface)
{
	struct packet_end ends[2] = { { .address = { 192, 0, 2, 1 }, .port = 1000 },
		{ .address = { 192, 0, 2, 2 }, .port = 80 } };
	struct net_packet p = { .ts_ns = t->now_ns += 1000000,
		.interface = interface,
		.is_outgoing = side == 0,
		.vlan = -1,
		.ip = { .family = 4,
				.protocol = IPPROTO_TCP,
				.has_ports = true,
				.has_payload = true,
				.has_tcp = true,
				.from = ends[side],
				.to = ends[!side],
				.bytes = payload + 40,
				.payload = payload,
				.tcp_flags = flags,
				.seq = seq,
				.ack = ack } };
	flows_add(&t->flows, &p);
}

static size_t talk_end(struct talk *t, struct store_flow *rows, size_t room)
{
	flows_tend(&t->flows, t->now_ns, true);
	size_t n = sink_rows(&t->sink, STORE_TABLE_FLOW, rows, room);
	flows_release(&t->flows);
	owners_release(&t->owners);
	sink_remove(&t->sink);
	return n;
}

static void open_up(struct talk *t)
{
	say(t, 0, 100, 0, 0, PACKET_SYN, 2);
	say(t, 1, 500, 101, 0, PACKET_SYN | PACKET_ACK, 2);
	say(t, 0, 101, 501, 0, PACKET_ACK, 2);
}

static void repeated_bytes_count_once(void **state)
{
	struct talk t;
	struct store_flow row;
	(void)state;
	talk_begin(&t);
	open_up(&t);
	say(&t, 0, 101, 501, 1000, PACKET_ACK, 2);
	say(&t, 0, 1101, 501, 1000, PACKET_ACK, 2);
	say(&t, 0, 1101, 501, 1000, PACKET_ACK, 2); /* again */
	say(&t, 0, 1601, 501, 1000, PACKET_ACK, 2); /* half of it is new */
	say(&t, 0, 2600, 501, 1, PACKET_ACK, 2);    /* are you there? */
	say(&t, 1, 501, 2601, 10, PACKET_ACK, 2);
	say(&t, 0, 2601, 511, 0, PACKET_ACK | PACKET_FIN, 2);
	say(&t, 1, 511, 2602, 0, PACKET_ACK | PACKET_FIN, 2);
	assert_int_equal(talk_end(&t, &row, 1), 1);
	assert_int_equal(row.payload_out, 2500);
	assert_int_equal(row.payload_in, 10);
	assert_int_equal(row.retransmits_out, 1);
	assert_int_equal(row.retransmits_in, 0);
	assert_int_equal(row.packets_out, 8);
	assert_int_equal(row.packets_in, 3);
	assert_int_equal(row.is_new, 1);
	assert_int_equal(row.source_port, 1000);
	assert_int_equal(row.is_loopback, 0);
}

/* The second segment was lost on its way to us: what fills the hole later is payload, and was sent again. */
static void a_hole_is_filled(void **state)
{
	struct talk t;
	struct store_flow row;
	(void)state;
	talk_begin(&t);
	open_up(&t);
	say(&t, 1, 501, 101, 100, PACKET_ACK, 2);
	say(&t, 1, 701, 101, 100, PACKET_ACK, 2); /* 601 to 701 is missing */
	say(&t, 0, 101, 601, 0, PACKET_ACK, 2);
	t.now_ns += 50000000;
	say(&t, 1, 601, 101, 100, PACKET_ACK, 2);
	say(&t, 1, 901, 101, 100, PACKET_ACK, 2); /* overtakes */
	say(&t, 1, 801, 101, 100, PACKET_ACK, 2);
	assert_int_equal(talk_end(&t, &row, 1), 1);
	assert_int_equal(row.payload_in, 500);
	assert_int_equal(row.retransmits_in, 1);
}

static void numbers_wrap(void **state)
{
	struct talk t;
	struct store_flow row;
	(void)state;
	talk_begin(&t);
	say(&t, 0, 0xffffff00u, 1, 0x80, PACKET_ACK, 2);
	say(&t, 0, 0xffffff80u, 1, 0x100, PACKET_ACK, 2);
	say(&t, 0, 0x80, 1, 0x10, PACKET_ACK, 2);
	assert_int_equal(talk_end(&t, &row, 1), 1);
	assert_int_equal(row.payload_out, 0x190);
	assert_int_equal(row.retransmits_out, 0);
}

/* From a segment that leaves here to its acknowledgement: 1 ms each, but the one that was repeated. */
static void round_trips(void **state)
{
	struct talk t;
	struct store_flow row;
	(void)state;
	talk_begin(&t);
	open_up(&t);
	for (uint32_t i = 0; i < 5; i++) {
		say(&t, 0, 101 + 10 * i, 501, 10, PACKET_ACK, 2);
		if (i == 3)
			say(&t, 0, 101 + 10 * i, 501, 10, PACKET_ACK, 2);
		say(&t, 1, 501, 111 + 10 * i, 0, PACKET_ACK, 2);
	}
	say(&t, 1, 501, 151, 7, PACKET_ACK, 2); /* what comes from there has not been all the way */
	say(&t, 0, 151, 508, 0, PACKET_ACK, 2);
	assert_int_equal(talk_end(&t, &row, 1), 1);
	assert_int_equal(row.rtts, 5); /* the handshake too */
	assert_int_equal(row.rtt_ns, 1000000);
	assert_int_equal(row.rtt_min_ns, 1000000);
}

static void a_second_interface_adds_nothing(void **state)
{
	struct talk t;
	struct store_flow row;
	(void)state;
	talk_begin(&t);
	for (uint32_t i = 0; i < 10; i++) {
		say(&t, 0, 101 + 10 * i, 1, 10, PACKET_ACK, 2);
		say(&t, 0, 101 + 10 * i, 1, 10, PACKET_ACK, 3); /* the bridge */
	}
	assert_int_equal(t.flows.duplicates, 10);
	assert_int_equal(talk_end(&t, &row, 1), 1);
	assert_int_equal(row.payload_out, 100);
	assert_int_equal(row.packets_out, 10);
	assert_int_equal(row.retransmits_out, 0);
}

static void the_same_ports_again_are_another_flow(void **state)
{
	struct talk t;
	struct store_flow rows[2];
	(void)state;
	talk_begin(&t);
	open_up(&t);
	say(&t, 0, 101, 501, 0, PACKET_RST, 2);
	open_up(&t);
	say(&t, 0, 101, 501, 5, PACKET_ACK, 2);
	assert_int_equal(talk_end(&t, rows, 2), 2);
	assert_int_not_equal(rows[0].flow, rows[1].flow);
	assert_int_equal(rows[0].payload_out + rows[1].payload_out, 5);
}

/* Rows of a flow add up. */
static void stretches_add_up(void **state)
{
	struct talk t;
	struct store_flow rows[3];
	(void)state;
	talk_begin(&t);
	for (uint32_t i = 0; i < 3; i++) {
		say(&t, 0, 101 + 10 * i, 1, 10, PACKET_ACK, 2);
		t.now_ns += 5000000000;
		flows_tend(&t.flows, t.now_ns, false);
	}
	assert_int_equal(talk_end(&t, rows, 3), 3);
	assert_int_equal(rows[0].payload_out + rows[1].payload_out + rows[2].payload_out, 30);
	assert_int_equal(rows[0].is_new + rows[1].is_new + rows[2].is_new, 1);
	assert_int_equal(rows[0].flow, rows[2].flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(repeated_bytes_count_once),
		cmocka_unit_test(a_hole_is_filled),
		cmocka_unit_test(numbers_wrap),
		cmocka_unit_test(round_trips),
		cmocka_unit_test(a_second_interface_adds_nothing),
		cmocka_unit_test(the_same_ports_again_are_another_flow),
		cmocka_unit_test(stretches_add_up),
	};
	return RUN_TESTS(tests);
}
