#include "probe/net/flows.h"

#include "base/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define REORDERED_NS 3000000 /* a hole filled sooner was reordered, not retransmitted */
#define SLOTS 4096
#define FLOWS_MAX (1u << 20)
#define OTHER_WAY_NS 1000000000ll /* after this time a direction may have moved to another interface */
#define ENDED_NS 2000000000ll
#define IDLE_NS 60000000000ll
#define SEEK_NS 4000000ll    /* delay of the second owner lookup; doubles for each next one */
#define SEEKS_MAX 9          /* that is 2 s */
#define TOLD_NS 4000000000ll /* rows are written after this time even without owners, so that they are not lost */
#define SEEKS_AT_ONCE 512    /* flows per pass: bounds the cost of many short flows */

/* Payload, retransmissions and round-trip times of TCP. Its sequence numbers are compared modulo 2^32. */

static int32_t after(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b);
}

static void add_hole(struct flow_side *s, uint32_t from, uint32_t to, int64_t ts_ns)
{
	struct flow_hole *oldest = &s->holes[0];
	for (int i = 0; i < FLOW_HOLES; i++) {
		if (s->holes[i].from == s->holes[i].to) {
			oldest = &s->holes[i];
			break;
		}
		if (s->holes[i].since_ns < oldest->since_ns)
			oldest = &s->holes[i];
	}
	*oldest = (struct flow_hole){ .from = from, .to = to, .since_ns = ts_ns };
}

/* Returns how many bytes of [from, to) fill holes, and closes those. *since_ns: when the oldest of them was seen. */
static uint32_t fill_holes(struct flow_side *s, uint32_t from, uint32_t to, int64_t *since_ns)
{
	uint32_t filled = 0;
	for (int i = 0; i < FLOW_HOLES; i++) {
		struct flow_hole *h = &s->holes[i];
		if (h->from == h->to || after(to, h->from) <= 0 || after(h->to, from) <= 0)
			continue;
		uint32_t first = after(from, h->from) > 0 ? from : h->from, last = after(to, h->to) < 0 ? to : h->to;
		uint32_t end = h->to;
		int64_t since = h->since_ns;
		filled += last - first;
		*since_ns = since < *since_ns ? since : *since_ns;
		h->to = first;
		if (last != end && h->from == h->to)
			*h = (struct flow_hole){ .from = last, .to = end, .since_ns = since };
		else if (last != end)
			add_hole(s, last, end, since);
	}
	return filled;
}

/* The peer's segment is acknowledged. Only a segment sent from this host measures a full round trip. */
static void on_ack(struct flow *w, struct flow_side *sender, const struct net_packet *p)
{
	if (!sender->is_timed || !(p->ip.tcp_flags & PACKET_ACK) || after(p->ip.ack, sender->timed_seq) < 0)
		return;
	sender->is_timed = false;
	if (sender->is_local && p->ts_ns >= sender->timed_ns) {
		int64_t ns = p->ts_ns - sender->timed_ns;
		if (!w->rtts || ns < w->rtt_min_ns)
			w->rtt_min_ns = ns;
		w->rtt_ns[w->rtts % FLOW_RTTS] = ns;
		w->rtts++;
	}
}

static bool is_keep_alive(const struct flow_side *s, const struct net_packet *p)
{
	return p->ip.payload <= 1 && p->ip.seq == s->next_seq - 1 &&
			!(p->ip.tcp_flags & (PACKET_SYN | PACKET_FIN | PACKET_RST));
}

/* The segment [seq, to) with `payload` bytes starts before next_seq. Returns whether it is a retransmission. */
static bool on_old_segment(struct flow_side *s, const struct net_packet *p, uint32_t to)
{
	int64_t since_ns = INT64_MAX;
	uint32_t known = after(to, s->next_seq) > 0 ? s->next_seq : to;
	uint32_t fresh = fill_holes(s, p->ip.seq, known, &since_ns);
	if (after(to, s->next_seq) > 0) {
		fresh += to - s->next_seq;
		s->next_seq = to;
		s->payload += fresh > p->ip.payload ? p->ip.payload : fresh;
		return false;
	}
	s->payload += fresh > p->ip.payload ? p->ip.payload : fresh;
	s->is_timed = false; /* ambiguous: the ACK may be for either transmission (Karn) */
	bool is_again = !fresh || p->ts_ns - since_ns > REORDERED_NS;
	s->retransmits += is_again;
	return is_again;
}

