# The front door. On a bare Debian 12 each target installs the packages it lacks,
# configures and builds; everything lands in build/<preset>.
JOBS ?= $(shell n=$$(nproc); echo $$(( n < 2 ? n : 2 )))
PREFIX ?= /usr/local
DESTDIR ?=
BENCH_ARGS ?=

configure = cmake --preset $(1)
build = cmake --build --preset $(1) --parallel $(JOBS)
test = ctest --preset $(1) --parallel $(JOBS)
# How many executions were explored; not of the mutants, which are meant to fail.
explored = grep -ahE '^(explored |\[model\] )' build/dev/Testing/Temporary/LastTest.log \
  | grep -v 'the last one failed' | sort -u

.NOTPARALLEL:
.PHONY: help run test check bench install soak format tidy clean \
        check-format check-headers check-layering check-clang check-release check-asan check-tsan \
        check-noexcept check-fuzz

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' Makefile

run: ## the guided tour: supervised actors, timers, a restart, an fd event
	@scripts/setup.sh build
	@mkdir -p build && echo "building the tour ..."
	@{ $(call configure,release) && $(call build,release) --target tour; } >build/run.log 2>&1 \
	  || { cat build/run.log; exit 1; }
	@build/release/examples/tour

test: ## build with assertions and run every test
	@scripts/setup.sh build test
	$(call configure,dev)
	$(call build,dev)
	$(call test,dev)
	@$(explored)

check: ## format, headers, layering, clang, release; the tests with sanitizers, without exceptions
check: check-format check-headers check-layering check-clang check-release check-asan check-tsan \
       check-noexcept check-fuzz

check-format: ## the sources are as clang-format writes them
	@scripts/setup.sh check
	scripts/format.sh --check

check-headers: ## each public header compiles alone
	@scripts/setup.sh build check
	scripts/check-headers.sh

check-layering: ## no include goes against the folder table
	scripts/check-layering.sh

check-clang: ## library and examples without a warning from clang
	@scripts/setup.sh build check
	$(call configure,clang)
	$(call build,clang)

check-release: ## what users install, and the tour, with all optimisations and no warning
	@scripts/setup.sh build
	$(call configure,release)
	$(call build,release) --target jzx_shared --target jzx_static --target tour
	build/release/examples/tour >build/release/tour.log

check-asan check-tsan check-noexcept: check-%:
	@scripts/setup.sh build test
	$(call configure,$*)
	$(call build,$*)
	$(call test,$*)

check-fuzz: ## the fuzz targets, over their stored inputs and for some seconds more
	@scripts/setup.sh build check
	$(call configure,fuzz)
	$(call build,fuzz)
	$(call test,fuzz)

bench: ## run the benchmarks; BENCH_ARGS='--benchmark_filter=...'
	@scripts/setup.sh build bench
	$(call configure,release)
	$(call build,release) --target jazz-bench
	build/release/bench/jazz-bench $(BENCH_ARGS)

install: ## install library, headers and package files to PREFIX, below DESTDIR
	@scripts/setup.sh build
	$(call configure,release) -DCMAKE_INSTALL_PREFIX="$(PREFIX)"
	$(call build,release) --target jzx_shared --target jzx_static
	DESTDIR="$(DESTDIR)" cmake --install build/release
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

soak: ## the long runs, which `make test` leaves out; an hour of them are the fuzz targets
	@scripts/setup.sh build test check
	$(call configure,dev)
	$(call build,dev)
	ctest --preset soak
	@$(explored)
	$(call configure,fuzz)
	$(call build,fuzz)
	ctest --preset fuzz-soak

format: ## rewrite the sources with clang-format
	@scripts/setup.sh check
	scripts/format.sh

tidy: ## clang-tidy over the library
	@scripts/setup.sh build test tidy
	$(call configure,dev)
	find src -name '*.cpp' -print0 | xargs -0 -n 4 -P $(JOBS) clang-tidy -p build/dev --quiet

clean: ## remove everything built
	rm -rf build
