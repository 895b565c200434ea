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
	local sonde dir layer
	sonde=$(command -v sonde)
	dir=$(dirname "$sonde")
	# In /usr and /usr/local there is nothing to add to PATH.
	want "^$sonde$" env -i PATH="$dir:/usr/bin:/bin" bash -c "eval \"\$('$sonde' env)\"; command -v sonde"
	for layer in dftracer duet sofa selftf waggle; do
		# Python and the fleet may be left out, and what is built on them.
		if $is_partial && [[ ! -d $dir/../lib/sonde/compat/$layer ]]; then continue; fi
		want "compat/$layer" sonde env "$layer"
	done
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
