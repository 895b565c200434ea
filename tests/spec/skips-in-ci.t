#!/bin/bash
# What a test skips for want of a package or a server is a failure with CI=true, in shell and in Python.
. "$(dirname "$0")/../lib/tap.sh"

cat >one.t <<END
. "$SOURCE_DIR/tests/lib/tap.sh"
skip_missing 'a result' 'jq is not installed'
done_testing
END
cat >all.t <<END
. "$SOURCE_DIR/tests/lib/tap.sh"
skip_service 'podman is not installed'
END
cat >one.py <<END
import sys
sys.path.insert(0, "$SOURCE_DIR/tests/lib")
import tap
tap.skip_missing("a result", "jq is not installed")
sys.exit(tap.done())
END
cat >all.py <<END
import sys
sys.path.insert(0, "$SOURCE_DIR/tests/lib")
import tap
tap.skip_service("podman is not installed")
END
cat >one-annotate.py <<END
import sys
sys.path.insert(0, "$SOURCE_DIR/tests/annotate")
import tap
tap.main(lambda: tap.skip("a result", "jq is not installed"))
END
export PYTHONDONTWRITEBYTECODE=1 ANNOTATE_DIR=.

for test in one.t all.t one.py all.py one-annotate.py; do
	[[ $test == *.py ]] && with=/usr/bin/python3 || with=bash
	run env -u CI "$with" "$test"
	is "$test: elsewhere it passes" "$status" 0
	like "$test: as a skip with its reason" "$out" '# SKIP (jq|podman) is not installed'
	run env CI=true "$with" "$test"
	is "$test: in CI it fails" "$status" 1
	like "$test: with the reason" "$out" 'not ok 1 .*(jq|podman) is not installed'
	unlike "$test: and skips nothing" "$out" 'SKIP'
done

done_testing