/* Processes a packet sent by `side`. Returns true if all of its payload was sent before. */
static bool on_tcp(struct flow *w, int side, const struct net_packet *p)
{
	struct flow_side *s = &w->sides[side];
	uint32_t length = p->ip.payload + ((p->ip.tcp_flags & PACKET_SYN) != 0) + ((p->ip.tcp_flags & PACKET_FIN) != 0);
	uint32_t to = p->ip.seq + length;
	bool is_again = false;
	on_ack(w, &w->sides[!side], p);
	w->is_reset |= (p->ip.tcp_flags & PACKET_RST) != 0;
	s->has_ended |= (p->ip.tcp_flags & PACKET_FIN) != 0;
	if (!length)
		return false;
	if (!s->has_seq || after(p->ip.seq, s->next_seq) >= 0) {
		if (s->has_seq && p->ip.seq != s->next_seq)
			add_hole(s, s->next_seq, p->ip.seq, p->ts_ns);
		s->has_seq = true;
		s->next_seq = to;
		s->payload += p->ip.payload;
	} else if (is_keep_alive(s, p)) {
		return false;
	} else {
		is_again = on_old_segment(s, p, to);
	}
	if (!s->is_timed && !is_again) {
		s->is_timed = true;
		s->timed_seq = to;
		s->timed_ns = p->ts_ns;
	}
	return is_again;
}

/* Flows. */

static uint64_t hash_ends(const struct flows *f, const struct net_packet *p)
{
	uint64_t sum = f->seed, words[2 * sizeof(struct packet_end) / 8];
	const struct packet_end *ends[] = { &p->ip.from, &p->ip.to };
	bool is_swapped = memcmp(ends[0], ends[1], sizeof(*ends[0])) > 0;
	memset(words, 0, sizeof(words));
	memcpy(words, ends[is_swapped], 20);
	memcpy((char *)words + 20, ends[!is_swapped], 20);
	for (size_t i = 0; i < sizeof(words) / 8; i++)
		sum = (sum ^ words[i]) * 0x9e3779b97f4a7c15ull, sum ^= sum >> 29;
	return sum ^ p->ip.protocol;
}

/* Returns which side sent the packet; -1 if it belongs to another flow. */
static int side_of(const struct flow *w, const struct net_packet *p)
{
	if (w->protocol != p->ip.protocol || w->family != p->ip.family || w->has_ports != p->ip.has_ports)
		return -1;
	if (packet_end_is_same(&w->sides[0].end, &p->ip.from) && packet_end_is_same(&w->sides[1].end, &p->ip.to))
		return 0;
	return packet_end_is_same(&w->sides[1].end, &p->ip.from) && packet_end_is_same(&w->sides[0].end, &p->ip.to)
			? 1
			: -1;
}

static int64_t interface_name(struct flows *f, int32_t index)
{
	char name[IF_NAMESIZE];
	int64_t *known = index >= 0 && index < 256 ? &f->names[index] : NULL;
	if (known && *known)
		return *known;
	int64_t id = if_indextoname((unsigned)index, name) ? store_strings_of(&f->host->sink->strings, name)
							   : STORE_NULL;
	if (known && id != STORE_NULL)
		*known = id;
	return id;
}

static int64_t protocol_name(struct flows *f, uint8_t protocol)
{
	if (f->protocols[protocol])
		return f->protocols[protocol];
	return f->protocols[protocol] = store_strings_of(&f->host->sink->strings, packet_protocol_name(protocol));
}

static int64_t address_name(struct flows *f, const struct flow *w, const struct packet_end *e)
{
	char text[INET6_ADDRSTRLEN];
	inet_ntop(w->family == 4 ? AF_INET : AF_INET6, e->address, text, sizeof(text));
	return store_strings_of(&f->host->sink->strings, text);
}

/* Rows. */

static int compare_ns(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? -1 : x > y;
}

static int64_t state_of(struct flows *f, const struct flow *w)
{
	const char *word = w->is_reset ? "reset" : w->sides[0].has_ended && w->sides[1].has_ended ? "closed" : "open";
	return w->protocol == IPPROTO_TCP ? store_strings_of(&f->host->sink->strings, word) : STORE_NULL;
}

