# SPDX-License-Identifier: MIT
# Front door: installs what is missing and calls CMake, CTest and the rest.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PREFIX ?= /usr/local
DESTDIR ?=
FULL ?=
ROOM ?=
WERROR ?=
FUZZ_SECONDS ?= 20
ARGS ?=

deps := scripts/install-deps
fuzz_targets := $(basename $(notdir $(wildcard fuzz/fuzz_*.c)))
sources = $$(find $(wildcard include src sim lab firmware tests bench fuzz examples) -name '*.[ch]')

# Three tiers: the quick check, FULL=1 for what CI runs, and soak. Tests scale themselves by COEVAL_TIER.
tier := $(if $(FULL),full,quick)
export COEVAL_TIER ?= $(tier)

# Runs the tests of a preset, of ROOM if given; the last line is the count of test programs. No test at all is a failure.
# What was skipped is told with the reason; in the quick tier so is what takes longer than 10 s.
define run-tests
log=build/$(1)/tests.log; \
ctest --preset $(1) -j2 --no-tests=error $(if $(ROOM),-L '^$(ROOM)$$') $(if $(FULL),,-LE '^full$$') 2>&1 | tee $$log || true; \
grep -h '^SKIP ' build/$(1)/Testing/Temporary/LastTest.log | sort -u || true; \
awk -v limit=$(if $(FULL),60,10) '/^ *[0-9]+\/[0-9]+ Test +#/ { \
		if (/ Passed +[0-9.]+ sec/) passed++; \
		else if (/\*\*\*Skipped/) skipped++; \
		else failed++; \
		if ($$(NF - 1) > limit) printf "slow: %s took %s s; %d s are allowed in this tier\n", $$4, $$(NF - 1), limit \
	} \
	END { \
		printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped; \
		exit !(passed && !failed) \
	}' $$log
endef

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

.PHONY: demo
demo: build ## build, and show what Coeval does on a simulated testbed
	@build/release/coeval demo

# The command, and the Python package where there is Python.h: no test, benchmark or firmware. What they link to is built once for all targets.
.PHONY: build
build: ## build/release/coeval; build/release/python, where python3-dev is installed
	@$(deps)
	@cmake --preset release
	@echo 'building; the last step links all of it, which takes half a minute'
	@TIMEFORMAT='built in %0R s (%0U s of processor time)'; time cmake --build --preset release --target everyday

.PHONY: check
check: ## run the tests; ROOM=sync those of a room; FULL=1 all of them, with the programs that some compare with
	@$(deps) --check $(if $(FULL),--full)
	cmake --preset release $(if $(WERROR),-DCOEVAL_WERROR=ON)
	cmake --build --preset release
	@$(call run-tests,release)

.PHONY: soak
soak: ## a day of it: 10,000 worlds, 10^9 edges, soak-fuzz; ROOM=sync as for check, without soak-fuzz
	@COEVAL_TIER=soak $(MAKE) --no-print-directory check FULL=1 ROOM=$(ROOM)
	@$(if $(ROOM),,$(MAKE) --no-print-directory soak-fuzz)

.PHONY: soak-fuzz
soak-fuzz: ## 24 hours of fuzzing what is fast against what is plain: scans; runs of edges and events, templates
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=43200 fuzz_targets='fuzz_ctf fuzz_scan'

.PHONY: dev
dev: ## build/dev: not optimised, warnings are errors
	@$(deps) --check
	cmake --preset dev
	cmake --build --preset dev

.PHONY: asan
asan: export ASAN_OPTIONS := detect_leaks=1
asan: export UBSAN_OPTIONS := print_stacktrace=1:halt_on_error=1
asan: ## run the tests under the address and undefined-behaviour sanitizers
	@$(deps) --check
	cmake --preset asan
	cmake --build --preset asan
	@$(call run-tests,asan)

.PHONY: bench
bench: build ## run the benchmarks; ARGS="..." is passed on
	@cmake --build --preset release --target coeval-bench
	@build/release/coeval-bench $(ARGS)

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZ_SECONDS (20)
	@$(deps) --fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz
	@$(if $(fuzz_targets),,echo "no fuzz targets"; exit 1)
	@$(MAKE) --no-print-directory -k -j2 $(addprefix run-,$(fuzz_targets))

.PHONY: $(addprefix run-,$(fuzz_targets))
$(addprefix run-,$(fuzz_targets)): run-%:
	@mkdir -p build/fuzz/corpus/$* build/fuzz/crashes
	@if build/fuzz/$* -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -timeout=10 \
		-artifact_prefix=$(CURDIR)/build/fuzz/crashes/$*- build/fuzz/corpus/$* \
		$(wildcard tests/regressions/$* tests/data) >build/fuzz/$*.log 2>&1; then \
		echo "$*: $$(tail -n 1 build/fuzz/$*.log)"; \
	else \
		tail -n 60 build/fuzz/$*.log; echo "$*: FAILED"; exit 1; \
	fi

.PHONY: firmware
firmware: ## build/firmware: what runs on the sync node; BOARD=nucleo, ID=2, SLOT=2/4, INTERVAL_MS=500
	@ID=$(ID) SLOT=$(SLOT) INTERVAL_MS=$(INTERVAL_MS) firmware/build syncnode build/firmware/syncnode $(or $(BOARD),blackpill) || [ $$? -eq 77 ]

.PHONY: site
site: ## build/site: README and docs as web pages
	@scripts/site build/site && echo build/site/index.html

.PHONY: wheel
wheel: build ## build/wheel: the Python package, for 3.11 and later, with the libraries in it
	@rm -rf build/wheel build/wheel-source
	@cp -r python build/wheel-source
	@cd build/wheel-source && COEVAL_BUILD=$(CURDIR)/build/release COEVAL_SOURCE=$(CURDIR) /usr/bin/python3 setup.py -q bdist_wheel -d $(CURDIR)/build/wheel
	@ls build/wheel

.PHONY: install
install: ## install to PREFIX (/usr/local), under DESTDIR if given
	@$(deps)
	cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	cmake --build --preset release
	DESTDIR=$(DESTDIR) cmake --install build/release

.PHONY: uninstall
uninstall: ## remove what the last `make install` installed
	@[ -e build/release/install_manifest.txt ] || { echo 'nothing was installed from here'; exit 1; }
	@while read -r file || [ -n "$$file" ]; do \
		rm -f "$(DESTDIR)$$file"; \
		dir=$$(dirname "$(DESTDIR)$$file"); \
		while case $$dir in *coeval*) rm -rf "$$dir/__pycache__"; rmdir "$$dir" 2>/dev/null ;; *) false ;; esac; do dir=$$(dirname "$$dir"); done; \
	done <build/release/install_manifest.txt

.PHONY: deb
deb: ## build/deb: Debian packages for the release at hand, checked by lintian
	@$(deps) --deb
	@scripts/deb

.PHONY: deb-check
deb-check: ## build the packages twice for the same bytes; install, try and remove them in trees of Debian 12 and 13 (root, network)
	@$(deps) --deb --trees
	@tests/packages.sh $(ARGS)

.PHONY: format
format: ## lay out the sources by .clang-format
	@clang-format -i $(sources)

.PHONY: format-check
format-check: ## fail if a source is laid out otherwise
	@clang-format --dry-run -Werror $(sources)

.PHONY: clean
clean: ## remove build/
	rm -rf build
