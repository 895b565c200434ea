#!/bin/bash
# A feature whose library is missing is left out under `auto`, with the package to install; `enabled` makes it an error.
. "$(dirname "$0")/../lib/tap.sh"

# The libraries of this machine, less one.
libraries_without() {
	rm -rf pc
	mkdir pc
	while IFS= read -r -d : dir; do
		find "$dir" -name '*.pc' ! -name "$1.pc" -exec cp -t pc {} + 2>/dev/null
	done <<<"$(pkg-config --variable pc_path pkg-config):"
	export PKG_CONFIG_LIBDIR=$TEST_DIR/pc
}
configure() {
	rm -rf build
	run meson setup -Dtests=disabled -Dbench=disabled -Dweb=disabled "$@" build "$SOURCE_DIR"
}

libraries_without libnats
configure
is 'a missing library is no failure' "$status" 0
like 'one line has the feature, the library and the package' "$out" 'fleet *: no: libnats not found; apt-get install libnats-dev'
like 'the others are there' "$out" 'tune *: yes'
configure -Dfleet=enabled
is 'enabled makes it an error' "$status" 1
like 'which names the package, too' "$out" 'fleet is enabled but cannot be built: libnats not found; run: apt-get install libnats-dev'

libraries_without libmicrohttpd
configure
like 'a feature that needs another is left out with it' "$out" 'live *: no: needs serve; apt-get install libmicrohttpd-dev'
like 'and so on' "$out" 'fleet *: no: needs live; apt-get install libmicrohttpd-dev'

libraries_without libdw
configure
is 'the core is no feature' "$status" 1
like 'what it lacks is named, and how to get it' "$out" 'not found: libdw. Install .*tools/install-deps build'

if command -v musl-gcc >/dev/null; then
	unset PKG_CONFIG_LIBDIR
	CC=musl-gcc configure -Dauto_features=disabled
	is 'another C library is refused' "$status" 1
	like 'with the platform' "$out" 'supports Linux on x86-64 with glibc only'
else
	skip_missing 'another C library is refused' 'no musl-gcc'
fi
printf '%s\n' "[binaries]" "c = 'cc'" "[host_machine]" "system = 'linux'" "cpu_family = 'aarch64'" "cpu = 'aarch64'" "endian = 'little'" >cross.ini
configure --cross-file cross.ini -Dauto_features=disabled
is 'another processor is refused' "$status" 1
like 'by name' "$out" 'this build is for linux on aarch64'
done_testing
