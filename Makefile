# The two commands are `make docs` and `make test`; `make help` lists the rest.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
# Installs packages into an environment: $(call install,ENVIRONMENT,CONSTRAINTS,PACKAGES). uv takes
# seconds where pip takes a minute, but reads no settings of pip: an index that they name, and what uv
# cannot do here, is pip's. Python compiles what is imported, a third of what is installed; setuptools
# warns of a folder with the package's name beside it: that folder is the package.
QUIETLY := PYTHONWARNINGS='ignore:Editable installation' $(BIN)
PIP := $(QUIETLY)/python -m pip --disable-pip-version-check
install = { ! $(PIP) config list | grep -q '[.]index-url=' \
    && $(QUIETLY)/uv pip install --quiet --system-certs --python $1 --constraint $2 $3; } \
  || $(PIP) --python $1 install --quiet --no-compile --constraint $2 $3
DEMO := build/demo
# Tests start the command in many processes, which would compile it again and again.
unexport PYTHONDONTWRITEBYTECODE
# Files of tests are shared out to processes, the long ones first; tests/conftest.py keeps Spark
# in one of them.
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile \
  --no-loadscope-reorder
UNITS := -m "not (spark or demo or browser or odbc or airflow or dbt2 or slow or exhaustive)"

.PHONY: docs test test-all check lint coverage dist bench docs-site clean help
.DEFAULT_GOAL := help

docs: $(VENV)/.docs ## run the demo on embedded Spark and publish its lineage to build/site
	@$(BIN)/python dbt_project/demo.py --build $(DEMO)
	@$(MAKE) --silent $(DEMO)/.read
	@$(BIN)/graft build --config dbt_project/graft.yml

# When the code that reads logs has changed, all logs are read again.
$(DEMO)/.read: $(shell find collectors lineage analysis -name '*.py')
	@test ! -d $(DEMO)/store || $(BIN)/graft collect --again --quiet --config dbt_project/graft.yml
	@touch $@

test: ready ## run all tests: units, Spark, ODBC, dbt, Airflow, browser
	@$(PYTEST)

test-all: ready ## run those tests with all seeds, versions and combinations
	@$(PYTEST) -m ""

# Side by side what waits for the network and what one processor does. Each target that calls make
# again names the environment, or two of them would make it at once.
.PHONY: ready
ready:
	@$(MAKE) --silent --jobs 3 --output-sync=line lint docs system airflow dbt-2

check: lint ## check style and types, run the tests without Spark, browser, ODBC
	@$(PYTEST) $(UNITS)

lint: $(VENV)/.test $(VENV)/.tsc ## check style, types and who imports whom
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(BIN)/node $(VENV)/node/node_modules/typescript/bin/tsc --project tsconfig.json
	@$(BIN)/lint-imports --no-logo

coverage: $(VENV)/.test ## show which of our lines the tests of `make check` reach
	@$(PYTEST) $(UNITS) --cov --cov-report=term

dist: $(VENV)/.dist ## build the wheel and the source archive into dist/, and check them
	@rm -rf dist build/lib dbt_graft.egg-info
	@$(BIN)/python -m build --no-isolation --outdir dist . >/dev/null
	@$(BIN)/python -m build --no-isolation --outdir dist graft_airflow >/dev/null
	@rm -rf graft_airflow/build graft_airflow/*.egg-info
	@$(BIN)/twine check --strict dist/*

bench: $(VENV)/.test ## compare our speed with a peer or a limit, each in one run
	@missed=; for bench in benchmarks/*/bench_*.py; do \
	  echo "$$bench"; $(BIN)/python $$bench || missed="$$missed $$bench"; done; \
	  [ -z "$$missed" ] || { echo "A bar was missed in:$$missed"; exit 1; }

docs-site: $(VENV)/.docs ## build the documentation's pages as a site into build/docs-site
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean: ## remove the environment and all that was built
	@rm -rf $(VENV) build dist *.egg-info .graft

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The environment: what runs, and on top of it what tests. Java comes along where none is found.
WITHOUT_JAVA := '.[spark,dbt,sqlserver,fast,query]'
$(VENV)/.docs: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "dbt-graft needs Python 3.11: install it, or say make PYTHON=/path/to/python"; exit 2; }
	@echo "environment: installing into $(VENV) (once, a minute or two)"
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null \
	  || { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq python3-venv >/dev/null; } \
	  || { echo "Python's venv is missing: apt-get install python3-venv"; exit 2; }
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --quiet --constraint constraints.txt --upgrade pip uv
	@$(call install,$(VENV),constraints.txt,--editable $(WITHOUT_JAVA) dbt-spark)
	@$(BIN)/graft doctor --java >/dev/null 2>&1 \
	  || { $(call install,$(VENV),constraints.txt,--editable '.[all]'); }
	@touch $@

