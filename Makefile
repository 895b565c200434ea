# The face of the build: meson does the work in build/meson, and `make` stages the result in build/.
#
#	build/bin/sonde  build/libexec/sonde/*  build/lib/libsonde.so  build/include  build/share
#
# The staged tree is what the tests use and what `make install` copies; it runs from any place.

PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
SOAK_SECONDS ?= 600
BENCH ?=
ARGS ?=

STAGE := $(CURDIR)/build
BUILD := build/meson
# One tree for `make asan` and `make fuzz`. By itself undefined behaviour would only be printed.
SANITIZE := -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1 -Dwerror_dev=false -Dfuzz=true \
	-Dc_args='-fno-sanitize-recover=undefined -fsanitize=fuzzer-no-link'

.PHONY: all deps demo check check-fast check-services lint format asan fuzz bench soak install uninstall clean help

all: $(BUILD)/build.ninja ## build, and stage the result in build/
	@ninja -C $(BUILD) -j $(JOBS) --quiet
	@env -u DESTDIR meson install -C $(BUILD) --no-rebuild --only-changed --quiet

$(BUILD)/build.ninja:
	@command -v meson >/dev/null || { echo "meson is missing: run 'make deps' first" >&2; exit 1; }
	@mkdir -p build
	@meson setup --prefix $(STAGE) --buildtype debugoptimized $(BUILD) >build/setup.log 2>&1 || \
		{ cat build/setup.log; exit 1; }

deps: ## install the Debian packages that building and testing need
	@tools/install-deps build test

demo: ## install what is missing, build, record a real program, show what was recorded
	@tools/install-deps build
	@$(MAKE) --no-print-directory all
	@tools/demo

check: deps ## install what is missing, build, run every test
	@$(MAKE) --no-print-directory all
	@tools/run-tests -C $(BUILD) --not-suite services

check-fast: deps ## as check, only the quick tests
	@$(MAKE) --no-print-directory all
	@tools/run-tests -C $(BUILD) --suite fast

check-services: deps ## run the tests that need real servers
	@tools/install-deps $(if $(CI),,--optional) services
	@$(MAKE) --no-print-directory all
	@tools/run-tests -C $(BUILD) --suite services

lint: ## layout, layers, bug patterns, shell scripts, new commits (FULL=1: clang-tidy on all files)
	@tools/install-deps build lint
	@$(MAKE) --no-print-directory all
	@tools/lint $(BUILD)

format: ## lay out the C sources anew
	@tools/format

build-asan/build.ninja:
	@CC=clang CXX=clang++ meson setup $(SANITIZE) --prefix $(CURDIR)/build-asan/stage build-asan >/dev/null || \
		{ tail -n 40 build-asan/meson-logs/meson-log.txt; exit 1; }

asan: deps ## unit tests and the fuzzers' corpora under the address and undefined-behaviour sanitizers
	@$(MAKE) -s --no-print-directory build-asan/build.ninja
	@ninja -C build-asan -j $(JOBS) --quiet \
		$$(ninja -C build-asan -t targets all | sed -n 's,^\(tests/\(unit/\|fuzz/replay_\)[^:]*\): c\(pp\)\?_LINKER$$,\1,p')
	@tools/run-tests -C build-asan --under tests/unit --under tests/fuzz

fuzz: deps ## run each fuzz target for FUZZ_SECONDS
	@$(MAKE) -s --no-print-directory build-asan/build.ninja
	@ninja -C build-asan -j $(JOBS) --quiet fuzzers
	@tools/run-fuzz build-asan $(FUZZ_SECONDS)

bench: deps ## measure (BENCH=NAME: only that, with ARGS); prints ratios, side by side with other tools where installed
	@tools/install-deps --optional bench
	@$(MAKE) --no-print-directory all
	@meson setup --reconfigure $(BUILD) >build/setup.log
	@tools/run-bench $(BUILD) $(BENCH) -- $(ARGS)

soak: deps ## run every test again and again for SOAK_SECONDS
	@$(MAKE) --no-print-directory all
	@tools/run-tests -C $(BUILD) --not-suite services --seconds $(SOAK_SECONDS)

install: all ## copy the staged tree to DESTDIR/PREFIX
	@tools/install-tree $(BUILD) $(STAGE) '$(DESTDIR)$(PREFIX)'

uninstall: ## remove exactly what was installed there
	@tools/install-tree --remove '$(DESTDIR)$(PREFIX)'

clean: ## remove everything that was built
	@rm -rf build build-asan build-fuzz

help: ## this list
	@echo "make [PREFIX=$(PREFIX)] [DESTDIR=] [JOBS=$(JOBS)] [FUZZ_SECONDS=$(FUZZ_SECONDS)] TARGET"
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r target what; do \
		printf '  %-15s %s\n' "$$target" "$$what"; done
