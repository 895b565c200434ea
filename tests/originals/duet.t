#!/bin/bash
# Asynchronous Duet's introduction: duetbench and duetprocess with its suites' kind of files, in containers of a local image.
. "$(dirname "$0")/../lib/tap.sh"

command -v podman >/dev/null || skip_service 'podman is not installed'
[ "$(id -u)" = 0 ] || skip_all 'podman is tried as root only'
export CONTAINERS_CONF=$SOURCE_DIR/tests/launch/containers.conf
eval "$("$SONDE" env duet)"
image=localhost/sonde-originals-$$

mkdir -p rootfs/{bin,tmp,duet}
for program in bash date tail cat sleep; do
	path=$(command -v $program)
	cp -L "$path" rootfs/bin/
	ldd "$path" | grep -o '/[^ ]*' | while read -r library; do
		mkdir -p "rootfs$(dirname "$library")"
		cp -Ln "$library" "rootfs$library"
	done
done
tar -C rootfs -cf rootfs.tar .
podman import -q rootfs.tar "$image" >import.log 2>&1 || skip_service "podman cannot import an image: $(tail -1 import.log)"
trap 'podman rmi -f "$image" >/dev/null 2>&1; tap_exit' EXIT

# What Renaissance writes, from a loop that does nothing much: its format is what duetprocess reads.
harness='start=$(date +%s%N); list=; for i in 1 2 3; do a=$(date +%s%N); sleep 0.05; b=$(date +%s%N); list="$list${list:+,}{\"duration_ns\":$((b-a)),\"uptime_ns\":$((a-start))}"; done; echo "{\"environment\":{\"vm\":{\"start_unix_ms\":$((start/1000000))}},\"data\":{\"chi-square\":{\"results\":[$list]}}}" >/duet/results.json'
mkdir -p benchmarks/renaissance benchmarks/dacapo
cat >benchmarks/renaissance/test.duet.yml <<EOF
duetbench:
  name: renaissance
  suite: renaissance
  verbose: true
  seed: 42
  remove_containers: true
  duet_repetitions: 2
  schedule: randomized_interleaving_trials
  artifacts:
    uname: uname -a
    date: date
  image: $image
  results:
    - /duet/results.json
  duets:
    - chi-square
chi-square:
  A:
    run: '$harness'
EOF
sed 's/name: renaissance/name: second/; s/chi-square/other/; s/duet_repetitions: 2/duet_repetitions: 1/' \
	benchmarks/renaissance/test.duet.yml >benchmarks/dacapo/test.duet.yml

run duetbench --help
is 'duetbench --help' "$status" 0
run timeout 250 duetbench --verbose --outdir results.test --docker podman ./benchmarks/renaissance/test.duet.yml ./benchmarks/dacapo/test.duet.yml
is 'duetbench with several files' "$status" 0 || diag "$err"
is 'results have the names of the schema' \
	"$(cd results.test && ls -d renaissance.chi-square.* | sed -E 's/\.(AB|BA)\./.XX./' | sort | tr '\n' ' ')" \
	'renaissance.chi-square.0.duet.XX.A.results.json renaissance.chi-square.0.duet.XX.B.results.json renaissance.chi-square.1.duet.XX.A.results.json renaissance.chi-square.1.duet.XX.B.results.json '
ok 'artifacts were gathered' test -s results.test/artifacts/uname
run timeout 250 duetbench --outdir results.test --docker podman ./benchmarks/renaissance/test.duet.yml
is 'a result directory that exists is refused' "$((status != 0))" 1

run duetprocess --config ./benchmarks/renaissance/test.duet.yml --output results.csv results.test
is 'duetprocess' "$status" 0 || diag "$err"
for column in suite benchmark runid iteration pair order epoch_start_ms iteration_time_ns iteration_start_ns iteration_end_ns; do
	like "the column $column" "$(head -n 1 results.csv)" "(^|,)$column(,|\$)"
done
is 'a row an iteration' "$(grep -c chi-square results.csv)" 12
run duetprocess --help
is 'duetprocess --help' "$status" 0

done_testing