static void emit(struct flows *f, struct flow *w)
{
	const struct flow_side *out = &w->sides[0], *in = &w->sides[1];
	bool is_tcp = w->protocol == IPPROTO_TCP;
	if (!out->packets && !in->packets)
		return;
	struct store_flow row = { .start_ns = w->start_ns,
		.dur_ns = w->last_ns - w->start_ns,
		.flow = (int64_t)w->number,
		.is_new = !w->is_reported,
		.protocol = protocol_name(f, w->protocol),
		.family = w->family,
		.source = address_name(f, w, &out->end),
		.source_port = w->has_ports ? out->end.port : STORE_NULL,
		.destination = address_name(f, w, &in->end),
		.destination_port = w->has_ports ? in->end.port : STORE_NULL,
		.interface = interface_name(f, out->interface ? out->interface : in->interface),
		.is_loopback = out->is_local && in->is_local,
		.packets_out = (int64_t)out->packets,
		.packets_in = (int64_t)in->packets,
		.bytes_out = (int64_t)out->bytes,
		.bytes_in = (int64_t)in->bytes,
		.payload_out = w->has_ports ? (int64_t)out->payload : STORE_NULL,
		.payload_in = w->has_ports ? (int64_t)in->payload : STORE_NULL,
		.retransmits_out = is_tcp ? (int64_t)out->retransmits : STORE_NULL,
		.retransmits_in = is_tcp ? (int64_t)in->retransmits : STORE_NULL,
		.vlan = w->vlan >= 0 ? w->vlan : STORE_NULL,
		.state = state_of(f, w) };
	/* The median of the recent round trips. */
	size_t kept = w->rtts < FLOW_RTTS ? w->rtts : FLOW_RTTS;
	qsort(w->rtt_ns, kept, sizeof(*w->rtt_ns), compare_ns);
	row.rtt_ns = kept ? w->rtt_ns[kept / 2] : STORE_NULL;
	row.rtt_min_ns = kept ? w->rtt_min_ns : STORE_NULL;
	row.rtts = w->rtts;
	const struct owner *own = &w->sides[0].owner, *peer = &w->sides[1].owner;
	row.process = own->pid ? probe_process(f->host, own->pid, w->start_ns) : STORE_NULL;
	row.pid = own->pid ? own->pid : STORE_NULL;
	row.name = own->pid ? own->name : STORE_NULL;
	row.peer_process = peer->pid ? probe_process(f->host, peer->pid, w->start_ns) : STORE_NULL;
	row.peer_pid = peer->pid ? peer->pid : STORE_NULL;
	row.peer_name = peer->pid ? peer->name : STORE_NULL;
	store_sink_add(f->host->sink, STORE_TABLE_FLOW, &row);
	/* The next row of this flow counts from zero. */
	for (int i = 0; i < 2; i++)
		w->sides[i].packets = w->sides[i].bytes = w->sides[i].payload = w->sides[i].retransmits = 0;
	w->rtts = 0;
	w->is_reported = true;
}

static void emit_packet(struct flows *f, const struct flow *w, const struct net_packet *p, int side, bool is_again)
{
	bool is_tcp = p->ip.has_tcp;
	struct store_packet row = { .ts_ns = p->ts_ns,
		.flow = (int64_t)w->number,
		.is_reply = side,
		.bytes = p->ip.bytes,
		.payload = p->ip.has_payload ? p->ip.payload : STORE_NULL,
		.tcp_flags = is_tcp ? p->ip.tcp_flags : STORE_NULL,
		.seq = is_tcp ? p->ip.seq : STORE_NULL,
		.ack = is_tcp && p->ip.tcp_flags & PACKET_ACK ? p->ip.ack : STORE_NULL,
		.is_retransmit = is_tcp ? is_again : STORE_NULL,
		.interface = interface_name(f, p->interface) };
	store_sink_add(f->host->sink, STORE_TABLE_PACKET, &row);
}

/* Packets. */

static bool is_loopback(const struct net_packet *p)
{
	static const uint8_t one[16] = { [15] = 1 };
	return p->ip.family == 4 ? p->ip.from.address[0] == 127 : !memcmp(p->ip.from.address, one, sizeof(one));
}

static struct flow *find(struct flows *f, const struct net_packet *p, int *side)
{
	struct flow **slot = &f->slots[hash_ends(f, p) % SLOTS];
	for (struct flow *w = *slot; w; w = w->next) {
		*side = side_of(w, p);
		if (*side < 0)
			continue;
		bool has_ended = w->is_reset || (w->sides[0].has_ended && w->sides[1].has_ended);
		if (has_ended && p->ip.protocol == IPPROTO_TCP &&
				(p->ip.tcp_flags & (PACKET_SYN | PACKET_ACK)) == PACKET_SYN)
			continue; /* the ports are reused */
		return w;
	}
	struct flow *w = f->count < FLOWS_MAX ? calloc(1, sizeof(*w)) : NULL;
	if (!w)
		return NULL;
	/* The sender of a SYN-ACK did not open the connection. */
	*side = p->ip.protocol == IPPROTO_TCP &&
			(p->ip.tcp_flags & (PACKET_SYN | PACKET_ACK)) == (PACKET_SYN | PACKET_ACK);
	*w = (struct flow){ .next = *slot,
		.number = ++f->flows,
		.family = p->ip.family,
		.protocol = p->ip.protocol,
		.has_ports = p->ip.has_ports,
		.vlan = p->vlan,
		.start_ns = p->ts_ns,
		.is_sought = p->ip.has_ports,
		.seek_ns = p->ts_ns };
	w->sides[*side].end = p->ip.from;
	w->sides[!*side].end = p->ip.to;
	*slot = w;
	f->count++;
	f->sought += w->is_sought;
	return w;
}

