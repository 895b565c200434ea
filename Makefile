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
SEED ?= 1
COUNT ?= 300
MODULE ?=
ARGS ?=
OPTIONS ?=

STAGE := $(CURDIR)/build
BUILD := build/meson
# One tree for `make asan` and `make fuzz`. By itself undefined behaviour would only be printed.
SANITIZE := -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=1 -Dfuzz=true -Dtests=enabled \
	-Dc_args='-fno-sanitize-recover=undefined -fsanitize=fuzzer-no-link'
# Continuous integration leaves nothing out: a missing library is an error, and so is a warning.
STRICT := $(if $(CI),-Dauto_features=enabled -Dbench=enabled -Dwerror=true)
# The groups of packaging/debian-packages.txt that features need.
FEATURES := serve live fleet gpu web python

.PHONY: all deps demo tested sanitized check check-fast check-services check-fresh deb lint format asan fuzz mutate bench soak doc-pictures \
	install uninstall clean help

all: ## build what the installed libraries allow, and stage the result in build/
	@command -v meson >/dev/null || { echo "meson is missing: run 'make deps' first" >&2; exit 1; }
	@tools/configure $(BUILD) $(STAGE) $(STRICT) $(OPTIONS)
	@ninja -C $(BUILD) -j $(JOBS) --quiet
	@test -L build/lib/libsonde.so || rm -f build/lib/libsonde.so # of builds before it had a version
	@env -u DESTDIR meson install -C $(BUILD) --no-rebuild --only-changed --quiet

deps: ## install the Debian packages that all features and the tests need
	@tools/install-deps build $(FEATURES) test

demo: ## install what the core needs, build, record a real program, show what was recorded
	@tools/demo --plan
	@tools/install-deps build
	@$(MAKE) --no-print-directory all
	@tools/demo

tested: deps
	@$(MAKE) --no-print-directory all OPTIONS=-Dtests=enabled

check: tested ## install what is missing, build, run every test
	@tools/run-tests -C $(BUILD) --not-suite services

check-fast: tested ## as check, only the quick tests
	@tools/run-tests -C $(BUILD) --suite fast

check-services: deps ## run the tests that need real servers
	@tools/install-deps $(if $(CI),,--optional) services
	@$(MAKE) --no-print-directory tested
	@tools/run-tests -C $(BUILD) --suite services

check-fresh: ## make demo, install, packages and every command in pristine Debian roots; FULL=1: make check there too
	@tools/check-fresh $(if $(FULL),--full)

deb: ## build the Debian packages into build/deb
	@tools/install-deps build $(FEATURES) deb
	@tools/make-deb

lint: deps ## layout, layers, bug patterns, shell scripts, new commits (FULL=1: clang-tidy on all files)
	@tools/install-deps lint
	@$(MAKE) --no-print-directory tested
	@tools/lint $(BUILD)

format: ## lay out the C sources anew
	@tools/format

sanitized: deps
	@CC=clang CXX=clang++ tools/configure build-asan $(CURDIR)/build-asan/stage $(SANITIZE) $(if $(CI),-Dauto_features=enabled)

asan: sanitized ## unit tests and the fuzzers' corpora under the address and undefined-behaviour sanitizers
	@ninja -C build-asan -j $(JOBS) --quiet \
		$$(ninja -C build-asan -t targets all | sed -n 's,^\(tests/\(unit/\|fuzz/replay_\)[^:]*\|src/launch/sonde-transfer\): c\(pp\)\?_LINKER$$,\1,p')
	@tools/run-tests -C build-asan --under tests/unit --under tests/fuzz

fuzz: sanitized ## run each fuzz target for FUZZ_SECONDS
	@ninja -C build-asan -j $(JOBS) --quiet fuzzers
	@tools/run-fuzz build-asan $(FUZZ_SECONDS)

mutate: tested ## measure the unit tests: COUNT one-token mutants by SEED (MODULE=analyze: only there), and how many they kill
	@tools/mutate -C $(BUILD) --seed $(SEED) --count $(COUNT) $(MODULE:%=--module %)

bench: deps ## measure (BENCH=NAME: only that, with ARGS); prints ratios, side by side with other tools where installed
	@tools/install-deps --optional bench
	@$(MAKE) --no-print-directory all OPTIONS=-Dbench=enabled
	@tools/run-bench $(BUILD) $(BENCH) -- $(ARGS)

soak: tested ## run every test again and again for SOAK_SECONDS
	@tools/run-tests -C $(BUILD) --not-suite services --seconds $(SOAK_SECONDS)

doc-pictures: deps ## make the picture and the outputs in README.md again, from real runs
	@tools/install-deps pictures
	@$(MAKE) --no-print-directory all
	@tools/doc-pictures

install: all ## copy the staged tree to DESTDIR/PREFIX
	@tools/install-tree $(BUILD) $(STAGE) '$(PREFIX)' '$(DESTDIR)'

uninstall: ## remove exactly what was installed there
	@tools/install-tree --remove '$(PREFIX)' '$(DESTDIR)'

clean: ## remove everything that was built
	@rm -rf build build-asan

help: ## this list
	@echo "make [PREFIX=$(PREFIX)] [DESTDIR=] [JOBS=$(JOBS)] [OPTIONS=-DFEATURE=disabled] [FUZZ_SECONDS=$(FUZZ_SECONDS)] TARGET"
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r target what; do \
		printf '  %-15s %s\n' "$$target" "$$what"; done
