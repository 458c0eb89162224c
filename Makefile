# Every target does its own set-up: Python 3.11 or newer, pip and make are all that is needed.
#
#   make solve    find a program that solves a task, and play it
#   make test     lint, types, all tests (what CI runs)
#   make test-browser   the studio in a real browser; installs Debian's chromium if there is none
#   make bench    speed, as a table of ratios
#   make report   the documents that are made from the stored results
#   make docs     the documentation site, in out/site
#   make format   let ruff tidy the code
#   make studio-page         build the page of `leaps studio` from web/ (needs Node.js; users don't)
#   make studio-page-check   build it elsewhere, and compare with what is shipped, byte for byte
#   make clean    remove everything that was built

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
DEV    := $(VENV)/.installed-dev
DOCS   := $(VENV)/.installed-docs
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

TASK ?= maze

.PHONY: solve test test-browser lint bench report docs format clean studio-page studio-page-check
.DEFAULT_GOAL := solve

solve: $(STAMP)
	$(BIN)/leaps solve $(TASK) --out out/$(TASK)
	$(BIN)/leaps run out/$(TASK)/program.karel --task $(TASK) --watch

test: lint
	$(BIN)/python -m pytest --numprocesses auto

# What is needed, not more: root, or sudo where there is one, and only if no browser is found.
test-browser: $(DEV)
	@for name in chromium chromium-browser google-chrome; do command -v $$name >/dev/null && exit; done; \
		sudo=; [ "$$(id -u)" = 0 ] || sudo=$$(command -v sudo); \
		echo "Installing chromium: $$sudo apt-get update && $$sudo apt-get install -y chromium"; \
		$$sudo apt-get update && $$sudo apt-get install -y chromium
	$(BIN)/python -m pytest tests/browser --numprocesses auto

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(DEV)
	$(BIN)/python -m benchmarks

report: $(DEV)
	$(BIN)/leaps report --readme README.md

docs: $(DOCS)
	$(BIN)/python -m docs_tools
	$(BIN)/python -m zensical build --strict --clean
	@echo "To read it: $(BIN)/python -m http.server --directory out/site"

format: $(DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

studio-page: web/node_modules
	cd web && npm run check && npm run contrast && npm run build

studio-page-check: web/node_modules
	@built=$$(mktemp -d) && (cd web && STUDIO_OUT=$$built npm run build) && diff -r $$built leaps/studio/static \
		&& echo "The shipped page is the source's, byte for byte."; status=$$?; rm -rf "$$built"; exit $$status

web/node_modules: web/package.json web/package-lock.json
	@command -v npm >/dev/null || { echo "The page needs Node.js 20.19 or newer with npm to be built: https://nodejs.org. Using it doesn't."; exit 1; }
	cd web && npm ci
	@touch $@

clean:
	rm -rf $(VENV) out build dist web/node_modules .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and f"LEAPS needs Python 3.11 or newer; {sys.executable} is {sys.version.split()[0]}. Try: make PYTHON=python3.12")'
	@echo "Creating $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)

$(STAMP): $(BIN)/python pyproject.toml constraints.txt
	@echo "Installing LEAPS (a minute, the first time) ..."
	@$(INSTALL) --editable .
	@touch $@

$(DEV): $(STAMP)
	@echo "Installing the tools for development ..."
	@$(INSTALL) --editable '.[dev]'
	@touch $@

$(DOCS): $(STAMP)
	@echo "Installing the tools for the documentation site ..."
	@$(INSTALL) --editable '.[docs]'
	@touch $@
