#!/bin/bash
# sonde env dftracer: what DFTracer's users build and run with, and nothing of it on a default path.
. "$(dirname "$0")/../lib/tap.sh"

layer=$SONDE_STAGE/lib/sonde/compat/dftracer
cp "$SOURCE_DIR/tests/dftracer/accept.c" program.c

run "$SONDE" env dftracer
is 'exits with 0' "$status" 0
like 'the library path' "$out" "LD_LIBRARY_PATH=$layer/lib"
like 'the headers' "$out" "C_INCLUDE_PATH=$layer/include"
like 'pkg-config' "$out" "PKG_CONFIG_PATH=$layer/lib/pkgconfig"
run bash -c "cd '$SONDE_STAGE' && find bin lib libexec include share -name 'libdftracer*' -o -name dftracer.h | grep -v '^lib/sonde/compat/dftracer/'"
is 'nothing of it elsewhere' "$out" ''

activated() { bash -c "eval \"\$('$SONDE' env dftracer)\" && $1"; }

run activated 'cc -w -o by-name program.c -ldftracer && DFTRACER_ENABLE=1 DFTRACER_LOG_FILE=a ./by-name - . >/dev/null && ls a-by-name-*-app.pfw'
is 'a program built by name runs and is traced' "$status" 0
run activated 'cc -w -o by-pc program.c $(pkg-config --cflags --libs dftracer) && DFTRACER_ENABLE=1 DFTRACER_LOG_FILE=b ./by-pc - . >/dev/null && ls b-by-pc-*-app.pfw'
is 'pkg-config dftracer' "$status" 0
run activated 'DFTRACER_ENABLE=1 DFTRACER_INIT=PRELOAD DFTRACER_LOG_FILE=c LD_PRELOAD=libdftracer_preload.so cat program.c >/dev/null && ls c-cat-*-preload.pfw'
is 'libdftracer_preload.so by its name' "$status" 0
run activated 'cc -w -shared -fPIC -o plain.so -xc /dev/null -ldftracer -Wl,--no-as-needed && readelf -d "$(ldd plain.so | awk "/dftracer/ {print \$3}")" | grep NEEDED | grep -v -e libc.so.6 -e ld-linux'
is 'the library needs libc alone' "$out" ''

if command -v cmake >/dev/null; then
	mkdir cm && cp program.c cm/ && cat >cm/CMakeLists.txt <<-'EOF'
		cmake_minimum_required(VERSION 3.10)
		project(program C)
		find_package(dftracer 1.0 REQUIRED)
		add_executable(program program.c)
		target_link_libraries(program dftracer)
	EOF
	run env CMAKE_PREFIX_PATH="$layer" cmake -S cm -B cm/build
	is 'CMake finds the package' "$status" 0
	run cmake --build cm/build
	is 'and builds with it' "$status" 0
else
	skip_missing 'CMake finds the package' 'cmake is not installed'
fi

# Somewhere else it works as well.
cp -r "$SONDE_STAGE" moved
run bash -c "eval \"\$(moved/bin/sonde env dftracer)\" && cc -w -o moved-program program.c \$(pkg-config --cflags --libs dftracer) && DFTRACER_ENABLE=1 DFTRACER_LOG_FILE=d ./moved-program - . >/dev/null && ls d-moved-program-*-app.pfw"
is 'a moved installation' "$status" 0
done_testing
