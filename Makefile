# Everything is set up into .venv by the targets themselves; `make` alone lists them.
PYTHON ?= python3
# Half of a worker's time is waiting for a browser, a database or Spark.
WORKERS ?= 3
JAR ?= build/sottovoce.jar
MATRIX := clients/js/matrix
DEMO_EXTRAS := fast analysis server
# The contract of everything that reports, then a design, a law, an estimate, a ledger, a collector, files, a command.
QUICK := $(addprefix tests/,reporters/test_contract.py house/test_order.py designs/test_certificate.py laws/test_values.py \
    estimates/test_tally.py device/test_ledger.py collector/test_reports.py bulk/test_files.py cli/test_main.py)

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Every package is checked against its hash, the tools that build source packages too. An older pip does
# not take hashes from a -c file, which is why a pinned pip comes first. Modules are compiled when they are first
# imported: most never are.
INSTALL := $(PIP) install --quiet --no-compile --require-hashes --no-build-isolation -c constraints.txt
INSTALL_THIS := $(PIP) install --quiet --no-deps --no-build-isolation --editable .
INSTALL_EMPTY := $(PIP) --python build/empty/bin/python install --quiet
LINT := $(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy
PINS := pyproject.toml constraints.txt src/sottovoce/_version.py

# Spark starts its workers with this Python, on this machine only.
export PYSPARK_PYTHON := $(CURDIR)/$(BIN)/python
export SPARK_LOCAL_IP := 127.0.0.1
# Hundreds of processes are started by tests: none should compile our modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo quick test lint format examples figures bench peers jar dist docs constraints clean distclean

help: ## list the targets
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

demo: .venv/demo.stamp ## run a survey of three kinds of questions on real data
	$(BIN)/sottovoce demo $$(test -t 0 && echo --stay) # at a terminal its two pages stay until Ctrl-C

quick: .venv/all.stamp lint ## lint, types, the contract, and one test file of each kind: a minute
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -n $(WORKERS) --dist worksteal -k "not postgresql" $(QUICK)

# What needs no Python package is done while those are installed: npm's, then JavaScript's own tests. Lint and types
# run beside the tests, which also build the site. Files go to workers in the order of tests/conftest.py.
test: .venv/python.stamp ## lint, type-check and test everything; build the docs
	@tools/system java jdk node npm typescript chromium atomic postgres strace nginx
	@mkdir -p build
	@{ $(MAKE) --no-print-directory $(MATRIX)/node_modules && cd clients/js && node --test; } > build/javascript.log 2>&1 & javascript=$$!; \
	$(MAKE) --no-print-directory .venv/all.stamp; python=$$?; wait $$javascript; javascript=$$?; [ $$python = 0 ] || exit $$python; \
	{ $(LINT); } > build/lint.log 2>&1 & lint=$$!; \
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder; tests=$$?; \
	wait $$lint; lint=$$?; cat build/javascript.log build/lint.log; exit $$((tests + lint + javascript))

lint: .venv/all.stamp ## ruff and mypy
	$(LINT)

format: .venv/all.stamp ## let ruff fix and lay out the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

examples: .venv/all.stamp ## run the examples; write their pictures and docs/examples.md
	$(BIN)/python -W ignore -m examples

figures: .venv/all.stamp ## draw the figures of the docs again (NAMES=polar: those of docs/figures/polar.py)
	$(BIN)/python -m tools.figures $(NAMES)

bench: .venv/all.stamp ## list the benchmarks; ARGS="NAME …" runs these, ARGS=all everything
	$(BIN)/python -m benchmarks $(ARGS)

peers: .venv/all.stamp ## measure and write the benchmarks page: installs other packages, ten minutes
	@$(BIN)/python tools/requirements.py analysis fast peers > .venv/peers.txt
	@$(INSTALL) -r .venv/peers.txt
	$(BIN)/python -m benchmarks.page --output docs/benchmarks.md --readme README.md

docs: .venv/all.stamp ## build the site into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "The site: site/index.html"

# Bundlers and other versions of Node, which the npm package is tested with. Nothing of theirs is run on installing.
$(MATRIX)/node_modules: $(MATRIX)/package-lock.json
	cd $(MATRIX) && npm ci --ignore-scripts --no-audit --no-fund --loglevel error
	@touch $@

jar: ## build the Java client into build/sottovoce.jar
	@tools/system jdk
	@rm -rf $(JAR).classes && mkdir -p $(dir $(JAR))
	javac --release 11 -encoding UTF-8 -Xlint:all -Werror -d $(JAR).classes clients/java/src/sottovoce/*.java
	$(PYTHON) tools/jar.py $(JAR).classes $(JAR) && rm -r $(JAR).classes

dist: .venv/all.stamp ## build wheel, npm package and jar twice, byte for byte the same; install and try them
	@tools/system jdk npm
	rm -rf dist build/empty build/copy build/again build/wheelhouse
	tools/dist dist
	@mkdir -p build/copy && git ls-files -z | tar c --null -T - | tar x -m -C build/copy && chmod -R go= build/copy && ln -s $(CURDIR)/.venv build/copy/.venv
	(umask 077; build/copy/tools/dist build/again)
	diff -r dist build/again && echo "the same bytes from another folder, on other dates" && cat dist/SHA256SUMS
	@$(BIN)/python tools/requirements.py > .venv/core.txt
	@$(BIN)/python tools/requirements.py analysis > .venv/analysis.txt
	@mkdir -p build && $(BIN)/python tools/readme.py > build/readme.py
	@for file in dist/*.whl dist/*.tar.gz; do \
	    $(PYTHON) -m venv --clear build/empty && \
	    $(INSTALL_EMPTY) --require-hashes -c constraints.txt -r .venv/core.txt -r .venv/build.txt && \
	    $(INSTALL_EMPTY) --no-deps --no-build-isolation $$file && \
	    (cd build/empty && bin/python ../../tools/bare.py) && \
	    $(INSTALL_EMPTY) --require-hashes -c constraints.txt -r .venv/analysis.txt && \
	    (cd build/empty && bin/python ../readme.py) && echo "$$file works" || exit 1; \
	done
	@rm -rf build/empty && PYTHON=$(PYTHON) tools/install build/empty server  # as the documentation says
	@cd build/empty && bin/sottovoce serve --help > help.txt && grep -q secret-file help.txt && echo "tools/install works"
	@rm -rf build/empty && PYTHON=$(PYTHON) tools/wheelhouse build/wheelhouse server && $(PYTHON) -m venv build/empty
	@$(INSTALL_EMPTY) --no-index --find-links build/wheelhouse --require-hashes -r build/wheelhouse/requirements.txt
	@cd build/empty && bin/sottovoce serve --help > help.txt && grep -q secret-file help.txt && echo "tools/wheelhouse works"

constraints: .venv/build.stamp ## pin again what pyproject.toml asks for (UPGRADE=--upgrade for the newest)
	@$(INSTALL) uv
	$(BIN)/uv pip compile pyproject.toml --all-extras $(addprefix --group ,build dev docs papers peers) --output-file constraints.txt $(UPGRADE) \
	    --universal --python-version 3.11 --fork-strategy fewest --generate-hashes --strip-extras \
	    --no-annotate --no-header --no-emit-index-url --no-emit-find-links --quiet

clean: ## remove what was built
	rm -rf build dist site out .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean ## remove the environment as well
	rm -rf .venv

.venv/python.stamp:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "sottovoce needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 …" >&2; exit 1; }
	@PYTHON=$(PYTHON) tools/system venv
	$(PYTHON) -m venv --clear .venv
	@touch $@

.venv/build.stamp: .venv/python.stamp $(PINS)
	@echo "Setting up .venv …"
	@sed -n '/^pip==/,/[^\\]$$/p' constraints.txt > .venv/pip.txt
	@$(PIP) install --quiet --require-hashes -r .venv/pip.txt
	@$(BIN)/python tools/requirements.py --build > .venv/build.txt
	@$(INSTALL) -r .venv/build.txt
	@touch $@

.venv/demo.stamp: .venv/build.stamp
	@$(BIN)/python tools/requirements.py $(DEMO_EXTRAS) > .venv/demo.txt
	@$(INSTALL) -r .venv/demo.txt
	@$(INSTALL_THIS)
	@touch $@

.venv/all.stamp: .venv/build.stamp
	@$(BIN)/python tools/requirements.py --all > .venv/all.txt
	@$(INSTALL) -r .venv/all.txt
	@$(INSTALL_THIS)
	@touch .venv/demo.stamp $@ # everything includes what the demo needs
