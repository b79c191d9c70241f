# Every target makes its own .venv first; it needs Python 3.10 or newer, a C++17 compiler, cmake and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CORE := CMakeLists.txt $(shell find cpp -type f)
CPP := $(shell find cpp -name '*.[ch]pp')

.DEFAULT_GOAL := help
.PHONY: help walk test bench bench-ik bench-control lint format docs wheel clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\): .*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

# Tools and libraries; made anew when pyproject.toml changes.
$(VENV)/.tools: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --group dev
	touch $@

# A processor without AVX-512 has no use for the part of the core that needs it; wheels have all parts.
ISAS := sse2;avx2$(if $(shell grep -ls avx512dq /proc/cpuinfo),;avx512)

# kinodyn itself: Python files are used in place, the core is compiled again when a file of it changes.
$(VENV)/.kinodyn: $(VENV)/.tools $(CORE)
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable '.[robots]' \
		$(if $(filter x86_64,$(shell uname -m)),--config-settings='cmake.define.KINODYN_ISAS=$(ISAS)')
	touch $@

walk: $(VENV)/.kinodyn  ## let the bundled humanoid walk in MuJoCo; walk.png, walk.html
	$(BIN)/kinodyn walk humanoid --duration 12 --plot walk.png --report walk.html

test: $(VENV)/.kinodyn  ## run all tests
	$(BIN)/python -m pytest --numprocesses auto

bench: $(VENV)/.kinodyn  ## measure kinodyn, Pinocchio and MuJoCo side by side
	$(BIN)/python benchmarks/engine.py

# Placo wants one exact version of Pinocchio: the peers live in an environment of their own.
bench-ik:  ## measure inverse kinematics against robotics-toolbox, EAIK, Placo, Pink and mink
	test -x $(VENV)-peers/bin/python || $(PYTHON) -m venv $(VENV)-peers
	$(VENV)-peers/bin/python -m pip install --quiet --upgrade pip
	$(VENV)-peers/bin/python -m pip install --quiet '.[benchmark]'
	$(VENV)-peers/bin/python benchmarks/ik.py

# TSID wants one exact version of Pinocchio, another one than Placo.
bench-control:  ## measure control and simulation against TSID and MuJoCo
	test -x $(VENV)-tsid/bin/python || $(PYTHON) -m venv $(VENV)-tsid
	$(VENV)-tsid/bin/python -m pip install --quiet --upgrade pip
	$(VENV)-tsid/bin/python -m pip install --quiet '.[robots]' 'tsid==1.7.1' 'pin==3.4.0'
	$(VENV)-tsid/bin/python benchmarks/control.py

lint: $(VENV)/.tools  ## check style and types, change nothing
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/mypy

format: $(VENV)/.tools  ## put Python and C++ in shape
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(CPP)

docs: $(VENV)/.kinodyn  ## build the documentation into site/; a warning is an error
	$(BIN)/sphinx-build --quiet --fail-on-warning --fresh-env --doctree-dir build/doctrees docs site

wheel: $(VENV)/.tools  ## build a source archive and a wheel into dist/
	$(BIN)/python -m build $(WHEEL_OPTIONS)

clean:  ## remove everything that these targets made
	rm -rf $(VENV) $(VENV)-peers $(VENV)-tsid build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests examples benchmarks -name __pycache__ -prune -exec rm -rf {} +
