#!/bin/bash
# sonde duet SUITE: configuration files of the original, in containers made from a local root; what goes wrong and is resumed.
. "$(dirname "$0")/../lib/tap.sh"

command -v podman >/dev/null || skip_service 'podman is not installed'
[ "$(id -u)" = 0 ] || skip_all 'podman is tried as root only'
export CONTAINERS_CONF=$SOURCE_DIR/tests/launch/containers.conf
image=localhost/sonde-duet-test-$$

# an image with bash, date and sleep of this machine; of what the original asks for bash is enough
mkdir -p rootfs/{bin,tmp,duet,usr/bin}
for program in bash date sleep cat mkdir "$SONDE_TEST_WAITS"; do
	path=$(command -v "$program")
	cp -L "$path" rootfs/bin/
	ldd "$path" | grep -o '/[^ ]*' | while read -r library; do
		mkdir -p "rootfs$(dirname "$library")"
		cp -Ln "$library" "rootfs$library"
	done
done
chmod 1777 rootfs/tmp rootfs/duet
echo untouched >rootfs/results
tar -C rootfs -cf rootfs.tar .
podman import -q rootfs.tar "$image" >import.log 2>&1 || skip_service "podman cannot import an image: $(tail -1 import.log)"
ours() { podman ps -a --format '{{.Image}}' | grep -c "$image"; }
duet() { run timeout 300 "$SONDE" duet "$@"; }

# one benchmark whose iterations are lines of start and end, A against B that sleeps longer
cat >suite.yml <<EOS
duetbench:
  suite: lines
  docker_command: podman
  seed: 0
  duet_repetitions: 2
  sequential_repetitions: 2
  timeout: 120
  artifacts:
    uname: uname -a
    hostname: hostname
  image: $image
  run_base: loop() { for i in 1 2 3 4; do s=\$(date +%s%N); sleep \$1; echo \$s \$(date +%s%N) >>/tmp/times; done; };
  results:
    - /tmp/times
  duets: [ nap ]
nap:
  A: { run: loop 0.1 }
  B: { run: loop 0.6 }
EOS
duet -o out suite.yml
is 'a suite runs' "$status" 0 || diag "$err"
is 'every run leaves its results, under their names' "$(cd out && ls -d lines.* | sed 's/\.\(AB\|BA\)\./.XX./' | sort | tr '\n' ' ')" \
	'lines.nap.0.duet.XX.A.times lines.nap.0.duet.XX.B.times lines.nap.0.seqn.None.A.times lines.nap.0.seqn.None.B.times lines.nap.1.duet.XX.A.times lines.nap.1.duet.XX.B.times lines.nap.1.seqn.None.A.times lines.nap.1.seqn.None.B.times '
is 'orders are balanced' "$(ls out | grep -o 'duet\.[AB][AB]' | sort -u | wc -l)" 2
is 'artifacts are there' "$(ls out/artifacts | tr '\n' ' ')" 'hostname uname '
is 'no container is left' "$(ours)" 0
sed 's/seed: 0/&\n  remove_containers: false/; s/duet_repetitions: 2/duet_repetitions: 0/; s/sequential_repetitions: 2/sequential_repetitions: 1/' suite.yml >keeps.yml
duet -o kept keeps.yml
is 'remove_containers: false keeps them' "$status $(ours) $(podman ps --format '{{.Image}}' | grep -c "$image")" '0 2 0'
# shellcheck disable=SC2046 # one word each
podman rm -f $(podman ps -a --format '{{.Image}} {{.Names}}' | awk -v image="$image" 'index($1, image) { print $2 }') >/dev/null
duet -o out suite.yml
is 'a directory that exists is refused' "$status" 1
like 'with what to do' "$err" 'use --resume'

rm out/lines.nap.1.seqn.None.B.times
duet -o out --resume suite.yml
like 'what is finished is not made again' "$err" '1 run done, 5 skipped, 0 failed'

for seed in 1 2 3 4; do # each has another order
	duet -o out --resume --seed $seed suite.yml
	like "nor with another seed ($seed)" "$err" '0 runs done, 6 skipped, 0 failed'
done

