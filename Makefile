# The face of the build: meson does the work in build/meson, and `make` stages the result in build/.
#
#	build/bin/sonde  build/libexec/sonde/*  build/lib/libsonde.so  build/include  build/share
#
# The staged tree is what the tests use and what `make install` copies; it runs from any place.

PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 30
SOAK_SECONDS ?= 600
BENCH ?=
ARGS ?=
OPTIONS ?=

STAGE := $(CURDIR)/build
BUILD := build/meson
SANITIZE := -Db_sanitize=address,undefined -Db_lundef=false
# Continuous integration leaves nothing out: a missing library is an error, and so is a warning.
STRICT := $(if $(CI),-Dauto_features=enabled -Dbench=enabled -Dwerror=true)
# The groups of packaging/debian-packages.txt that features need.
FEATURES := serve live fleet gpu web python

.PHONY: all deps demo tested check check-fast check-services check-fresh deb lint format asan fuzz bench soak install uninstall clean help

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

lint: deps ## layout, bug patterns, layers, banned functions, libraries needed, shell scripts
	@tools/install-deps lint
	@$(MAKE) --no-print-directory tested
	@tools/lint $(BUILD)

format: ## lay out the C sources anew
	@tools/format

asan: deps ## unit tests and the fuzzers' corpus under the address and undefined-behaviour sanitizers
	@tools/configure build-asan $(CURDIR)/build-asan/stage $(SANITIZE) $(STRICT) -Dtests=enabled
	@ninja -C build-asan -j $(JOBS) --quiet
	@tools/run-tests -C build-asan --under tests/unit --under tests/fuzz

fuzz: deps ## run each fuzz target for FUZZ_SECONDS
	@CC=clang CXX=clang++ tools/configure build-fuzz $(CURDIR)/build-fuzz/stage $(SANITIZE) -Dfuzz=true -Dtests=enabled
	@ninja -C build-fuzz -j $(JOBS) --quiet
	@tools/run-fuzz build-fuzz $(FUZZ_SECONDS)

bench: deps ## measure (BENCH=NAME: only that, with ARGS); prints ratios, side by side with other tools where installed
	@tools/install-deps --optional bench
	@$(MAKE) --no-print-directory all OPTIONS=-Dbench=enabled
	@tools/run-bench $(BUILD) $(BENCH) -- $(ARGS)

soak: tested ## run every test again and again for SOAK_SECONDS
	@tools/run-tests -C $(BUILD) --not-suite services --seconds $(SOAK_SECONDS)

install: all ## copy the staged tree to DESTDIR/PREFIX
	@tools/install-tree $(BUILD) $(STAGE) '$(PREFIX)' '$(DESTDIR)'

uninstall: ## remove exactly what was installed there
	@tools/install-tree --remove '$(PREFIX)' '$(DESTDIR)'

clean: ## remove everything that was built
	@rm -rf build build-asan build-fuzz

help: ## this list
	@echo "make [PREFIX=$(PREFIX)] [DESTDIR=] [JOBS=$(JOBS)] [OPTIONS=-DFEATURE=disabled] [FUZZ_SECONDS=$(FUZZ_SECONDS)] TARGET"
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r target what; do \
		printf '  %-15s %s\n' "$$target" "$$what"; done
