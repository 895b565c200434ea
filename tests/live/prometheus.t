#!/bin/bash
# A real Prometheus scrapes sonde live: native histograms, the shipped rules, an alert through Alertmanager to a webhook.
. "$(dirname "$0")/../lib/tap.sh"
for program in prometheus promtool prometheus-alertmanager; do
	command -v "$program" >/dev/null || skip_service "$program is not installed"
done
. "$SOURCE_DIR/tests/live/lib.sh"

free_port() { /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
share=$SONDE_STAGE/share/sonde
run promtool check rules "$share/prometheus/rules.yml"
is 'the shipped rules are fine' "$status" 0
run promtool test rules "$share/prometheus/rules-test.yml"
is 'and do what they say' "$status" 0
# What Grafana's schema of dashboards asks for: an id of its own that is none of a database, panels with ids and places of their
# own, on a source of data that whoever imports it chooses, and no variable that is not there.
dashboard() { jq -c "$1" "$share/grafana/sonde-live.json"; }
is 'the dashboard can be imported: it has a uid, a version of the schema, and no id' \
	"$(dashboard '[(.uid | test("^[A-Za-z0-9_-]{1,40}$")), .schemaVersion >= 30, .id == null, (.title | length > 0)]')" '[true,true,true,true]'
is 'ids of panels are their own' "$(dashboard '[.panels[].id] | (length > 4) and (unique | length) == length')" true
is 'and so are their places' "$(dashboard '[.panels[].gridPos | select(.x + .w <= 24 and .w > 0 and .h > 0) | [.x, .y]] | unique | length')" "$(dashboard '.panels | length')"
is 'all of them ask the source that is chosen' \
	"$(dashboard '[.panels[].datasource, .panels[].targets[].datasource, (.templating.list[] | select(.type == "query").datasource) | values] | unique')" \
	'[{"type":"prometheus","uid":"${datasource}"}]'
is 'queries of a panel have names of their own' "$(dashboard '[.panels[] | [.targets[].refId] | (unique | length) == length and (map(length > 0) | all)] | all')" true
is 'variables are there' "$(dashboard '([.. | strings | scan("\\$\\{?([a-z]+)")[0]] | unique) - [.templating.list[].name]')" '[]'
jq '{groups: [{name: "dashboard", rules: [[.panels[].targets[].expr] | to_entries[] | {record: "a:b\(.key):c",
	expr: (.value | gsub("\\$__rate_interval"; "1m") | gsub("\\$[a-z_]+"; "x"))}]}]}' "$share/grafana/sonde-live.json" >dashboard.yml
run promtool check rules dashboard.yml
like 'and all that it asks is PromQL' "$status $out" '0 .*SUCCESS: [1-9]'

/usr/bin/python3 "$SOURCE_DIR/tests/control/server.py" "$TEST_DIR" &
hook=$!
export LIVE_APP=$SOURCE_DIR/tests/live/histogram.py
name=prometheus-test-$$
start_live url
start_app "$name"
begun=$(($(date +%s) - 60))
poll test -e ports
target=$(sed 's,http://,,' url) prom=$(free_port) manager=$(free_port)
cat >prometheus.yml <<END
global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [ $share/prometheus/rules.yml, test.yml ]
scrape_configs: [ { job_name: sonde, static_configs: [ { targets: [ "$target" ] } ] } ]
alerting: { alertmanagers: [ { static_configs: [ { targets: [ "127.0.0.1:$manager" ] } ] } ] }
END
cat >test.yml <<END
groups: [ { name: test, rules: [ { alert: Deep, expr: 'sonde_app_queue_depth{app="$name"} > 5' } ] } ]
END
cat >alertmanager.yml <<END
route: { receiver: us, group_wait: 0s, group_interval: 1s }
receivers: [ { name: us, webhook_configs: [ { url: "http://127.0.0.1:$(cut -d' ' -f1 ports)/" } ] } ]
END
prometheus-alertmanager --config.file=alertmanager.yml --storage.path=am --web.listen-address="127.0.0.1:$manager" \
	--cluster.listen-address= >am.log 2>&1 &
alertmanager=$!
prometheus --config.file=prometheus.yml --storage.tsdb.path=tsdb --web.listen-address="127.0.0.1:$prom" \
	--enable-feature=native-histograms,exemplar-storage >prom.log 2>&1 &
prometheus=$!
# Another that has never heard of native histograms: it is given OpenMetrics.
text=$(free_port)
prometheus --config.file=prometheus.yml --storage.tsdb.path=tsdb-text --web.listen-address="127.0.0.1:$text" \
	--enable-feature=exemplar-storage >prom-text.log 2>&1 &
prometheus_text=$!

# query EXPR: the value of its first result.
query() {
	curl -s --data-urlencode "query=$1" "http://127.0.0.1:$prom/api/v1/query" | jq -r '.data.result[0].value[1] // empty' 2>/dev/null
}
answers() { test -n "$(query "$1")"; }
poll answers "sonde_processes{app=\"$name\"}" || diag "$(tail -n 5 prom.log)"
is 'PromQL finds the application' "$(query "sonde_processes{app=\"$name\"}")" 1
is 'a counter' "$(query "sonde_app_frames_seen_total{app=\"$name\"}")" 3
poll answers "histogram_count(sonde_app_latency_seconds{app=\"$name\"})"
is 'the histogram is a native one' "$(query "histogram_count(sonde_app_latency_seconds{app=\"$name\"})")" 1000
q=$(query "histogram_quantile(0.5, sonde_app_latency_seconds{app=\"$name\"})")
ok "its median, $q, is within a bucket (a fifth) of the truth, 0.5" awk -v q="$q" 'BEGIN { exit !(q > 0.4 && q < 0.6) }'
q=$(query "histogram_quantile(0.99, sonde_app_latency_seconds{app=\"$name\"})")
ok "and its 99th percentile, $q, of 0.99" awk -v q="$q" 'BEGIN { exit !(q > 0.82 && q < 1.19) }'
# exemplars PORT: those of the histogram, as that Prometheus stored them.
exemplars() {
	curl -sG --data-urlencode "query={__name__=~\"sonde_app_latency_seconds(_bucket)?\",app=\"$name\"}" --data "start=$begun&end=$(($(date +%s) + 60))" \
		"http://127.0.0.1:$1/api/v1/query_exemplars" | jq -r '.data[].exemplars[] | "\(.labels.pid) \(.value)"' 2>/dev/null | sort -u
}
has_exemplars() { test -n "$(exemplars "$1")"; }
poll has_exemplars "$prom" || diag "$(tail -n 5 prom.log)"
like 'exemplars: the greatest value, and whose it was, with a native histogram' "$(exemplars "$prom")" '^[1-9][0-9]* 1$'
poll has_exemplars "$text" || diag "$(tail -n 5 prom-text.log)"
is 'and in OpenMetrics the same' "$(exemplars "$text")" "$(exemplars "$prom")"
ok 'the recording rule is evaluated' poll answers "app:sonde_steps:rate1m{app=\"$name\"}"
poll grep -q 'firing Deep' hooks
is 'an alert comes to the webhook' "$(head -n 1 hooks)" '4 firing Deep'

touch stop
wait "$app"
gone() { test -z "$(query "sonde_processes{app=\"$name\"}")"; }
ok 'an application that has ended is stale at once' poll gone
for pid in "$prometheus" "$prometheus_text" "$alertmanager" "$hook" "$live"; do
	kill "$pid"
	wait "$pid" 2>/dev/null
done
done_testing
