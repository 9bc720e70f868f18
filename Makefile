# cxloom: `make demo` and `make test` do everything from a bare system; `make` alone lists the rest.
#
# What is made lives in two places: .venv/ (Python environment and tools) and build/ (one CMake tree for the library,
# the extension, the C++ tests and the benchmarks). The Python files are used where they are.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL: # ninja, ctest and pytest use all cores on their own
.SUFFIXES:
.PHONY: help demo test build compiled cxx-tests cxx-tests-long alone-check dram-check fabric-check window-check coherence-check crash-check commands-check count-check boot-check simplessd-check gem5-check champsim-check sst-check python-tests python-tests-long lint lint-format lint-tidy lint-python format sanitize sanitize-library bench bench-against bench-history \
  fuzz same-bytes threads-check package package-check site validation clean constraints FORCE

JOBS ?= $(shell nproc)
# A new tree compiles sources of one room together, in half the time. One in which C++ is changed compiles less again without:
# make build COMPILE_TOGETHER=OFF. A tree stays as it was made until it is asked for in the other form, which compiles it anew.
AS_MADE := $(if $(wildcard build/CMakeCache.txt),$(or $(shell sed -n 's/^CXLOOM_COMPILE_TOGETHER:BOOL=//p' build/CMakeCache.txt),OFF))
COMPILE_TOGETHER ?= $(or $(AS_MADE),ON)
BIN := .venv/bin
# One at a time: two that write to build/ at once write over each other.
CMAKE := flock -o .venv/.building $(BIN)/cmake
# Makes each line of targets beside the others. (Not by `&`, which would not let Ctrl-C end them. A blank at the end joins lines.)
BESIDE = xargs -P 2 -L 1 $(MAKE) --no-print-directory <<<
# Hundreds of thousands of states, or megabytes of traffic at every depth: minutes under the sanitizers, which see the same code in
# the other explorers and in the random testers.
UNSANITIZED := -PrefetchExplorer.*:AtomicsExplorer.*:*.FingerprintsSayEnough:DramDepth.*
# A slice of that for continuous integration: the rooms that the library cxloom_sanitized has under sanitizers (tests/CMakeLists.txt),
# without explorers, the faults that they must find, and long statistics.
SANITIZED_ROOMS := coherence kernel tags
UNSANITIZED_IN_CI := $(UNSANITIZED):*Explorer.*:*AgentFaults.*:CoherenceFaults.*:Litmus.*:DeadlockCheck.*:WeightedArbiter.*
UNSANITIZED_IN_CI := $(UNSANITIZED_IN_CI):*ExplorerLong.*:FailureFaults.*:*.FindsFaults:BatchMeans.*:CacheHitRate.*:Kernel.EventsAreCountedAnew*
# Of tables of sizes the small ones, which do the same in fewer sets.
UNSANITIZED_IN_CI := $(UNSANITIZED_IN_CI):*/SnoopFilterAgainstModel.*/5?:*/TagArrayAgainstModel.*/1?:*/TagArrayAgainstModel.*/2?
CXX_TESTS := JOBS=$(JOBS) scripts/cxx_tests.sh
# The C++ tests that take longest, of which a run of the tests has neighbours: other explorers of the same protocols, other litmus
# tests, fewer depths. `make cxx-tests-long` has them, coherence-check, dram-check and fabric-check have more.
LONG_CXX_TESTS := DramDepth.*:PrefetchExplorer.*:*.FingerprintsSayEnough:AtomicsExplorer.AtA*Agent:AtomicsExplorer.InTheCache*
LONG_CXX_TESTS := $(LONG_CXX_TESTS):Litmus.MoreInFlight*:DeadlockCheck.RandomFabricsWith*:LivelockWatch.SeesEvents*
LONG_CXX_TESTS := $(LONG_CXX_TESTS):HomeAgentFaults.ALostMessage*:HomeAgentExplorer.TwoRequestsInFlight*
LONG_CXX_TESTS := $(LONG_CXX_TESTS):HomeAgentExplorer.WritesPast*:Generators.FatTreesHave*:BatchMeans.ALevelThatChanges*
LONG_CXX_TESTS := $(LONG_CXX_TESTS):DramAlone.Sends*:BatchMeans.IntervalsCover*:DramMapping.AnyNumber*:DramStarvation.ARequesterAlone*
LONG_CXX_TESTS := $(LONG_CXX_TESTS):FailureExplorerLong.*

