# shellcheck shell=sh
# duet.sh: iterations of a loop inside a shell script, for `sonde duet --iterations fd`. Any POSIX shell.
#
#	. "$(sonde-prefix)/share/sonde/duet.sh"
#	while sonde_duet_begin; do
#		work
#		sonde_duet_end
#	done
#
# Run without sonde, sonde_duet_begin always succeeds: count yourself.

# sonde_duet_begin: wait for our turn; fails when there is no need for another iteration
sonde_duet_begin() {
	[ -n "${SONDE_DUET_FD-}" ] || return 0
	printf 'begin\n' >&"$SONDE_DUET_FD" || return 1
	read -r sonde_duet_answer_ <&"$SONDE_DUET_FD" || return 1
	[ "$sonde_duet_answer_" = go ]
}

# sonde_duet_end [VALUE]: the iteration is over
sonde_duet_end() {
	[ -n "${SONDE_DUET_FD-}" ] || return 0
	if [ $# -gt 0 ]; then
		printf 'end - - - %s\n' "$1" >&"$SONDE_DUET_FD"
	else
		printf 'end\n' >&"$SONDE_DUET_FD"
	fi
}
