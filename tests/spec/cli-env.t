#!/bin/bash
# sonde env: a shell that evaluates the lines finds the installation; evaluating them twice changes nothing.
# shellcheck disable=SC2016 # what stands in single quotes is for the inner shell
. "$(dirname "$0")/../lib/tap.sh"

# A prefix whose name a careless line would split or expand.
prefix="$TEST_DIR/a prefix with 'quotes' \$HOME"
mkdir -p "$prefix/bin" "$prefix/share/bash-completion/completions"
cp "$SONDE" "$prefix/bin/"
cp "$SONDE_STAGE/share/bash-completion/completions/sonde" "$prefix/share/bash-completion/completions/"
export PREFIX=$prefix

# in_shell SHELL SCRIPT: in a small environment
in_shell() {
	run env -i PREFIX="$prefix" PATH=/usr/bin:/bin PYTHONPATH=/mine "$1" -c "$2"
}

in_shell bash 'eval "$("$PREFIX/bin/sonde" env)"; command -v sonde'
is 'PATH leads to it' "$out" "$prefix/bin/sonde"
is 'evaluating says nothing' "$err" ''

vars='PATH MANPATH PKG_CONFIG_PATH LIBRARY_PATH LD_LIBRARY_PATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH PYTHONPATH'
in_shell bash 'eval "$("$PREFIX/bin/sonde" env)"; for v in '"$vars"'; do printf "%s\n" "$v=${!v}"; done'
is 'every variable is set, with what was there behind' "$out" "PATH=$prefix/bin:/usr/bin:/bin
MANPATH=$prefix/share/man:
PKG_CONFIG_PATH=$prefix/lib/pkgconfig
LIBRARY_PATH=$prefix/lib
LD_LIBRARY_PATH=$prefix/lib
C_INCLUDE_PATH=$prefix/include
CPLUS_INCLUDE_PATH=$prefix/include
PYTHONPATH=$prefix/lib/sonde/python:/mine"
once=$out

in_shell bash 'for i in 1 2 3; do eval "$("$PREFIX/bin/sonde" env)"; done; for v in '"$vars"'; do printf "%s\n" "$v=${!v}"; done'
is 'three times is the same as once' "$out" "$once"

in_shell bash 'eval "$("$PREFIX/bin/sonde" env)"; sonde env | grep -c "^export"'
is 'an active installation has nothing to export' "$out" 0

in_shell bash 'set -euo pipefail; eval "$("$PREFIX/bin/sonde" env)"; complete -p sonde'
is 'the completion is there, in a strict shell too' "$out" 'complete -F _sonde sonde'

in_shell sh 'set -eu; eval "$("$PREFIX/bin/sonde" env)"; command -v sonde'
is 'the default fits a plain sh' "$out" "$prefix/bin/sonde"

in_shell bash '"$PREFIX/bin/sonde" env --shell csh | head -n 1'
like 'csh has its own form' "$out" '^setenv PATH .*;$'
in_shell bash '"$PREFIX/bin/sonde" env --shell fish | head -n 1'
like 'fish has its own form' "$out" '^set -gx PATH .*;$'

in_shell bash '"$PREFIX/bin/sonde" env dftracer'
is 'an unknown compatibility layer exits with 2' "$status" 2
is 'and prints no line to evaluate' "$out" ''
is 'it says which there are' "$err" "sonde env: unknown compatibility layer 'dftracer'
hint: installed in '$prefix/lib/sonde/compat': none"

mkdir -p "$prefix/lib/sonde/compat/waggle/bin" "$prefix/lib/sonde/compat/sofa"
in_shell bash '"$PREFIX/bin/sonde" env dftracer'
like 'those that are installed are listed' "$err" 'compat.: sofa, waggle$'
in_shell bash '"$PREFIX/bin/sonde" env ../compat/sofa'
is 'a name is a name, not a path' "$status" 2

in_shell bash 'eval "$("$PREFIX/bin/sonde" env waggle)"; printf "%s\n" "$PATH"'
is 'a layer stands before the installation' "$out" "$prefix/lib/sonde/compat/waggle/bin:$prefix/bin:/usr/bin:/bin"
in_shell bash 'eval "$("$PREFIX/bin/sonde" env waggle)"; printf "%s\n" "$LD_LIBRARY_PATH"'
is 'a layer without libraries adds none' "$out" "$prefix/lib"

mkdir -p "co:lon/bin"
cp "$SONDE" co:lon/bin/
run co:lon/bin/sonde env
is 'a prefix that no path can hold is an error' "$status" 1
like 'and said' "$err" 'it contains a colon'

done_testing
