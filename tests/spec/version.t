#!/bin/bash
# The front program names itself, and says what is wrong with a command line it does not understand.
. "$(dirname "$0")/../lib/tap.sh"

run "$SONDE" --version
is '--version exits with 0' "$status" 0
like '--version prints the name and the version' "$out" '^sonde [0-9]+\.[0-9]+\.[0-9]+$'
is '--version says nothing on standard error' "$err" ''

run "$SONDE" --no-such-option
is 'an unknown option is a usage error' "$status" 2
is 'a usage error prints no data' "$out" ''
like 'a usage error names what was wrong' "$err" 'no-such-option'

run "$SONDE" no-such-command
is 'an unknown command is a usage error' "$status" 2
like 'it names the command' "$err" '^sonde: .*no-such-command'

run "$SONDE" recrod
is 'a mistyped command is a usage error' "$status" 2
like 'it proposes the nearest' "$err" 'record'

done_testing
