# shellcheck shell=bash
# What programs use of sonde, besides its commands: headers and libraries, Python, the older tools' interfaces.

write_annotated() {
	cat >"$1" <<'C'
#include <sonde/sonde.h>
int main(void)
{
	sonde_step("turn", 1, 0.5);
	return 0;
}
C
}

has_turn() {
	sonde record -q --probes trace -o run -- "$@"
	want '"name":"turn"' sonde events --table step --json run
}

uses_headers() {
	write_annotated annotated.c
	# shellcheck disable=SC2046 # words
	gcc annotated.c -o annotated $(pkg-config --cflags --libs sonde)
	has_turn ./annotated
	# shellcheck disable=SC2046
	gcc annotated.c -o plain $(pkg-config --cflags sonde)
	./plain # without sonde it does nothing
}

uses_cmake() {
	command -v cmake >/dev/null || { echo 'cmake is not installed'; return 1; }
	write_annotated annotated.c
	cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.18)
project(annotated C)
find_package(sonde 0.1 REQUIRED)
add_executable(annotated annotated.c)
target_link_libraries(annotated sonde::sonde)
CMAKE
	quietly cmake -S . -B build
	quietly cmake --build build
	has_turn build/annotated
}

uses_python() {
	cat >annotated.py <<'PY'
import sonde
sonde.step("turn", 1, 0.5)
print(sonde.is_on())
PY
	want False /usr/bin/python3 annotated.py
	has_turn /usr/bin/python3 annotated.py
}

# with NAME COMMAND: run a shell command with an older tool's interface on the paths.
with() { bash -c "set -e; eval \"\$(sonde env $1)\"; $2"; }

uses_dftracer() {
	echo hello >file
	with dftracer 'DFTRACER_ENABLE=1 DFTRACER_INIT=PRELOAD DFTRACER_LOG_FILE=log LD_PRELOAD=libdftracer_preload.so cat file'
	want 'file' cat log-cat-*.pfw
	with dftracer '/usr/bin/python3 -c "from dftracer.python import dftracer, dft_fn"'
}

uses_sofa() {
	quietly with sofa 'sofa --logdir log record "ls /usr"'
	quietly with sofa 'sofa --logdir log report'
}

uses_duetbench() { want 'duetbench|usage|Usage' with duet 'duetbench --help'; }

uses_selftf() { want 'usage' with selftf 'client.py --help'; } # its library needs TensorFlow

uses_waggle() { quietly with waggle '/usr/bin/python3 -c "import waggle, live_metrics"'; }