void flows_add(struct flows *f, const struct net_packet *p)
{
	int side;
	struct flow *w = find(f, p, &side);
	if (!w) {
		f->missed++;
		return;
	}
	struct flow_side *s = &w->sides[side];
	if (s->interface && s->interface != p->interface && p->ts_ns - s->last_ns < OTHER_WAY_NS) {
		f->duplicates++;
		return;
	}
	if (!w->sides[0].packets && !w->sides[1].packets)
		w->start_ns = p->ts_ns;
	s->interface = p->interface;
	s->last_ns = p->ts_ns;
	w->last_ns = p->ts_ns > w->last_ns ? p->ts_ns : w->last_ns;
	/* lo has index 1 in every network namespace. */
	if (p->is_outgoing || p->interface == 1 || is_loopback(p))
		w->sides[side].is_local = true;
	if (!p->is_outgoing || p->interface == 1)
		w->sides[!side].is_local = true;
	s->packets++;
	s->bytes += p->ip.bytes;
	f->packets++;
	bool is_again = false;
	if (p->ip.has_tcp)
		is_again = on_tcp(w, side, p);
	else
		s->payload += p->ip.payload;
	if (f->has_packets)
		emit_packet(f, w, p, side, is_again);
}

/* Owners. */

static bool find_owner(struct flows *f, struct flow *w, int side)
{
	struct owner *found = &w->sides[side].owner;
	const struct flow_side *s = &w->sides[side], *o = &w->sides[!side];
	if (found->pid || !s->is_local)
		return true;
	if (owners_find(f->owners, w->family, w->protocol, &s->end, &o->end, found))
		return true;
	/* A connect and an accept both record the address of the peer; for an accept that is the source. */
	return owners_find_call(f->owners, side == 1, w->family, &o->end, w->start_ns, found);
}

static void seek_owners(struct flows *f, struct flow *w, int64_t now_ns)
{
	bool has_all = find_owner(f, w, 0);
	has_all &= find_owner(f, w, 1);
	w->seek_ns = now_ns + (SEEK_NS << w->seeks);
	if (!has_all && ++w->seeks < SEEKS_MAX)
		return;
	w->is_sought = false;
	f->sought--;
}

void flows_seek(struct flows *f, int64_t now_ns)
{
	size_t left = SEEKS_AT_ONCE;
	owners_scan(f->owners, now_ns);
	for (size_t i = 0; i < SLOTS && left && f->sought; i++) {
		size_t at = (f->seek_slot + i) % SLOTS;
		for (struct flow *w = f->slots[at]; w; w = w->next)
			if (w->is_sought && w->seek_ns <= now_ns) {
				seek_owners(f, w, now_ns);
				left -= left > 0;
			}
		if (!left)
			f->seek_slot = at; /* the next pass starts here */
	}
}

static bool is_over(const struct flow *w, int64_t now_ns)
{
	bool has_ended = w->is_reset || (w->sides[0].has_ended && w->sides[1].has_ended);
	return now_ns - w->last_ns > (has_ended ? ENDED_NS : IDLE_NS) && !(w->protocol == IPPROTO_TCP && !has_ended);
}

void flows_tend(struct flows *f, int64_t now_ns, bool is_last)
{
	flows_seek(f, now_ns);
	for (size_t i = 0; i < SLOTS; i++)
		for (struct flow **at = &f->slots[i], *w; (w = *at);) {
			if (is_last || !w->is_sought || now_ns - w->start_ns > TOLD_NS)
				emit(f, w);
			if (!is_last && !is_over(w, now_ns)) {
				at = &w->next;
				continue;
			}
			*at = w->next;
			f->count--;
			f->sought -= w->is_sought;
			free(w);
		}
}

int flows_init(struct flows *f, struct probe_host *host, struct owners *owners)
{
	*f = (struct flows){ .host = host, .owners = owners, .slots = calloc(SLOTS, sizeof(struct flow *)) };
	if (getrandom(&f->seed, sizeof(f->seed), GRND_NONBLOCK) < 0)
		f->seed = (uint64_t)clock_mono_ns();
	return f->slots ? 0 : -ENOMEM;
}

void flows_release(struct flows *f)
{
	for (size_t i = 0; f->slots && i < SLOTS; i++)
		for (struct flow *w = f->slots[i], *next; w; w = next) {
			next = w->next;
			free(w);
		}
	free(f->slots);
	f->slots = NULL;
}
