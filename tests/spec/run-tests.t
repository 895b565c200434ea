#!/bin/bash
# tools/run-tests counts every result, runs each test once and prints every skip with its reason.
. "$(dirname "$0")/../lib/tap.sh"

# name_test NAME TEXT: a test program of the project below.
name_test() {
	printf '%s\n' "$2" >"$1"
	chmod +x "$1"
}
mkdir project
cd project || exit 1
name_test flaky '#!/bin/sh
[ -e seen ] && exit 0
touch seen
exit 1'
name_test status '#!/bin/sh
echo "the kernel has no such file system"
exit 77'
name_test silent '#!/bin/sh
exit 77'
name_test hangs '#!/bin/sh
exec sleep 1000'
name_test endless '#!/bin/sh
echo $$ >pid.new
mv pid.new pid
exec sleep 1000'
name_test some '#!/bin/sh
echo "ok 1 - this"
echo "ok 2 - that # SKIP only root may mount"
echo "ok 3 - and this"
echo 1..3'
name_test none '#!/bin/sh
echo "1..0 # SKIP no namespaces"'
name_test cmocka '#!/bin/sh
echo 1..2
echo "# SKIP one CPU"
echo "ok 1 - two_programs"
echo "ok 2 - one_program"'
name_test fails '#!/bin/sh
echo "ok 1 - this"
echo "not ok 2 - that"
echo 1..2'
name_test ends '#!/bin/sh
echo 1..2
echo "ok 1 - this"'
name_test unit.py '#!/usr/bin/python3
import unittest
class Case(unittest.TestCase):
    @unittest.skip("numpy is not installed")
    def test_array(self):
        pass
    def test_list(self):
        pass
unittest.main(verbosity=2)'
cat >meson.build <<'EOF2'
project('results')
foreach name : ['flaky', 'status', 'silent', 'unit.py']
  test(name, find_program('./' + name), workdir: meson.current_source_dir(), suite: 'good')
endforeach
foreach name : ['some', 'none', 'cmocka', 'fails', 'ends']
  test(name, find_program('./' + name), protocol: 'tap', suite: 'good')
endforeach
test('hangs', find_program('./hangs'), timeout: 1, suite: 'slow')
test('endless', find_program('./endless'), timeout: 900, workdir: meson.current_source_dir(), suite: 'slow')
EOF2
cd ..
RUN_TESTS=$SOURCE_DIR/tools/run-tests
ok 'a project' meson setup project/build project

run "$RUN_TESTS" -C project/build flaky
is 'a test that fails once has failed' "$status" 1
is 'and counts as failed' "$(tail -n 1 <<<"$out")" '0 passed, 1 failed'
like 'by its name' "$out" $'\nfailed:\n  flaky: FAIL\n'

rm project/seen
run "$RUN_TESTS" -C project/build --suite good
is 'failures are an exit status' "$status" 1
is 'every result counts' "$(tail -n 1 <<<"$out")" '6 passed, 3 failed, 6 skipped'
is 'every skip has its test and its reason' "$(sed -n '/^skipped:/,/^$/p' <<<"$out" | sed '1d;$d' | sort)" \
	'  cmocka: two_programs: one CPU
  none: no namespaces
  silent: exit status 77, no reason printed
  some: that: only root may mount
  status: the kernel has no such file system
  unit.py: test_array: numpy is not installed'
is 'and every failure its name' "$(sed -n '/^failed:/,/^[0-9]/p' <<<"$out" | sed '1d;$d' | sort)" '  ends: ERROR
  fails: FAIL
  flaky: FAIL'
like 'the slowest are printed' "$out" $'\nslowest:\n +[0-9.]+ s  '

run "$RUN_TESTS" -C project/build hangs
is 'a test that hangs has failed' "$status" 1
like 'with its name' "$out" $'\nfailed:\n  hangs: TIMEOUT\n0 passed, 1 failed'
"$RUN_TESTS" -C project/build endless >stopped.out 2>&1 &
runner=$!
for _ in $(seq 600); do [[ -e project/pid ]] && break; sleep 0.1; done
kill -TERM $runner
wait $runner
is 'a run that is stopped has failed' "$?" 1
like 'it names the test that ran' "$(<stopped.out)" $'\nfailed:\n  endless: INTERRUPT\n0 passed, 1 failed'
ok 'and has ended it' test ! -e "/proc/$(<project/pid)"
run "$RUN_TESTS" -C project/build --suite nosuch
is 'no test at all is a failure' "$status" 1
run "$RUN_TESTS" -C project/build some nosuch
is 'so is a name that is no test' "$status $err" '1 run-tests: unknown test: nosuch'

done_testing
