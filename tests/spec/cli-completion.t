#!/bin/bash
# Completion in a real bash: commands, options, values and runs, from the tables of the commands.
. "$(dirname "$0")/../lib/tap.sh"

run "$SONDE" completion bash
is 'the script is printed' "$status" 0
is 'it is the installed one' "$out" "$(<"$SONDE_STAGE/share/bash-completion/completions/sonde")"

run bash -c 'source <("$SONDE" completion bash) && complete -p sonde'
is 'bash takes it' "$out" 'complete -F _sonde sonde'
is 'without a word' "$err" ''

# offers WORD...: what bash proposes for the last word
offers() {
	# shellcheck disable=SC2016 # for the inner shell
	bash -c 'source <("$SONDE" completion bash)
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_sonde 2>/dev/null
		printf "%s\n" "${COMPREPLY[@]}"' bash "$@" | sort | paste -sd ' '
}

is 'a command' "$(offers sonde doc)" 'doctor'
ok 'all commands' test "$(offers sonde '' | wc -w)" -ge 8
is 'an option' "$(offers sonde setup --dr)" '--dry-run'
is 'all options' "$(offers sonde doctor -)" '--help --json -h -j'
is 'the value of an option' "$(offers sonde env --shell z)" 'zsh'
is 'the value of a short option' "$(offers sonde env -s f)" 'fish'
is 'a value behind =, which bash splits' "$(offers sonde env --shell = z)" 'zsh'
is 'a value right behind =' "$(offers sonde env --shell =)" 'bash csh fish zsh'
is 'an argument with choices' "$(offers sonde completion b)" 'bash'
is 'a command to explain' "$(offers sonde help doc)" 'doctor'
is 'nothing for an unknown command' "$(offers sonde nonsense '')" ''

every_option_is_offered() {
	local command option offered
	for command in $("$SONDE" | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
		offered=" $(offers sonde "$command" -) "
		for option in $("$SONDE" "$command" --help | sed -n 's/^  \(-., \|    \)\(--[a-z-]*\).*/\2/p'); do
			[[ $offered == *" $option "* ]] || { diag "$command $option"; return 1; }
		done
	done
}
ok 'every option of every command' every_option_is_offered

mkdir -p sonde-runs/20240101-ls sonde-runs/20240102-cp other/20250101-mv
is 'runs by name' "$(offers sonde info 2024)" '20240101-ls 20240102-cp'
is 'runs elsewhere' "$(SONDE_RUNS=other offers sonde info 2025)" '20250101-mv'
is 'runs by path' "$(offers sonde info other/2)" 'other/20250101-mv'
ok 'programs behind --' test -n "$(offers sonde record -- bas)"
touch input-file
is 'their arguments are files' "$(offers sonde record -- cat input)" 'input-file'

if command -v zsh >/dev/null; then
	run zsh -fc 'autoload -Uz compinit; compinit -u -D; fpath=("$SONDE_STAGE/share/zsh/site-functions" $fpath); autoload -Uz _sonde; autoload +X _sonde && echo loaded'
	is 'zsh takes its script' "$out" 'loaded'
else
	skip_missing 'zsh takes its script' 'no zsh here'
fi

done_testing