# The environment is .venv and nothing else that the caller happens to have active.
unexport PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE VIRTUAL_ENV PIP_USER PIP_TARGET PIP_PREFIX
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
export HYPOTHESIS_STORAGE_DIRECTORY := $(CURDIR)/build/cache/hypothesis

help:
	@echo "make demo      build, then run the demonstration"
	@echo "make test      C++ and Python tests, linters, type checks"
	@echo "make build     the environment and the extension; afterwards .venv/bin/cxloom works"
	@echo "make guards    what each new part must have besides: rows of tests, places in docs, floors; half a minute"
	@echo "make lint      clang-format, clang-tidy, ruff, mypy"
	@echo "make format    rewrite C++ and Python files in the project's style"
	@echo "make sanitize  all C++ tests under the address and undefined-behaviour sanitizers"
	@echo "make sanitize-library  a slice of that: the tests of some rooms as they are, with these rooms of the library under sanitizers"
	@echo "make cxx-tests-long  all C++ tests, of which make test leaves out the longest"
	@echo "make python-tests-long  the Python tests with all random systems and cases, of which make test has a slice"
	@echo "make fuzz      random messages through the flit packers and back, for FUZZ_SECONDS"
	@echo "make alone-check  every C++ source compiled by itself: whether it includes all that it needs"
	@echo "make dram-check  a hundred million DRAM commands against the table of timings; bandwidth at all depths"
	@echo "make fabric-check  ten thousand random fabrics, proven free of deadlocks and played"
	@echo "make coherence-check  every state of larger coherent systems, and ten million accesses of random ones"
	@echo "make commands-check  every command on 3000 random systems of all features (SYSTEMS)"
	@echo "make count-check  instructions, loads and stores of real programs beside those of valgrind's lackey"
	@echo "make boot-check  a stock Linux on six topologies of CXL devices, all of their memory written and read; times of programs there"
	@echo "make window-check  how often intervals cover the true mean, over hundreds of runs"
	@echo "make threads-check  the same of these systems and N_SYSTEMS=2000 random ones in threads, and under ThreadSanitizer"
	@echo "make same-bytes  what changed in the results of about 1000 systems since BASE (a commit; default HEAD)"
	@echo "make bench-against  instructions and time of the benchmarks beside those of BASE (a commit; default HEAD)"
	@echo "make bench-history  instructions of the benchmarks at this commit, added to docs/speed-history.md"
	@echo "make bench     C++ micro-benchmarks, and benchmarks/run.py, startup.py, sweep.py, epochs.py and exec.py"
	@echo "make package   the wheel, in build/wheel, installed and tried, also by a program and a plug-in in C and C++"
	@echo "make package-check  sdist, a wheel from it, what that links, and the demonstration by a user of a bare Debian"
	@echo "make validation  all studies, and docs/validation.md: published numbers beside ours"
	@echo "make site      the documentation as a site, in build/site/html"
	@echo "make clean     remove build/ and .venv/"

demo: build
	$(BIN)/python -m cxloom demo

# Linters and Python tests run beside the C++ side, which compiles first: either by itself leaves a core idle now and then. The Python
# tests take longest, so that a run ends with their summary. ALSO: what is made after the C++ tests.
ALSO ?=
test: build
	@+$(BESIDE) $$'$(strip cxx-tests $(ALSO))\nlint python-tests'

