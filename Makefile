# Every target first creates .venv; this needs Python 3.10 or newer, a C++17 compiler, CMake and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CORE := CMakeLists.txt $(shell find cmake cpp -type f)
CPP := $(shell find cpp -name '*.[ch]pp')

.DEFAULT_GOAL := help
.PHONY: help walk test test-all test-numerics test-interop fuzz sanitize bench bench-ik bench-control bench-gradients \
	lint format docs wheel clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\): .*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

# Tools and libraries, updated when pyproject.toml changes.
$(VENV)/.tools: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --group dev
	touch $@

# An editable install of kinodyn: $(call install,INSTRUCTION SETS). Prints a line per compiled file; build/install.log has
# the rest.
define install
	@mkdir -p build; echo 'compiling the core ...'
	@{ PIP_QUIET=0 $(BIN)/python -m pip install --verbose --no-build-isolation --editable '.[robots]' \
		--config-settings='cmake.define.KINODYN_ISAS=$(1)' 2>&1 || echo failed > build/install.failed; } | tee build/install.log | \
		awk '/^ *\[[0-9]+\/[0-9]+\]/ { sub(/^ */, ""); print $$1, $$NF; fflush() }'
	@if rm build/install.failed 2> /dev/null; then tail -50 build/install.log; exit 1; fi
endef

# kinodyn with the kernels for this processor and the older ones that tests run too; compiled again when a file of the core
# changes.
ISAS := runnable
$(VENV)/.kinodyn: $(VENV)/.tools $(CORE)
	$(call install,$(ISAS))
	touch $@ $(VENV)/.runs

# kinodyn with the kernels for this processor only, and only what it needs to run.
$(VENV)/.runs: pyproject.toml $(CORE)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --group build
	$(call install,widest)
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

# The core with the checks of the compiler, each in an environment of its own; -O1, one instruction set.
SANITIZED := tests/core tests/dynamics/contact tests/ik tests/control tests/qp
SANITIZE_ISA := $(if $(filter x86_64,$(shell uname -m)),avx2,neon)
LIBRARY = $(shell $(CXX) -print-file-name=$(1))

sanitize: sanitize-address sanitize-thread  ## run the tests of the core with the sanitizers of the compiler

sanitize-%: $(VENV)/.tools
	test -x $(VENV)-$*/bin/python || $(BIN)/python -m venv $(VENV)-$*
	$(BIN)/python -c 'import sys; print(*(path for path in sys.path if "site-packages" in path), sep="\n")' \
		> $$(echo $(VENV)-$*/lib/python*/site-packages)/tools.pth
	$(VENV)-$*/bin/python -m pip install --quiet --no-build-isolation --no-deps . \
		--config-settings='cmake.define.KINODYN_ISAS=$(SANITIZE_ISA)' --config-settings='cmake.define.KINODYN_OPTIMISE=-O1' \
		--config-settings='cmake.define.KINODYN_SANITIZE=$*' --config-settings='build-dir=build/$*'
	$(SANITIZE_$*) $(VENV)-$*/bin/python -m pytest -p no:cacheprovider -q -m 'not slow' $(TESTS_$*)

SANITIZE_address = ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	LD_PRELOAD="$(call LIBRARY,libasan.so) $(call LIBRARY,libstdc++.so.6)"
TESTS_address = $(SANITIZED)
SANITIZE_thread = TSAN_OPTIONS=halt_on_error=1 LD_PRELOAD="$(call LIBRARY,libtsan.so)"
TESTS_thread = tests/core/test_sharing.py tests/core/test_arrays.py

bench: $(VENV)/.kinodyn  ## compare kinodyn, Pinocchio and MuJoCo
	$(BIN)/python benchmarks/engine.py

# Placo requires an exact version of Pinocchio: the peers get a separate environment.
bench-ik:  ## compare inverse kinematics with robotics-toolbox, EAIK, Placo, Pink and mink
	test -x $(VENV)-peers/bin/python || $(PYTHON) -m venv $(VENV)-peers
	$(VENV)-peers/bin/python -m pip install --quiet --upgrade pip
	$(VENV)-peers/bin/python -m pip install --quiet '.[benchmark]'
	$(VENV)-peers/bin/python benchmarks/ik.py

# TSID requires an exact version of Pinocchio, another one than Placo.
bench-control:  ## compare control and simulation with TSID and MuJoCo
	test -x $(VENV)-tsid/bin/python || $(PYTHON) -m venv $(VENV)-tsid
	$(VENV)-tsid/bin/python -m pip install --quiet --upgrade pip
	$(VENV)-tsid/bin/python -m pip install --quiet '.[robots]' 'tsid==1.7.1' 'pin==3.4.0'
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

clean:  ## remove everything that these targets create
	rm -rf $(VENV) $(VENV)-peers $(VENV)-tsid $(VENV)-interop $(VENV)-gradients $(VENV)-address $(VENV)-thread \
		build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests examples benchmarks -name __pycache__ -prune -exec rm -rf {} +
