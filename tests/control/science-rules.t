#!/bin/bash
# Waggle's science rules become a rules file that can be used; what cannot be said is refused with the reason.
. "$(dirname "$0")/../lib/tap.sh"

# when RULE: the condition that it becomes, alone in a file.
when() {
	printf '%s\n' "$1" >one.rules
	run "$SONDE" rules import one.rules
	[[ $status == 0 ]] && sed -n "s/^    when: '\(.*\)'\$/\1/p" "$TEST_DIR/.out" | sed "s/''/'/g" || echo "$err"
}
is 'always' "$(when 'schedule(myplugin): True')" '1 == 1'
is 'arithmetic' "$(when 'schedule(myplugin): 1 + 2 == 3')" '1 + 2 == 3'
is 'samples of the last minute' "$(when "schedule(myplugin): avg(v('env.temperature')) > 30.0")" 'avg(sonde_app_env_temperature[1m]) > 30'
is 'of another time' "$(when "publish(env.event.car_accident): any(v('env.car.crashed', since='-10m'))")" 'max(sonde_app_env_car_crashed[10m]) > 0'
is 'any that is higher: the highest is' "$(when "schedule(x): any(v('a') > 3)")" 'max(sonde_app_a[1m]) > 3'
is 'all that are higher: the lowest is' "$(when "schedule(x): all(v('a') > 3)")" 'min(sonde_app_a[1m]) > 3'
is 'a rise' "$(when "set(rainy, value=1): sum(rate('env.raingauge.total_acc', since=\"-1h\")) > 3.")" 'increase(sonde_app_env_raingauge_total_acc[1h]) > 3'
is 'regularly, each time anew' "$(when 'schedule(myplugin): cronjob("myplugin", "*/5 * * * *")')" 'cron("*/5 * * * *") and time() % 60 < 30'
like 'by the hour' "$(when 'schedule(x): time("hour") == 2')" '3600\) / 3600\) == 2$'
is 'precedence is kept' "$(when "schedule(x): not 1 > 2 and 3 > 2 or avg(v('a')) * 2 > 1")" '((not (1 > 2)) and (3 > 2)) or (avg(sonde_app_a[1m]) * 2 > 1)'

refused() {
	when "$2" >/dev/null
	like "$1" "$status $err" "1 .*line 1: $3"
}
refused 'what was when is not known' 'schedule(b): after("a", since="b")' '.*after\(\) is not supported'
refused 'meta data' "schedule(b): avg(v('a', sensor='bme680')) > 1" ".*only 'since'"
refused 'samples alone' "schedule(b): v('a') + 1 > 1" '.*use avg\(v'
refused 'code' "schedule(b): __import__('os').system('id') == 0" ".*"
refused 'no condition' 'schedule(b): 1 + 1' '.*not a condition'
refused 'another action' 'destroy(b): True' ".*unknown action 'destroy'"
refused 'no rule' 'hello' '.*invalid science rule'

cat >job.yml <<'END'
name: myjob
plugins:
- name: image-sampler
  pluginSpec: { image: "registry/image-sampler:0.3.0", args: [ "-stream", "bottom" ] }
nodes: { W023: true }
scienceRules:
- "schedule(image-sampler): cronjob('image-sampler', '* * * * *')"
- 'publish(env.event.hot): avg(v(''env.temperature'')) > 30'
- set(rainy, value=1): any(v('env.rain') > 3)
successCriteria: [ Walltime(1day) ]
END
run "$SONDE" rules import job.yml
is 'a whole job' "$status" 0 || diag "$err"
cp "$TEST_DIR/.out" edge.yml
run "$SONDE" rules check edge.yml --json
is 'is a rules file that is fine' "$status $(jq .rules <<<"$out")" '0 3' || diag "$err" "$(<edge.yml)"
is 'that reports, unless told otherwise' "$(sed -n "s/^    do: \[ '\([a-z]* [a-z]*\).*/\1/p" edge.yml | paste -sd,)" 'report schedule,report publish,report set'
run "$SONDE" rules import job.yml --app detector --broker 127.0.0.1:1883 --schedule 'exec start-plugin {}'
cp "$TEST_DIR/.out" edge.yml
is 'with what to do' "$(sed -n "s/^    do: \[ '\(.*\)' \]/\1/p" edge.yml | paste -sd,)" \
	'exec start-plugin image-sampler,mqtt 127.0.0.1:1883 env.event.hot 1,knob detector rainy 1'
run "$SONDE" rules check edge.yml
is 'it is fine too' "$status" 0
run "$SONDE" rules check "$SONDE_STAGE/share/sonde/live/rules.yml"
is 'the shipped rules are fine' "$status$err" 0
run "$SONDE" rules import /nonexistent
is 'a file that is not there' "$status" 1
done_testing