# --- environment -----------------------------------------------------------------------------------------------------
# What the goal will need later is asked for at once, so that a user who has to install it hears of it in one line.
LATER := $(if $(filter test cxx-tests cxx-tests-long sanitize sanitize-library,$(MAKECMDGOALS)),gtest) $(if $(filter test cxx-tests cxx-tests-long sanitize-library,$(MAKECMDGOALS)),qemu) \
  $(if $(filter demo,$(MAKECMDGOALS)),exec) $(if $(filter bench,$(MAKECMDGOALS)),benchmark) $(if $(filter test python-tests python-tests-long,$(MAKECMDGOALS)),browser)
# An environment that was copied or moved with the tree is made anew.
MOVED := $(filter-out $(CURDIR),$(if $(wildcard .venv/.root),$(shell cat .venv/.root)))

.venv/.installed-build: scripts/bootstrap.sh pyproject.toml constraints.txt $(if $(MOVED),FORCE)
	@scripts/bootstrap.sh venv $(LATER)
	@touch $@

.venv/.installed: .venv/.installed-build scripts/link_build_tree.py
	@scripts/bootstrap.sh packages
	@touch $@

.venv/.installed-site: .venv/.installed
	@CXLOOM_BUILD_TREE=1 $(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt \
	  --no-build-isolation '.[site]'
	@touch $@

.venv/.installed-release: .venv/.installed
	@CXLOOM_BUILD_TREE=1 $(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt \
	  --no-build-isolation '.[release]'
	@touch $@

.venv/.installed-dev: .venv/.installed
	@echo "Installing development tools into .venv"
	@CXLOOM_BUILD_TREE=1 $(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt \
	  --no-build-isolation '.[dev]'
	@touch $@

# The library that the plug-in of `cxloom exec` needs was not there when the tree was configured. It may be now: CMake looks again.
LACKS_ZYDIS := $(if $(wildcard build/CMakeCache.txt),$(shell grep -m 1 '^ZYDIS_[A-Z]*:[A-Z]*=.*-NOTFOUND$$' build/CMakeCache.txt))

# --- C++ -------------------------------------------------------------------------------------------------------------
build/.configured: .venv/.installed-build $(if $(filter-out $(COMPILE_TOGETHER),$(AS_MADE))$(LACKS_ZYDIS),FORCE)
	@$(CMAKE) -S . -B build -G Ninja --log-level=NOTICE \
	  -DCMAKE_MAKE_PROGRAM="$(CURDIR)/$(BIN)/ninja" -DPython_EXECUTABLE="$(CURDIR)/$(BIN)/python" -DCXLOOM_WERROR=ON \
	  -DCXLOOM_COMPILE_TOGETHER=$(COMPILE_TOGETHER)
	@touch $@

build/.configured-tests: build/.configured
	@scripts/bootstrap.sh gtest qemu
	@$(CMAKE) -S . -B build --log-level=NOTICE -DCXLOOM_TESTS=ON
	@touch $@

build/.configured-benchmarks: build/.configured
	@scripts/bootstrap.sh benchmark
	@$(CMAKE) -S . -B build --log-level=NOTICE -DCXLOOM_BENCHMARKS=ON
	@touch $@

build/sanitize/.configured: .venv/.installed
	@scripts/bootstrap.sh gtest
	@$(CMAKE) -S . -B build/sanitize -G Ninja --log-level=NOTICE \
	  -DCMAKE_MAKE_PROGRAM="$(CURDIR)/$(BIN)/ninja" -DCMAKE_BUILD_TYPE=Debug -DCXLOOM_SANITIZE=address,undefined \
	  -DCXLOOM_PYTHON=OFF -DCXLOOM_TESTS=ON
	@touch $@

compiled: build/.configured
	@$(CMAKE) --build build --target _core

# In a new tree the packages that the command needs are installed beside the compiler, which does not need them.
ifneq ($(wildcard .venv/.installed),)
build: .venv/.installed compiled
else
build: build/.configured
	@+$(BESIDE) $$'compiled\n.venv/.installed'
endif

cxx-tests: build build/.configured-tests
	@$(CMAKE) --build build
	@$(CXX_TESTS) build '-$(LONG_CXX_TESTS)'

cxx-tests-long: build build/.configured-tests
	@$(CMAKE) --build build
	@$(CXX_TESTS) build

# Continuous integration compiles sources of a room together, where one may live on what another includes. A test reads whether types
# and what is of the standard library come from somewhere (tests/python/test_includes.py); this knows functions and constants, too.
alone-check: .venv/.installed
	@scripts/bootstrap.sh gtest qemu
	@$(CMAKE) -S . -B build/alone -G Ninja --log-level=NOTICE \
	  -DCMAKE_MAKE_PROGRAM="$(CURDIR)/$(BIN)/ninja" -DPython_EXECUTABLE="$(CURDIR)/$(BIN)/python" -DCXLOOM_WERROR=ON \
	  -DCMAKE_BUILD_TYPE=Debug -DCXLOOM_TESTS=ON -DCXLOOM_COMPILE_TOGETHER=OFF
	@$(CMAKE) --build build/alone

# Tests of every run of the tests, longer: a hundred million commands of random traffic over random configurations, and the
# bandwidth of every preset and pattern at twelve depths and six distances: three minutes of a core.
dram-check: build build/.configured-tests
	@$(CMAKE) --build build --target test_memory
	CXLOOM_DRAM_COMMANDS=100000000 CXLOOM_DRAM_DEPTHS=all build/tests/bin/memory \
	  --gtest_filter='DramConstraints.Hold*:DramDepth.*:DramStarvation.*'

# Random fabrics of switches, with failures and without: what is proven free of deadlocks ends. Four minutes of a core.
FABRICS ?= 10000
fabric-check: build build/.configured-tests
	@$(CMAKE) --build build --target test_system
	CXLOOM_FABRICS=$(FABRICS) build/tests/bin/system --gtest_filter='DeadlockCheck.*'

# Power that fails in large systems of persistent switches, and again during recovery.
CRASH_INSTANTS ?= 100000
crash-check: build .venv/.installed-dev
	CXLOOM_CRASH_INSTANTS=$(CRASH_INSTANTS) $(BIN)/python -m pytest -s tests/validation/test_crash.py

# Larger systems than the tests have time for, and random ones with ten million accesses.
COHERENCE_ACCESSES ?= 10000000
COHERENCE_SEED ?= 1
coherence-check: build build/.configured-tests
	@$(CMAKE) --build build --target test_coherence
	CXLOOM_COHERENCE_LARGE=1 CXLOOM_COHERENCE_ACCESSES=$(COHERENCE_ACCESSES) CXLOOM_COHERENCE_SEED=$(COHERENCE_SEED) \
	  build/tests/bin/coherence --gtest_filter='Coherence*:*Explorer.*:FailureExplorerLong.*:Litmus.*'

# How often intervals cover the true mean, and steady windows are flagged: hundreds of runs with known means.
window-check: build .venv/.installed-dev
	CXLOOM_SLOW=1 $(BIN)/python -m pytest -s tests/validation/test_precision.py

# Every command on random systems of all features: nothing runs on, nothing ends in a traceback. An hour and a half of a core.
SYSTEMS ?= 3000
commands-check: build .venv/.installed-dev
	CXLOOM_SYSTEMS=$(SYSTEMS) $(BIN)/python -m pytest -n $(JOBS) -q tests/validation/test_commands.py

count-check: build .venv/.installed-dev
	CXLOOM_SLOW=1 $(BIN)/python -m pytest -s tests/python/test_program_counts.py

# Machines of all topologies, booted on what `cxloom boot --setup` fetches, once: docs/boot.md.
boot-check: build .venv/.installed-dev
	@$(BIN)/python -c "from cxloom.booting.folder import find_set_up; find_set_up()" 2>/dev/null || $(BIN)/cxloom boot --setup
	CXLOOM_SLOW=1 $(BIN)/python -m pytest -s tests/python/test_boot.py tests/python/test_boot_timed.py tests/python/test_boot_processors.py tests/python/test_boot_memkind.py tests/python/test_boot_study.py

# The adapter to SimpleSSD against one that you have installed: integrations/README.md says where SIMPLESSD_ROOT is.
simplessd-check: build .venv/.installed-dev
	$(CMAKE) -S integrations/simplessd -B build/simplessd -DSIMPLESSD_ROOT="$(SIMPLESSD_ROOT)" \
	  -DCXLOOM_INCLUDE_DIR="$$($(BIN)/python -c 'import cxloom; print(cxloom.include_dir())')" >/dev/null
	$(CMAKE) --build build/simplessd
	CXLOOM_SIMPLESSD=$(CURDIR)/build/simplessd/libcxloom_simplessd.so $(BIN)/python -m pytest -s tests/integrations/simplessd_real.py

# The module in gem5 itself, built with it: docs/gem5.md says how. GEM5 is the folder of gem5, or its program.
gem5-check: build .venv/.installed-dev
	CXLOOM_GEM5=$(firstword $(wildcard $(GEM5)/build/*/gem5.opt) $(GEM5)) $(BIN)/python -m pytest -s tests/integrations/gem5_real.py tests/integrations/gem5_ruby_real.py tests/integrations/gem5_programs_real.py

# The header in ChampSim itself, built with it: docs/champsim.md says how. CHAMPSIM is the folder of ChampSim, or its program.
champsim-check: build .venv/.installed-dev
	CXLOOM_CHAMPSIM=$(firstword $(wildcard $(CHAMPSIM)/bin/champsim) $(CHAMPSIM)) $(BIN)/python -m pytest -s tests/integrations/champsim_real.py

# The back end in SST itself: docs/sst.md says how. SST is the folder into which sst-core and sst-elements were installed.
sst-check: build .venv/.installed-dev
	CXLOOM_SST=$(SST) $(BIN)/python -m pytest -s tests/integrations/sst_real.py

sanitize: build/sanitize/.configured
	@$(CMAKE) --build build/sanitize
	@UBSAN_OPTIONS=print_stacktrace=1 $(CXX_TESTS) build/sanitize '$(UNSANITIZED)'

# The tests of `cxx-tests` are compiled already, and most of the library is, too. They find a library loaded of which some rooms are
# under sanitizers, and take it for theirs. What these rooms do wrong is found at a tenth of the cost; the rest finds `sanitize`.
sanitize-library: build build/.configured-tests
	@$(CMAKE) --build build --target cxloom_tests cxloom_sanitized
	@runtime=$$($${CXX:-c++} -print-file-name=libasan.so); \
	PRELOAD="$$runtime $(CURDIR)/build/sanitized/libcxloom.so" UBSAN_OPTIONS=print_stacktrace=1 \
	  $(CXX_TESTS) build '$(UNSANITIZED_IN_CI)' $(SANITIZED_ROOMS)

# Under the sanitizers, so that a wrong index is found where it is used.
FUZZ_SECONDS ?= 60
FUZZ_SEED ?= 0
fuzz: build/sanitize/.configured
	@$(CMAKE) --build build/sanitize --target cxloom_fuzz_flits
	@build/sanitize/tests/fuzz/cxloom_fuzz_flits $(FUZZ_SECONDS) $(FUZZ_SEED)

python-tests: build .venv/.installed-dev
	@scripts/bootstrap.sh browser
	@$(CMAKE) --build build --target cxloom_divided
	$(BIN)/python -m pytest -n $(JOBS)

# Those that read sources, declarations and docs, and run nothing: what is forgotten when something is added, they name.
GUARDS := $(wildcard tests/python/test_*floors.py) $(patsubst %,tests/python/test_%.py,sizes sections class_files includes \
  compiled_together public_headers measured_windows columns summary_types doc_kinds docs) \
  tests/python/test_pictures.py::test_every_segment_has_a_look_of_its_own \
  tests/validation/test_parameters.py::test_every_declared_parameter_has_a_row \
  tests/validation/test_statistics.py::test_every_declared_statistic_has_a_law
guards: build .venv/.installed-dev
	$(BIN)/python -m pytest -q $(GUARDS)

# All examples and cases of the tests of which `python-tests` has a slice (tests/validation/examples.py), and what is marked as slow.
python-tests-long: build .venv/.installed-dev
	@scripts/bootstrap.sh browser
	@$(CMAKE) --build build --target cxloom_divided
	CXLOOM_SLOW=1 $(BIN)/python -m pytest -n $(JOBS)

# Plays the same systems with the tree as it is and as it was at BASE, and lists every key of the results that differs.
# EXCEPT has the keys that move by design, as globs: make same-bytes BASE=v1 EXCEPT="notes per_switch.*.queue_*".
BASE ?= HEAD
EXCEPT ?=
TREE_OF_BASE = base=$$(git rev-parse --short "$(BASE)"); then=build/same-bytes/$$base; mkdir -p $$then/tree; \
  if [[ ! -e $$then/tree/Makefile ]]; then git archive "$$base" | tar -x -C $$then/tree; fi
same-bytes: build .venv/.installed-dev
	@$(TREE_OF_BASE); now=build/same-bytes/now; mkdir -p $$now; \
	$(MAKE) --no-print-directory -C $$then/tree build COMPILE_TOGETHER=$(COMPILE_TOGETHER); \
	$(BIN)/python tests/same_bytes/systems.py $$now/systems.json; \
	$$then/tree/.venv/bin/python tests/same_bytes/play.py $$now/systems.json $$then/results.json; \
	$(BIN)/python tests/same_bytes/play.py $$now/systems.json $$now/results.json; \
	set -f; $(BIN)/python tests/same_bytes/compare.py $$then/results.json $$now/results.json --except $(EXCEPT)

# Plays these systems and N_SYSTEMS random ones in one queue of events, and cut at each link that takes time, in threads:
# the same must come out, to the byte. Then some of them under ThreadSanitizer.
N_SYSTEMS ?= 2000
PLAYER = tests/divided/cxloom_divided
build/threads/.configured: .venv/.installed
	@scripts/bootstrap.sh gtest
	@$(CMAKE) -S . -B build/threads -G Ninja --log-level=NOTICE \
	  -DCMAKE_MAKE_PROGRAM="$(CURDIR)/$(BIN)/ninja" -DCMAKE_BUILD_TYPE=Debug -DCXLOOM_SANITIZE=thread \
	  -DCXLOOM_PYTHON=OFF -DCXLOOM_TESTS=ON -DCXLOOM_COMPILE_TOGETHER=ON
	@touch $@
threads-check: build build/.configured-tests build/threads/.configured .venv/.installed-dev
	@$(CMAKE) --build build --target cxloom_divided; $(CMAKE) --build build/threads --target cxloom_divided
	@mkdir -p build/same-bytes/now; $(BIN)/python tests/same_bytes/systems.py build/same-bytes/now/systems.json
	@$(BIN)/python tests/divided/check.py build/$(PLAYER) --systems build/same-bytes/now/systems.json --random $(N_SYSTEMS)
	@TSAN_OPTIONS=halt_on_error=1 $(BIN)/python tests/divided/check.py build/$(PLAYER) --watched build/threads/$(PLAYER) --threads 3 \
	  --systems build/same-bytes/now/systems.json --random 200 --seed 2

bench: build build/.configured-benchmarks
	@$(CMAKE) --build build
	@if [[ -x build/benchmarks/cxloom_benchmarks ]]; then build/benchmarks/cxloom_benchmarks; fi
	@if [[ -f benchmarks/run.py ]]; then $(BIN)/python benchmarks/run.py; fi
	@$(BIN)/python benchmarks/startup.py
	@$(BIN)/python benchmarks/sweep.py
	@$(BIN)/python benchmarks/epochs.py
	@$(BIN)/python benchmarks/exec.py

# ONLY: the systems whose name contains this.
ONLY ?=
bench-against: build build/.configured-benchmarks
	@$(TREE_OF_BASE); \
	$(MAKE) --no-print-directory -C $$then/tree build build/.configured-benchmarks COMPILE_TOGETHER=$(COMPILE_TOGETHER); \
	for tree in . $$then/tree; do $(CMAKE) --build $$tree/build --target cxloom_throughput || exit 1; done; \
	$(BIN)/python benchmarks/compare.py $$then/tree --only "$(ONLY)"

bench-history: build build/.configured-benchmarks
	$(CMAKE) --build build --target cxloom_throughput
	$(BIN)/python benchmarks/history.py --only "$(ONLY)"

# The wheel as a user's `pip install .` builds it, but from the objects that there are, tried from where it was installed: with a
# system, with a program that embeds one, and with a plug-in.
package: build
	@rm -rf build/wheel
	@$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/wheel --config-settings=build-dir=build \
	  --config-settings=cmake.define.CXLOOM_COMPILE_TOGETHER=$(COMPILE_TOGETHER) .
	@$(BIN)/python -m pip install --quiet --no-deps --no-compile --target build/wheel/installed build/wheel/*.whl
	@cd build/wheel && PYTHONPATH=installed ../../$(BIN)/python -m cxloom run ../../examples/demo.yaml --json >run.json
	@scripts/try_installed.sh $(BIN)/python build/wheel/installed
	@ls build/wheel/*.whl

# What a release publishes, and a stranger's first minutes with it: docs/install.md. Most of its time goes into a build of the whole.
package-check: .venv/.installed-release
	scripts/package_check.sh $(BIN)/python build/release

# --- style -----------------------------------------------------------------------------------------------------------
CXX_DIRS := $(wildcard core include bindings tests benchmarks examples integrations)
CXX_FILES := find $(CXX_DIRS) -type f '(' -name '*.cpp' -o -name '*.hpp' -o -name '*.h' -o -name '*.c' ')' -print0

lint: lint-format lint-python lint-tidy

lint-format: .venv/.installed-dev
	@echo "clang-format"
	@$(CXX_FILES) | xargs -0 -P $(JOBS) -n 20 $(BIN)/clang-format --dry-run -Werror

lint-tidy: build .venv/.installed-dev
	@$(BIN)/python scripts/tidy.py build --jobs $(JOBS)

lint-python: .venv/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: .venv/.installed-dev
	@$(CXX_FILES) | xargs -0 $(BIN)/clang-format -i
	$(BIN)/ruff check --fix --exit-zero
	$(BIN)/ruff format

# --- maintenance -----------------------------------------------------------------------------------------------------
# All studies in their whole form, an hour of a core and another one for those that boot machines, or STUDIES, and docs/validation.md
# of what they gave. Those that are there are not run again.
validation: build .venv/.installed-dev
	$(BIN)/python scripts/validation.py build/validation $(STUDIES)

# The documentation as a site that opens from a disk, too: its links are checked, and its search is tried without a network.
site: build .venv/.installed-site .venv/.installed-dev
	@$(BIN)/python scripts/site/build.py build/site
	@scripts/bootstrap.sh browser
	@$(BIN)/python -m pytest -q tests/python/site_search_real.py

clean:
	rm -rf build .venv

# Renew the pins: the newest versions that fit pyproject.toml, installed and frozen in an environment of their own.
constraints: build/.configured
	rm -rf build/constraints
	$(BIN)/python -m venv build/constraints
	build/constraints/bin/python -m pip install --quiet --no-compile --upgrade pip cmake ninja nanobind scikit-build-core
	CXLOOM_BUILD_TREE=1 build/constraints/bin/pip install --quiet --no-compile --no-build-isolation '.[dev,site,release]'
	{ sed -n '/^#/p' constraints.txt; build/constraints/bin/pip freeze --all --exclude cxloom --exclude setuptools; } >build/constraints.txt
	mv build/constraints.txt constraints.txt

FORCE:
