# shellcheck shell=bash
# Commands that watch running programs: session, live, rules, jobserver.

smoke_session() {
	cat >session.yml <<'YML'
name: smoke
command: [sh, -c, "cat /etc/hostname >/dev/null; sleep 0.3"]
timeout: 60s
outputs: [json, csv, html, openmetrics]
thresholds:
  max_rss_bytes: { max: 1e9 }
YML
	want '"values"' sonde session --json -o profile session.yml
	[[ -s profile/profile.json ]]
	# A threshold that no program can keep.
	sed -i 's/max: 1e9/max: 1/' session.yml
	fails 3 '' sonde session -o breached session.yml
}

smoke_live() {
	local app url
	sonde live run --name smoke -- sleep 1000 &
	app=$!
	start url sonde live --listen 127.0.0.1:0 --json
	url=$(field url url | sed 's,/*$,,; s,/metrics$,,')/metrics
	poll has_line "$url" '^sonde_.*app="smoke"'
	http GET "$url" >metrics
	matches '^HTTP/1.1 200' metrics
	matches '^# TYPE sonde_' metrics
	stop
	kill -TERM "$app"
	wait "$app" || true
}

has_line() { http GET "$1" | grep -E "$2"; }

smoke_rules() {
	cat >rules.yml <<'YML'
dry_run: true
interval: 250ms
rules:
  - name: pressure
    when: rate(sonde_node_pressure_seconds_total{resource="cpu",kind="some"}[10s]) > 0.1
    for: 5s
    do: [ report the processors are busy ]
YML
	quietly sonde rules check rules.yml
	want 'pressure' sonde rules explain rules.yml
	quietly sonde rules replay rules.yml "$RUN"
	sed -i 's/> 0.1/> > 0.1/' rules.yml
	fails 1 'rules.yml:[0-9]+' sonde rules check rules.yml
}

smoke_jobserver() {
	local url user
	# shellcheck disable=SC2016 # the script expands it
	printf '#!/bin/sh\necho hello "$1"\n' >app.sh
	chmod +x app.sh
	printf 'apps:\n  hello: { command: [ %s/app.sh ] }\n' "$PWD" >jobs.yml
	start url sonde jobserver --listen 127.0.0.1:0 --token me:secret --config jobs.yml --dir jobs
	url=$(<url)
	user="Authorization: Basic $(printf me:secret | base64)"
	http GET "$url/jobs" >denied
	matches '^HTTP/1.1 401' denied
	http POST "$url/job/nx/buildWithParameters" "$user" 'app_name=hello&app_args=you' >submitted
	poll is_done "$url/jobs/$(field number submitted)" "$user"
	http GET "$url/jobs/$(field number submitted)/log" "$user" >log
	matches 'hello you' log
	stop
}

is_done() { http GET "$1" "$2" | grep '"state": *"done"'; }