duet process out -o table.csv
is 'results become a table' "$status" 0
is 'a row an iteration' "$(wc -l <table.csv)" 33
like 'with the columns of the original' "$(head -n 1 table.csv)" '^suite,benchmark,type,order,pair,runid,iteration,iteration_start_ns,iteration_end_ns,iteration_time_ns,hostname,uname$'
duet overlaps table.csv
is 'overlaps reads what process wrote' "$status" 0
duet report out --json
# two runs prove little on a busy machine; that B takes longer shows in any case
is 'both designs find B slower' "$(jq -c '[.benchmarks[] | [.benchmark, .ratio > 2, .runs]]' <<<"$out")" '[["lines/nap duet",true,2],["lines/nap seqn",true,2]]'
is 'and the exit code is the verdict' "$status" "$(jq 'if any(.benchmarks[]; .verdict == "slower") then 3 else 0 end' <<<"$out")"

# the example of the original's introduction, word for word, with its images in a store of their own
other=(podman --storage-driver vfs --root "$PWD/there/root" --runroot "$PWD/there/run")
"${other[@]}" import -q rootfs.tar localhost/renaissance >/dev/null 2>&1
"${other[@]}" tag localhost/renaissance localhost/renaissance-graal
cat >readme.yml <<'EOS'
duetbench:
  suite: renaissance                # name of the benchmark suite - used for parsing results
  verbose: true                     # debug logging
  seed: 42                          # random seed
  docker_command: podman            # command to invoke docker in shell, default is docker

  remove_containers: true           # remove containers after finish

  duet_repetitions: 2               # number of harness repetitions
  sequential_repetitions: 2         # sequential repetitions, default 0

  schedule: randomized_interleaving_trials # what schedule to use on benchmarks

  artifacts:                        # artifacts to gather before the run
    uname: uname -a                 # `uname` artifact, run `uname -a > {results_dir}/artifacts/uname`
    lscpu: lscpu                    # similar, results placed to `{results_dir}/artifacts/lscpu`

  image: renaissance                # docker image to run for a duet run, must exist on the system
  results:                          # list of result files to copy from the container after each run
    - /duet/results                 # has to be an absolute path in the context of a Docker image it runs in,
                                    # for renaissance image it is workdir `/duet/`

  duets:                            # list of duets to run, these must be top level YAML elements,
    - a-benchmark                   # invalid names: `artifacts`, `duetbench`

a-benchmark:
  duet_repetitions: 4                  # overwrite value from duetbench config
  A:                                   # A run
    run: echo RunningA > /duet/results # command to run the benchmark harness in the container

  B:                                   # B run, optional, if not present does A/A run
    image: renaissance-graal           # override inherited image
    run: echo RunningB > /duet/results
    results:                           # override where are the result files in context of renaissance-graal docker image
      - /results
EOS
duet --docker "${other[*]}" -o readme readme.yml
is 'the example of the introduction runs, unchanged' "$status" 0 || diag "$err"
is 'and leaves no container' "$("${other[@]}" ps -aq | wc -l)" 0
is 'with all its results' "$(ls readme | grep -c '^renaissance\.a-benchmark\.')" 12

# several configurations in one call; one that cannot be read is told, and the others run
sed 's/duet_repetitions: 2/duet_repetitions: 1/; s/sequential_repetitions: 2/sequential_repetitions: 0/; s/loop 0.6/loop 0.1/' suite.yml >one.yml
sed 's/suite: lines/suite: other/; s/^nap/doze/; s/\[ nap \]/[ doze ]/' one.yml >two.yml
echo 'duetbench: {colour: red}' >wrong.yml
duet -o several one.yml wrong.yml two.yml
is 'several configurations run in one call, and what is wrong with one is the exit code' "$status $(cd several && ls -d -- *.times | sed 's/\.\(AB\|BA\)\./.XX./' | tr '\n' ' ')" \
	'1 lines.nap.0.duet.XX.A.times lines.nap.0.duet.XX.B.times other.doze.0.duet.XX.A.times other.doze.0.duet.XX.B.times ' || diag "$err"
like 'which is named' "$err" "wrong.yml:1: unknown key 'colour' in 'duetbench'"
rm several/lines.*.A.times
duet -f -v -o several one.yml
is '-f writes into a directory that exists' "$status $(ls several | grep -c '^lines.*times')" '0 2' || diag "$err"
like '-v says what is done' "$err" 'sonde duet: nap duet 0'
duet -o several --filter nowhere --resume one.yml
like '--filter leaves the others out' "$status $err" '^1 .*nothing to run'

