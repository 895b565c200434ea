/* Sequence numbers are compared modulo 2^32. */
#include "probe/net/tcp.h"

#define REORDERED_NS 3000000 /* a hole filled sooner was reordered, not retransmitted */

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

static void add_rtt(struct flow *w, int64_t ns)
{
	if (!w->rtts || ns < w->rtt_min_ns)
		w->rtt_min_ns = ns;
	w->rtt_ns[w->rtts % FLOW_RTTS] = ns;
	w->rtts++;
}

/* The peer's segment is acknowledged. Only a segment sent from this host measures a full round trip. */
static void take_ack(struct flow *w, struct flow_side *sender, const struct net_packet *p)
{
	if (!sender->is_timed || !(p->ip.tcp_flags & PACKET_ACK) || after(p->ip.ack, sender->timed_seq) < 0)
		return;
	sender->is_timed = false;
	if (sender->is_local && p->ts_ns >= sender->timed_ns)
		add_rtt(w, p->ts_ns - sender->timed_ns);
}

static bool is_keep_alive(const struct flow_side *s, const struct net_packet *p)
{
	return p->ip.payload <= 1 && p->ip.seq == s->next_seq - 1 &&
			!(p->ip.tcp_flags & (PACKET_SYN | PACKET_FIN | PACKET_RST));
}

/* The segment [seq, to) with `payload` bytes starts before next_seq. Returns whether it is a retransmission. */
static bool take_old(struct flow_side *s, const struct net_packet *p, uint32_t to)
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

bool tcp_take(struct flow *w, int side, const struct net_packet *p)
{
	struct flow_side *s = &w->sides[side];
	uint32_t length = p->ip.payload + ((p->ip.tcp_flags & PACKET_SYN) != 0) + ((p->ip.tcp_flags & PACKET_FIN) != 0);
	uint32_t to = p->ip.seq + length;
	bool is_again = false;
	take_ack(w, &w->sides[!side], p);
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
		is_again = take_old(s, p, to);
	}
	if (!s->is_timed && !is_again) {
		s->is_timed = true;
		s->timed_seq = to;
		s->timed_ns = p->ts_ns;
	}
	return is_again;
}