$(VENV)/.test: $(VENV)/.docs
	@$(call install,$(VENV),constraints.txt,--group dev)
	@touch $@

# TypeScript checks the site's scripts; its npm comes from PyPI and installs what the lock file pins.
# Node trusts a list of its own; a company's or a mirror's certificate is in the system's.
$(VENV)/.tsc: package.json package-lock.json .npmrc $(VENV)/.test
	@mkdir -p $(VENV)/node && cp package.json package-lock.json .npmrc $(VENV)/node
	@cd $(VENV)/node && PATH="$(CURDIR)/$(BIN):$$PATH" NODE_OPTIONS=--use-system-ca npm ci --silent
	@touch $@

$(VENV)/.dist: $(VENV)/.test
	@$(call install,$(VENV),constraints.txt,--group dist)
	@touch $@

# What apt installs: one at a time.
.PHONY: system
system: $(VENV)/.test
	@$(MAKE) --silent chromium
	@$(MAKE) --silent odbc

# Chromium, and the one library that Playwright's driver wants beside it. Its headless shell opens a
# page with a third of the work; where no package has it, any Chromium does.
.PHONY: chromium
chromium: DRIVER = $(shell echo $(VENV)/lib/python3*/site-packages/playwright/driver/node)
chromium:
	@{ command -v chromium-headless-shell && $(DRIVER) --version; } >/dev/null 2>&1 \
	  || { [ "$$(id -u)" = 0 ] && apt-get update -qq \
	    && for package in chromium-headless-shell chromium; do \
	      apt-get install -y -qq $$package libatomic1 >/dev/null 2>&1 && break; done; } \
	  || { { command -v chromium || command -v google-chrome; } && $(DRIVER) --version; } >/dev/null 2>&1 \
	  || { echo "the browser tests need: apt-get install chromium-headless-shell libatomic1"; exit 2; }

# ODBC: its manager, drivers, and PostgreSQL as a server to talk to, which is not started here.
# Where they cannot be had, the tests that need them skip and say so.
ODBC_PACKAGES := unixodbc libltdl7 tdsodbc odbc-postgresql postgresql
.PHONY: odbc
odbc:
	@dpkg -s $(ODBC_PACKAGES) >/dev/null 2>&1 \
	  || { [ "$$(id -u)" = 0 ] && apt-get update -qq \
	    && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
	      --no-install-recommends $(ODBC_PACKAGES) >/dev/null; } \
	  || echo "ODBC will not be tested: apt-get install $(ODBC_PACKAGES)"

# Airflow 3 and 2, each in an environment of its own: they would change versions of ours.
# Where they cannot be installed, the tests that need them skip and say so.
AIRFLOW_PACKAGES := apache-airflow apache-airflow-providers-openlineage \
  apache-airflow-providers-standard dag-factory astronomer-cosmos
.PHONY: airflow
airflow: $(VENV)/.docs
	@$(MAKE) --silent build/airflow-3/.ready build/airflow-2/.ready \
	  || echo "Airflow will not be tested everywhere: its packages could not be installed"

build/airflow-%/.ready: tests/airflow/constraints-%.txt
	@echo "environment: installing Airflow $* into build/airflow-$* (once, a minute or two)"
	@rm -f $@ && $(PYTHON) -m venv --without-pip build/airflow-$*
	@$(call install,build/airflow-$*,$<,$(AIRFLOW_PACKAGES))
	@touch $@

# dbt 2, in an environment of its own: its program has the name of ours. 300 MB.
.PHONY: dbt-2
dbt-2: $(VENV)/.docs
	@$(MAKE) --silent build/dbt-2/.ready || echo "dbt 2 will not be tested: it could not be installed"

build/dbt-2/.ready: tests/dbt2/constraints.txt
	@echo "environment: installing dbt 2 into build/dbt-2 (once, a minute)"
	@rm -f $@ && $(PYTHON) -m venv --without-pip build/dbt-2
	@$(call install,build/dbt-2,$<,dbt)
	@touch $@
