# shellcheck shell=bash
# net.sh: for tests of --net. A network namespace of our own, so that nobody else's packets come in.

# in_net COMMAND...: with a loopback and nothing else.
in_net() { unshare --net bash -c 'ip link set lo up && exec "$@"' bash "$@"; }

# flows RUN: one JSON object a flow, with its stretches added up.
flows() {
	"$SONDE" events --table flow --json "$1" | jq -c -s 'group_by(.flow)[] |
		(["packets_out","packets_in","bytes_out","bytes_in","payload_out","payload_in","retransmits_out","retransmits_in",
		"rtts","is_new"]) as $sums | reduce .[] as $row ({}; . as $all | $row + reduce $sums[] as $k ({};
		.[$k] = (($all[$k] // 0) + (if $row[$k] == true then 1 else $row[$k] // 0 end))))'
}
