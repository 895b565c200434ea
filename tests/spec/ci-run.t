#!/bin/bash
# .ci/run adds up its stages, names each with its time, and ends one that hangs.
. "$(dirname "$0")/../lib/tap.sh"

mkdir .ci
cp "$SOURCE_DIR/.ci/run" .ci/
# make_stages CHECK SERVICES LINT ASAN FRESH: the recipe of each stage.
make_stages() {
	local name
	for name in check check-services lint asan check-fresh; do
		printf '%s:\n\t@%s\n' "$name" "$1"
		shift
	done >Makefile
}

make_stages 'echo "10 passed, 0 failed, 1 skipped"' 'test $$CI = true && echo "20 passed, 0 failed"' 'echo lint: clean' \
	'echo "3 passed, 0 failed, 2 skipped"' 'echo "1 passed, 0 failed"'
run .ci/run
is 'all is well' "$status" 0
is 'counts are added, lint is one' "$(tail -n 1 <<<"$out")" '35 passed, 0 failed, 3 skipped'
for name in check check-services lint asan check-fresh; do
	like "$name has its time" "$out" "(^|"$'\n'")$name +[0-9]+ s  passed"
done

make_stages 'echo "10 passed, 2 failed"; exit 1' 'echo "5 passed, 0 failed"; exit 1' 'exit 1' 'echo nothing' 'echo "1 passed, 0 failed"'
run .ci/run
is 'a failure is an exit status' "$status" 1
is 'a stage that fails without a count counts as one' "$(tail -n 1 <<<"$out")" '16 passed, 5 failed'
like 'it has its name' "$out" $'\nlint +[0-9]+ s  FAILED\n'
like 'and the others run' "$out" $'\ncheck-fresh +[0-9]+ s  passed\n'

make_stages 'sleep 1000 & echo "10 passed, 0 failed"; sleep 1000' 'echo "1 passed, 0 failed"' 'true' 'echo "1 passed, 0 failed"' 'echo "1 passed, 0 failed"'
run env CI_SECONDS_check=1 .ci/run
is 'a stage that hangs fails' "$status" 1
like 'with its name' "$out" $'\ncheck +[0-9]+ s  TIMED OUT after 1 s\n'
like 'as one failure' "$(tail -n 1 <<<"$out")" '^[0-9]+ passed, 1 failed$'

done_testing
