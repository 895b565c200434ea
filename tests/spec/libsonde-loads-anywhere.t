#!/bin/bash
# libsonde goes into other people's programs: it needs libc alone, and an old one will do.
. "$(dirname "$0")/../lib/tap.sh"

library=$SONDE_STAGE/lib/libsonde.so
is 'it needs libc and its loader, nothing else' \
	"$(readelf -dW "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | sort | tr '\n' ' ')" 'ld-linux-x86-64.so.2 libc.so.6 '
newest=$(objdump -T "$library" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
is 'of a version from 2012 or before' "$(printf '%s\nGLIBC_2.17\n' "$newest" | sort -V | tail -n 1)" GLIBC_2.17
is 'it calls no allocator' "$(objdump -T "$library" | grep -E 'UND.* (malloc|calloc|realloc|free)$')" ''
is 'it prints nothing by itself' "$(objdump -T "$library" | grep -E 'UND.* (printf|fprintf|puts|fputs|perror)$')" ''
done_testing
