#!/bin/bash
# A front program without the others says what is missing instead of failing in silence.
. "$(dirname "$0")/../lib/tap.sh"

mkdir -p prefix/bin elsewhere
cp "$SONDE" prefix/bin/
cp "$SONDE" elsewhere/

run prefix/bin/sonde doctor
is 'a missing program exits with 1' "$status" 1
like 'it is named' "$err" "^sonde: cannot run '.*/prefix/libexec/sonde/sonde-look' for 'sonde doctor': No such file or directory"
like 'and what to do' "$err" 'hint: this installation is incomplete'

run prefix/bin/sonde record -- true
is 'without the recorder, record exits as for its own failures' "$status" 125

run elsewhere/sonde doctor
is 'a program outside bin exits with 1' "$status" 1
like 'it says where it should be' "$err" "is not in PREFIX/bin"

run prefix/bin/sonde completion bash
is 'missing scripts are an error' "$status" 1
like 'with the file that is missing' "$err" 'completions/sonde'

run "$SONDE_STAGE/libexec/sonde/sonde-look"
is 'a program of libexec is not for direct use' "$status" 2
like 'and says so' "$err" "internal program of 'sonde'"

done_testing
