# shellcheck shell=bash
# netns.sh: hosts that are network namespaces, for tests that have sourced tap.sh: netns_start N makes a hub and hosts 1..N
# that reach it at 10.98.0.1; netns_end takes them away. The test's own exit must call it.

netns_tag=n$$
netns_count=0

netns_start() { # N
	local n
	(($(id -u) == 0)) || skip_all 'network namespaces need root'
	command -v ip >/dev/null || skip_service 'ip is not installed'
	ip netns add "$netns_tag-hub" 2>/dev/null || skip_all 'no network namespaces here'
	ip -n "$netns_tag-hub" link set lo up
	ip -n "$netns_tag-hub" addr add 10.98.0.1/32 dev lo
	for ((n = 1; n <= $1; n++)); do
		ip netns add "$netns_tag-$n"
		netns_count=$n
		ip -n "$netns_tag-hub" link add "v$n" type veth peer name eth0 netns "$netns_tag-$n"
		ip -n "$netns_tag-hub" addr add "10.98.$n.1/24" dev "v$n"
		ip -n "$netns_tag-hub" link set "v$n" up
		ip -n "$netns_tag-$n" addr add "10.98.$n.2/24" dev eth0
		ip -n "$netns_tag-$n" link set eth0 up
		ip -n "$netns_tag-$n" link set lo up
		ip -n "$netns_tag-$n" route add 10.98.0.1/32 via "10.98.$n.1"
	done
}

netns_end() {
	local n
	for ((n = 1; n <= netns_count; n++)); do ip netns del "$netns_tag-$n" 2>/dev/null; done
	ip netns del "$netns_tag-hub" 2>/dev/null
}

# on N COMMAND...: on host N, or "hub"
on() { ip netns exec "$netns_tag-$1" "${@:2}"; }
# netns_cut N, netns_mend N: the cable of host N
netns_cut() { ip -n "$netns_tag-hub" link set "v$1" down; }
netns_mend() { ip -n "$netns_tag-hub" link set "v$1" up; }
