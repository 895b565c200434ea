#!/bin/bash
# Code that is in no ordinary file is named too: made at run time, static, C++ with inlined functions.
. "$(dirname "$0")/../lib/tap.sh"
. "$SOURCE_DIR/tests/probe/perf.sh"
needs_perf

"$SONDE" record -q -o jit --freq 999 -- "$TRUTH" jit 200 >truth
if [[ $? == 77 ]]; then
	skip 'code made at run time' 'this machine has another instruction set'
else
	rm -f "$(jq -r .map truth)"
	"$SONDE" export --to folded -o folded jit
	ok 'code made at run time has the name that its map gave it' grep -q 'made at run time' folded
fi

cat >static.c <<'C'
static volatile unsigned long sink;
__attribute__((noinline)) static void inner(void) { for (int i = 0; i < 100000; i++) sink += i; }
__attribute__((noinline)) static void outer(void) { for (int i = 0; i < 1000; i++) inner(); __asm__ volatile(""); }
int main(void) { outer(); return 0; }
C
if cc -O2 -static -o static static.c 2>/dev/null; then
	"$SONDE" record -q -o static.run --freq 999 -- ./static
	run "$SONDE" export --to folded static.run
	like 'a static program has its stacks' "$out" 'static;.*main;outer;inner'
else
	skip_missing 'a static program has its stacks' 'no static C library here'
fi

cat >inlined.cpp <<'C'
#include <cstdio>
namespace deep { template <class T> struct Summer {
	T sum{};
	__attribute__((always_inline)) void add(T v) { for (int i = 0; i < 100; i++) sum += v ^ T(i); }
	__attribute__((noinline)) void run(unsigned long n) { for (unsigned long i = 0; i < n; i++) { add(T(i)); __asm__ volatile("" : "+r"(sum)); } }
}; }
int main() { deep::Summer<unsigned long> s; s.run(3000000); std::printf("%lu\n", s.sum & 1); return 0; }
C
if c++ -O2 -g -o inlined inlined.cpp 2>/dev/null; then
	"$SONDE" record -q -o cpp --freq 999 -- ./inlined >/dev/null
	run "$SONDE" export --to folded cpp
	like 'C++ names are as people write them' "$out" 'deep::Summer<unsigned long>::run\(unsigned long\)'
	like 'inlined functions are there' "$out" 'run\(unsigned long\);deep::Summer<unsigned long>::add\(unsigned long\)'
	# The file is not the recorded one any more: better no name than a wrong one.
	echo 'int main(void) { return 0; }' >other.c
	rm -rf cache inlined
	cc -o inlined other.c
	run "$SONDE" export --to folded cpp
	unlike 'another file of the same name names nothing' "$out" ';main|deep'
	like 'and the module is still told' "$out" '\[inlined\]'
else
	skip_missing 'C++ names' 'no C++ compiler here'
fi
# A file that is at its path only for its process, as in a container.
if (($(id -u) == 0)); then
	mkdir -p cage/odd
	cp "$TRUTH" cage/odd/caged
	ldd "$TRUTH" | grep -o '/[^ ]*' | while read -r library; do cp --parents "$library" cage; done
	"$SONDE" record -q -o caged --probes cpu --freq 999 -- chroot cage /odd/caged shares 30 >/dev/null
	rm -rf cage
	"$SONDE" export --to folded -o folded caged
	ok 'code behind another root has its names' grep -q ';main;.*seventy;burn' folded
else
	skip 'code behind another root has its names' 'only root can have another root'
fi

# Large frames: a copy of the top of a stack must reach its beginning.
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
	"$SONDE" record -q -o numpy -- /usr/bin/python3 -c 'import numpy
a = numpy.random.rand(400, 400)
for _ in range(100): a = a @ a; a /= a.max()'
	n=$(jq '.probes[] | select(.name == "cpu").events' numpy/run.json)
	ok 'hardly a stack of numpy is cut' test "$(jq '.probes[] | select(.name == "cpu").cut_stacks' numpy/run.json)" -le $((n / 20 + 5))
else
	skip_missing 'hardly a stack of numpy is cut' 'numpy is not installed'
fi

# Code that is in no file: the kernel's, in the program.
"$SONDE" record -q -o vdso --probes cpu --freq 999 -- /usr/bin/python3 -c 'import time; [time.monotonic() for _ in range(6000000)]'
like 'code of the vdso has its name' "$("$SONDE" query vdso "select function from functions where module = '[vdso]'")" 'clock_gettime'

# As fast as it goes: nothing is lost without being counted.
"$SONDE" record -q -o fast --probes cpu --freq 20000 -- "$TRUTH" shares 5 >/dev/null
ok '20 kHz: as many samples as the CPU time has periods, or the loss is told' test "$(jq '.probes[] | select(.name == "cpu") |
	.events + .lost + .throttled * 100 > 0.8 * (.sampled_ns + .unsampled_ns) / 50000' fast/run.json)" = true
done_testing
