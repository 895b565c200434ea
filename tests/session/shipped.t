#!/bin/bash
# What is shipped for others' machinery: Jenkins, GitHub, GitLab, systemd. There is no Jenkins here: its job is read as XML, and
# the script of its pipeline is run as it stands, against a job server.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/live/lib.sh"
share=$SONDE_STAGE/share/sonde
PATH=$SONDE_STAGE/bin:$PATH

# What Jenkins makes of a job's file: WorkflowJob, its properties and CpsFlowDefinition, field by field. Others it would drop.
is 'the job of Jenkins has the parameters of the introduction' "$(/usr/bin/python3 - "$share/ci/config.xml" pipeline.groovy <<'END'
import sys
import xml.etree.ElementTree as tree
root = tree.fromstring(open(sys.argv[1]).read().replace("version='1.1'", "version='1.0'"))  # Jenkins writes 1.1
job = {"actions", "description", "keepDependencies", "properties", "definition", "triggers", "quietPeriod", "disabled"}
parameter = {"name", "description", "defaultValue", "trim"}
assert root.tag == "flow-definition" and {child.tag for child in root} <= job, [child.tag for child in root]
parameters = root.findall("properties/hudson.model.ParametersDefinitionProperty/parameterDefinitions/*")
for one in parameters:
    assert one.tag == "hudson.model.StringParameterDefinition" and {child.tag for child in one} <= parameter, one.tag
definition = root.find("definition")
assert definition.get("class") == "org.jenkinsci.plugins.workflow.cps.CpsFlowDefinition"
assert [child.tag for child in definition] == ["script", "sandbox"]
open(sys.argv[2], "w").write(definition.find("script").text)
print(*(one.find("name").text for one in parameters), root.find("quietPeriod").text)
END
)" 'app_name app_args app_docker_args 0'
ok 'and its pipeline within: nothing is to be filled in' cmp pipeline.groovy "$share/ci/Jenkinsfile"

cat >app.sh <<'END'
#!/bin/sh
echo "words: $*"
END
chmod +x app.sh
printf 'apps:\n  counter: { command: [ %s/app.sh ] }\n' "$TEST_DIR" >jobs.yml
"$SONDE" jobserver --listen 127.0.0.1:0 --token me:secret --config jobs.yml --dir jobs >url 2>server.err &
server=$!
poll test -s url || diag "$(<server.err)"
sed -n "/sh '''/,/^ *'''/p" "$share/ci/Jenkinsfile" | sed '1d;$d' >pipeline.sh
ok 'the pipeline has a script' test -s pipeline.sh
mkdir bin
printf '#!/bin/sh\nexec /bin/sleep 0.1\n' >bin/sleep
chmod +x bin/sleep
# pipeline NAME: run it for that application.
pipeline() {
	run env PATH="$TEST_DIR/bin:$PATH" SONDE_URL="$(<url)" SONDE_TOKEN=me:secret APP_NAME="$1" \
		APP_ARGS="-object 'a car; touch pwned'" APP_DOCKER_ARGS= bash -e pipeline.sh
}
pipeline counter
is 'which profiles the application' "$status" 0 || diag "$err"
like 'whose log it fetches' "$(<log.txt)" 'words: -object a car; touch pwned'
is 'and whose profile' "$(jq .sonde_profile profile.json)" 1
ok 'and runs nothing else' test ! -e pwned
pipeline other
ok 'what the job server refuses fails' test "$status" -ne 0
kill "$server"
wait "$server"

# steps FILE: what a runner would run, in a checkout that has a session.
steps() {
	/usr/bin/python3 - "$1" <<'END'
import sys
import yaml
ci = yaml.safe_load(open(sys.argv[1]))
if "jobs" in ci:
    lines = [step["run"] for step in ci["jobs"]["profile"]["steps"] if "run" in step]
else:
    lines = ci["profile"]["script"] + ci["profile"]["after_script"]
print(*lines, sep="\n")
END
}
if /usr/bin/python3 -c 'import yaml' 2>/dev/null; then
	printf 'command: [ %s/app.sh, x ]\noutputs: [ json, openmetrics, html ]\n' "$TEST_DIR" >app.yml
	rm -rf profile profile.json
	steps "$share/ci/github.yml" >github.sh
	run bash -e github.sh
	is 'GitHub: the steps run' "$status $(jq .sonde_profile profile.json)" '0 1' || diag "$err"
	rm -rf profile profile.json
	steps "$share/ci/gitlab.yml" >gitlab.sh
	run bash -e gitlab.sh
	like 'GitLab: the script runs and leaves its metrics' "$status $(<metrics.txt)" '0 .*sonde_session_wall_seconds.*# EOF'
else
	skip_missing 'the steps of GitHub and GitLab' 'python3-yaml is not installed'
fi

if command -v systemd-analyze >/dev/null; then
	for unit in sonde-live sonde-jobserver; do
		run systemd-analyze verify --man=no "$share/systemd/$unit.service"
		is "systemd finds nothing wrong with $unit" "$status$out$err" 0
	done
else
	skip_missing 'systemd finds nothing wrong with the units' 'systemd-analyze is not installed'
fi
done_testing
