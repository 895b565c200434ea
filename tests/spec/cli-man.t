#!/bin/bash
# Man pages: one a command, with every option of its --help in it.
. "$(dirname "$0")/../lib/tap.sh"

man_dir=$SONDE_STAGE/share/man/man1
[[ -e $man_dir/sonde.1 ]] || skip_service 'this build has no man pages (scdoc was missing)'

# page NAME: its text
page() { man -l --ascii "$man_dir/$1.1" 2>/dev/null | col -b; }
command -v man >/dev/null || page() { sed 's/\\//g' "$man_dir/$1.1"; }

overview=$(MANWIDTH=200 page sonde)
for command in $("$SONDE" | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
	like "sonde(1) has $command" "$overview" "sonde $command"
	case $command in
	help | version | completion) continue ;;
	esac
	ok "sonde-$command(1) is installed" test -s "$man_dir/sonde-$command.1"
	text=$(MANWIDTH=200 page "sonde-$command")
	for option in $("$SONDE" "$command" --help | sed -n 's/^  \(-., \|    \)\(--[a-z-]*\).*/\2/p'); do
		like "sonde-$command(1) has $option" "$text" "(^|[^a-z-])$option"
	done
done

if command -v man >/dev/null; then
	run man --warnings -E UTF-8 -l -Tutf8 "$man_dir"/*.1
	is 'the pages are well-formed' "$err" ''
	run env PATH="$PATH" MANPAGER=cat "$SONDE" help --man doctor
	like 'help --man opens one' "$out" 'sonde-doctor'
else
	skip_missing 'the pages are well-formed' 'no man here'
	skip_missing 'help --man opens one' 'no man here'
fi
run "$SONDE" help --man version
is 'a command without a page is an error' "$status" 1

done_testing
