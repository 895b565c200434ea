# shellcheck shell=bash
# dlio.sh: traces of DLIO training jobs with known answers, for tests that read whole jobs. Needs tap.sh.
#
# A job that make-dlio.py makes is always there. The traces of a real job, which the public analyzer published its numbers
# of, are not part of the sources: they are checked too where they are found next to the sources.

# each_dlio_job CHECK: call `CHECK NAME FOLDER`, with the answers in $TRUTH, in a directory for each job.
each_dlio_job() {
	local public=$SOURCE_DIR/../shared/data/dftracer-dlio seed=${SONDE_TEST_SEED:-$RANDOM}
	diag "SONDE_TEST_SEED=$seed repeats the generated job"
	mkdir generated public
	"$SOURCE_DIR/tests/lib/make-dlio.py" generated/traces "$seed" >generated/truth.json || fail 'a job is made'
	TRUTH=$PWD/generated/truth.json
	cd generated && "$1" generated "$PWD/traces" && cd ..
	[[ -d $public ]] || return 0
	TRUTH=$SOURCE_DIR/tests/data/dlio-public.json
	cd public && "$1" public "$(cd "$public" && pwd)" && cd ..
}

# truth FILTER: an answer.
truth() { jq -r "$1" "$TRUTH"; }
