# shellcheck shell=bash
# Commands about this machine and installation: doctor, setup, env, completion, help, version.

smoke_doctor() {
	want '"state"' sonde doctor --json
	want '.' sonde doctor
}

smoke_setup() {
	want '.' sonde setup --dry-run
}

smoke_env() {
	local line
	want 'PATH' sonde env
	line=$(env -i PATH=/usr/bin:/bin bash -c "eval \"\$('$(command -v sonde)' env)\"; command -v sonde")
	[[ $line -ef $(command -v sonde) ]]
	for line in dftracer duet sofa selftf waggle; do want "$line" sonde env "$line"; done
	fails 2 'nonsense' sonde env nonsense
}

smoke_completion() {
	want 'complete' sonde completion bash
	bash -n out
	want '#compdef' sonde completion zsh
}

smoke_help() {
	want '^  record ' sonde help
	want '^Usage: sonde record' sonde help record
}

smoke_version() { want '^sonde [0-9]' sonde version; }