# in step: the sides meet at the barrier that the JVM agent knows
cat >sync.yml <<EOS
duetbench:
  suite: lines
  docker_command: podman
  duet_repetitions: 0
  syncduet_repetitions: 1
  timeout: 100
  image: $image
  syncduet_run_base: /bin/$(basename "$SONDE_TEST_WAITS") \$\$
  results: [ /tmp/times ]
  duets: [ together ]
together:
  A: { run: 30 >/tmp/times }
  B: { run: 30 >/tmp/times }
EOS
duet -o sync sync.yml
is 'a synchronous duet' "$status" 0 || diag "$err"
# an iteration begins when both are there: behind the end of the one before it of either side
is 'no iteration begins before the last one of the other side has ended' \
	"$(paste -d ' ' sync/*.A.times sync/*.B.times | awk 'NR > 1 && ($1 < b || $3 < a) { early++ } { a = $2; b = $4 } END { print NR, early + 0 }')" '30 0'
sed 's/B: { run: 30/B: { run: 3/' sync.yml >leaves.yml
duet -o leaves leaves.yml
is 'who is left goes on alone when the other has ended' "$status $(cat leaves/*.A.times | wc -l) $(cat leaves/*.B.times | wc -l)" '0 30 3' || diag "$err"
sed 's/B: { run: 30/B: { run: 3 7/' sync.yml >dies.yml
duet -o dies dies.yml
like 'and is ended when the other has failed' "$status $err" '^1 .*B failed with exit status 7'
sed 's/B: { run: 30.*/B: { run: 3 >\/tmp\/times; sleep 300 }/; s/timeout: 100/timeout: 5/' sync.yml >waits.yml
duet -o waits waits.yml
like 'or hangs' "$status $err" '^1 .*neither side has ended within 5 s'
sed 's/ \$\$$/ none/' sync.yml >never.yml
duet -o never never.yml
like 'a synchronous command without the barrier in it is warned of' "$err" 'nothing keeps the sides in step'
is 'no barrier and no container is left' "$(ls /dev/shm | grep -c '^java-ubench-agentsyncduet.*together') $(ours)" '0 0'

# two commands in containers of an image
duet -a "bash -c 'echo >/tmp/x'" -b "bash -c 'sleep 1'" --image "$image" --engine podman --design rmit --pairs 1 --runs 2 --no-self-check --budget 60s --json
is 'commands are compared in containers' "$(jq -r '"\(.runs) \(.ratio > 1)"' <<<"$out") $(ours)" '2 true 0' || diag "$err"

# images, built
built=sonde-built-$$
mkdir "$built" && printf 'FROM scratch\nCOPY file /file\n' >"$built/Dockerfile" && echo x >"$built/file"
duet --docker podman images build "$built"
is 'an image is built from a Dockerfile' "$status $(podman image exists "localhost/$built" && echo there)" '0 there' || diag "$err"
# ... and moved, to a machine that is a directory here
mkdir moving && printf '#!/bin/bash\nshift 2\nexec %s "$@"\n' "${other[*]@Q}" >moving/ssh && chmod +x moving/ssh
PATH=$PWD/moving:$PATH duet --docker podman images move elsewhere "localhost/$built"
is 'an image is moved to another machine' "$status $("${other[@]}" image exists "localhost/$built" && echo there)" '0 there' || diag "$err"
podman rmi -f "localhost/$built" >/dev/null 2>&1

# what goes wrong
sed "s|image: $image|image: localhost/no-such-image-$$|" suite.yml >missing.yml
duet -o missing missing.yml --filter nap
is 'a missing image is a failure' "$status" 1
like 'that names it' "$err" "no-such-image-$$"
sed 's/loop 0.6/exit 4/' suite.yml >crash.yml
duet -o crash crash.yml
is 'a side that crashes is a failure' "$status" 1
like 'that says which' "$err" 'B failed with exit status 4'
is 'its runs leave no results' "$(ls crash | grep -c 'duet\.')" 0
is 'the other runs do' "$(ls crash | grep -c 'seqn.None.A')" 2
# the hanging side has a child of another name, and half a result
sed 's/run: loop 0.6/run: (exec -a aside sleep 300) \& loop 0.1; loop 60/; s/timeout: 120/timeout: 4/; s/sequential_repetitions: 2/sequential_repetitions: 0/; s/duet_repetitions: 2/duet_repetitions: 1/' suite.yml >hang.yml
duet -o hang hang.yml
like 'both sides have one deadline' "$err" 'B has not ended within 4 s'
is 'half results are not taken' "$(ls hang | grep -c lines)" 0
is 'and every process of either side is ended' "$(pgrep -fc '^[a]side 300') $(ours)" '0 0'
printf 'nap:\n  A: {run: x}\nduetbench: {suite: s, image: i, results: [/r], duets: [nap], duet_repetition: 3}\n' >typo.yml
duet -o typo typo.yml
is 'an unknown key is a failure' "$status" 1
like 'that proposes the right one' "$err" "did you mean 'duet_repetitions'"
ok 'nothing was made' test ! -e typo

"$SONDE" duet -o killed --filter nap suite.yml >/dev/null 2>&1 &
pid=$!
for ((i = 0; i < 300; i++)); do [[ -e killed/artifacts ]] && (($(ours) > 0)) && break; sleep 0.1; done
kill -KILL $pid
wait $pid 2>/dev/null
# The engine's record may say "running" of a container whose processes were all killed: the processes count.
running() {
	local pid count=0
	for pid in $(podman ps --format '{{.Image}} {{.Pid}}' | grep "$image" | cut -d ' ' -f 2); do
		[[ $pid != 0 && -d /proc/$pid ]] && count=$((count + 1))
	done
	echo "$count"
}
for ((i = 0; i < 300; i++)); do (($(running) == 0)) && break; sleep 0.1; done
is 'kill -9 leaves nothing running' "$(running)" 0
duet -o killed --resume suite.yml
is 'and the suite can go on' "$status" 0
is 'to its end' "$(ls killed | grep -c '^lines\.')" 8
is 'no container is left in the end' "$(ours)" 0

# interrupted: a job of a script ignores SIGINT unless it has job control
set -m
"$SONDE" duet -o stopped --filter nap suite.yml >/dev/null 2>&1 &
pid=$!
set +m
for ((i = 0; i < 300; i++)); do [[ -e stopped/artifacts ]] && (($(ours) > 0)) && break; sleep 0.1; done
kill -INT $pid
wait $pid
is 'an interruption exits with 130' $? 130
is 'and leaves no container' "$(ours)" 0
is 'nor half a result' "$(ls stopped | grep -c part)" 0
duet -o stopped --resume suite.yml
is 'what is missing is made when it is resumed' "$status $(ls stopped | grep -c '^lines\.')" '0 8'

# a full disk: 60 kB of results from either side
sed 's/run: loop 0.1/run: printf "%060000d" 1 >\/tmp\/times/; s/run: loop 0.6/run: printf "%060000d" 2 >\/tmp\/times/; s/duet_repetitions: 2/duet_repetitions: 1/; s/sequential_repetitions: 2/sequential_repetitions: 1/; s/run_base.*//' suite.yml >large.yml
if mkdir disk && mount -t tmpfs -o size=100k tmpfs disk 2>/dev/null; then
	duet -o disk/out large.yml
	is 'a full disk is a failure' "$status" 1
	like 'that says so' "$err" '[Nn]o space left on device'
	is 'what is there is whole' "$(find disk/out -name 'lines.*' -size -60000c | wc -l)" 0
	is 'and no container is left' "$(ours)" 0
	mount -o remount,size=10m disk
	duet -o disk/out --resume large.yml
	is 'with room it goes on to its end' "$status $(find disk/out -name 'lines.*' -size 60000c | wc -l)" '0 4' || diag "$err"
	umount disk
else
	skip 'a full disk is a failure' 'no tmpfs can be mounted here'
fi

# the engine is not asked to wait for a shell that does not hear
mkdir wrap && printf '#!/bin/bash\necho "$*" >>%q\nexec %q "$@"\n' "$PWD/asked" "$(command -v podman)" >wrap/podman && chmod +x wrap/podman
duet --docker "env X=1 $PWD/wrap/podman" -o asked.out large.yml
is 'containers are ended at once' "$status $(grep -c '^stop' asked) $(($(grep -c '^rm --force --time=0' asked) > 0))" '0 0 1' || diag "$err"

podman rmi -f "$image" >/dev/null 2>&1
done_testing
