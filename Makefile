# SPDX-License-Identifier: GPL-3.0-or-later
# Run `make` to see what there is to make.

CARGO ?= cargo
PREFIX ?= /usr/local
DESTDIR ?=
ZSH_DIR ?= $(PREFIX)/share/zsh/site-functions
BIN = $(or $(CARGO_TARGET_DIR),target)/release
# Writes the completions that are installed; must run on this machine.
SUITE = $(BIN)/dbacl-suite
DEMO_BIN = $(or $(CARGO_TARGET_DIR),target)/demo
PROGRAMS = dbacl dbacl-text dbacl-eval bayesol mailinspect hypex mailcross mailtoe mailfoot \
  dbacl-server dbacl-imap chess-adapter

.PHONY: help demo links quick test check bench instructions chess-report release-models fuzz signature install release setup \
  test-spark dist check-dist check-image check-twice deb check-deb try-all check-systems digits signature-long field \
  field-quick field-document field-pages site

help:
	@echo 'make demo       learn three authors, classify pages that were not learned'
	@echo 'make quick      format, types, unit tests of what changed; GOLDEN=model/ for recorded cases'
	@echo 'make test       all tests, with what they need from the system'
	@echo 'make check      formatting, lints, documentation and all tests; offline'
	@echo 'make bench      speed and memory of whole programs'
	@echo 'make instructions  instructions of fixed tasks, beside the recorded ones'
	@echo 'make field      dbacl beside other mail filters, about an hour; FIELD_CORPORA="PATH..."'
	@echo 'make site       the documents as a searchable site, in target/site'
	@echo 'make field-quick  the same with few mails and the tools that are installed'
	@echo 'make field-document  make field, and its pages in docs/lab'
	@echo 'make fuzz       each fuzz target for a minute, or SECONDS=...'
	@echo 'make signature  one hash over the outputs for a fixed corpus'
	@echo 'make signature-long  the same on other machines and C libraries; or make signature-arm64 ...'
	@echo 'make test-spark learn and classify on an Apache Spark of this machine'
	@echo 'make python     the wheel of the Python module, in target/wheels'
	@echo 'make digits     whether logarithms and exponentials have their bits'
	@echo 'make check-systems  daily tasks where HOME, /tmp, the locale or memory is missing'
	@echo 'make dist       static programs, bills of materials, image, sums: target/dist'
	@echo 'make check-dist what is in target/dist works'
	@echo 'make check-image  dbacl-imap of the container image works with Dovecot over TLS'
	@echo 'make check-twice  what make dist makes is equal when it is made again elsewhere'
	@echo 'make deb        the Debian source package: target/deb'
	@echo 'make check-deb  builds it in a clean system; lintian, autopkgtest, piuparts, upgrade'
	@echo 'make try-all    installs the release in five ways, each in a clean system'
	@echo 'make release-models  the model of chess that is installed, in models/chess; five minutes'
	@echo 'make install    programs, man pages, documents, completions, wrappers into $$(DESTDIR)$$(PREFIX)'

# Builds the classic programs only, with few optimisations, so that a newcomer need not wait.
demo:
	@.ci/need-cargo $(CARGO)
	@echo 'Building dbacl, bayesol and hypex for the demonstration; about a minute the first time.'
	@echo 'For programs that are as fast as they can be, and for all of them: make release'
	$(CARGO) build --profile demo --locked --package dbacl --bins
	@testdata/demo/run $(DEMO_BIN)

release:
	@.ci/need-cargo $(CARGO)
	$(CARGO) build --release --locked $(INSTALLED)
	@$(MAKE) --no-print-directory links

# What is installed: dbacl, which mail systems start for each message, and all other programs in one.
INSTALLED = --package dbacl --bin dbacl --package dbacl-suite --bin dbacl-suite

# The names by which dbacl-suite runs each program, in $(BIN).
links:
	packaging/links $(BIN) $(filter-out dbacl,$(PROGRAMS))

# The inner loop: format, types, unit tests of the crates that changed; GOLDEN=model/ for recorded cases.
quick:
	@.ci/need-cargo $(CARGO)
	@CARGO=$(CARGO) .ci/quick

setup:
	@.ci/need-cargo $(CARGO)
	@.ci/setup

test:
	@.ci/need-cargo $(CARGO)
	@CARGO=$(CARGO) .ci/test

check:
	@.ci/need-cargo $(CARGO)
	$(CARGO) fmt --all --check
	$(CARGO) clippy --profile checked --locked --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --locked --workspace --no-deps
	CARGO=$(CARGO) .ci/public-items
	.ci/circles
	.ci/widths
	.ci/words
	.ci/documents
	cd fuzz && $(CARGO) metadata --locked --format-version 1 >/dev/null
	cd programs/python && $(CARGO) fmt --check && \
	  $(CARGO) clippy --profile checked --locked --target-dir ../../target -- -D warnings
	$(CARGO) test --profile checked --locked --workspace

# What it prints is kept, so that later runs can be compared.
bench: release
	$(CARGO) build --release --locked --package dbacl-server --examples
	@: >benches/results.txt
	@for script in run mail scale server; do \
	  found=$$(benches/$$script.sh $(BIN)) || exit 1; \
	  echo "$$found" | tee -a benches/results.txt; \
	done

# Fails if a fixed task takes a twentieth more instructions than recorded.
instructions: release
	@benches/instructions.sh $(BIN)

# Mail filters side by side, on mails of your own or the few of testdata: benches/field/README.md.
# Finished results are kept, so a run that was stopped goes on. FIELD_OPTIONS='--plan half --jobs 1'
# takes an hour and a half of one processor, the plan "full" two hours; more processors shorten it.
FIELD = FIELD_BIN=$(BIN) benches/field/field.py
FIELD_RESULTS = $(dir $(BIN))field/results.json
field: release
	@$(FIELD) install
	@$(FIELD) run --out $(FIELD_RESULTS) $(foreach path,$(FIELD_CORPORA),--corpus $(path)) \
	  $(FIELD_OPTIONS)
	@$(FIELD) page $(FIELD_RESULTS) --html $(dir $(BIN))field.html
	@echo 'The page is $(dir $(BIN))field.html'

# The documents as pages with navigation and search, in target/site. A dead link is an error.
SITE = $(or $(CARGO_TARGET_DIR),target)/site
site:
	@test -x $(SITE)-tools/bin/mkdocs || { python3 -m venv $(SITE)-tools && \
	  $(SITE)-tools/bin/pip -q install -r packaging/site/requirements.txt; }
	@$(SITE)-tools/bin/mkdocs build --strict --quiet -f packaging/site/mkdocs.yml -d "$(abspath $(SITE))"
	@echo 'The site begins at $(SITE)/index.html'

# Takes over the results of that run, and makes docs/lab/field.md, its tables and its picture.
field-document: field
	@$(FIELD) page $(FIELD_RESULTS) --summary benches/field/results.json
	@$(MAKE) field-pages

field-pages:
	@$(FIELD) page benches/field/results.json --markdown docs/lab/field.md \
	  --html docs/lab/field.html --picture docs/pictures/field.svg \
	  --data benches/results/field.tsv

field-quick: release
	@$(FIELD) run --plan quick --strict --limit 300 --out $(dir $(BIN))field/quick/results.json
	@$(FIELD) page $(dir $(BIN))field/quick/results.json --html $(dir $(BIN))field-quick.html

fuzz:
	@.ci/need-cargo $(CARGO)
	@FUZZ_SECONDS=$(or $(SECONDS),$(FUZZ_SECONDS),60) fuzz/run

# Measures the tables of docs/lab/chess.md, on the masters' games if they are there, else on the sample.
chess-report: release
	chess-adapter/tests/report.sh $(BIN)/chess-adapter $(or $(REPORT),target/chess-report)

# Chess for who installs: learned from the games of the sources, whose moves and results are facts.
release-models: release
	$(BIN)/chess-adapter learn chess-adapter/testdata/masters.pgn -o models/chess --positions 60000

signature: release
	@testdata/signature/run $(BIN)

# Other machines and C libraries, with RUNS=2000 random runs each: an hour for those that are emulated.
# One of them by its name, such as signature-arm64; testdata/signature/machine lists them.
signature-long:
	@.ci/need-cargo $(CARGO)
	@CARGO=$(CARGO) testdata/signature/machine

signature-%:
	@.ci/need-cargo $(CARGO)
	@CARGO=$(CARGO) testdata/signature/machine $*

# Installs what has been built; `make release` builds, so that root need not.
.SILENT: install
install:
	test -x $(BIN)/dbacl-suite || { echo 'run "make release" first'; exit 1; }
	install -d $(DESTDIR)$(PREFIX)/bin
	for program in $(PROGRAMS); do rm -f $(DESTDIR)$(PREFIX)/bin/$$program; done
	install -m 755 $(BIN)/dbacl $(BIN)/dbacl-suite $(DESTDIR)$(PREFIX)/bin
	for program in $(filter-out dbacl,$(PROGRAMS)); do \
	  ln -s dbacl-suite $(DESTDIR)$(PREFIX)/bin/$$program || exit 1; \
	done
	install -d $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 docs/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	packaging/manual $(DESTDIR)$(PREFIX)/share/man
	for file in README.md CHANGELOG.md docs/*.md docs/spec/*.md docs/spec/*.tsv; do \
	  install -D -m 644 $$file $(DESTDIR)$(PREFIX)/share/doc/dbacl/$$file || exit 1; \
	done
	for file in examples/*; do \
	  install -D -m 644 $$file $(DESTDIR)$(PREFIX)/share/doc/dbacl/$$file || exit 1; \
	done
	for file in $$(find models -type f); do \
	  install -D -m 644 $$file $(DESTDIR)$(PREFIX)/share/dbacl/$$file || exit 1; \
	done
	for file in integrations/*/*; do \
	  mode=644; if test -x $$file; then mode=755; fi; \
	  install -D -m $$mode $$file $(DESTDIR)$(PREFIX)/share/dbacl/$$file || exit 1; \
	done
	install -d $(DESTDIR)$(PREFIX)/libexec/dbacl/wrappers
	install -m 755 libexec/wrappers/* $(DESTDIR)$(PREFIX)/libexec/dbacl/wrappers/
	made=$$(mktemp -d) && trap 'rm -rf "$$made"' EXIT && $(SUITE) completions "$$made" && \
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(ZSH_DIR) \
	  $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d && \
	install -m 644 "$$made"/bash/* $(DESTDIR)$(PREFIX)/share/bash-completion/completions/ && \
	install -m 644 "$$made"/zsh/* $(DESTDIR)$(ZSH_DIR)/ && \
	install -m 644 "$$made"/fish/* $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/
	case "$(DESTDIR)::$$PATH:" in \
	  :*:$(PREFIX)/bin:*) echo "installed in $(PREFIX)/bin, which is in PATH" ;; \
	  :*) echo "installed in $(PREFIX)/bin, which is not in PATH: add PATH=$(PREFIX)/bin:\$$PATH to ~/.profile" ;; \
	  *) echo "installed below $(DESTDIR)$(PREFIX)" ;; \
	esac

test-spark: release
	@tests/spark/run.sh $(BIN)/dbacl
	@tests/spark/text.sh $(BIN)/dbacl-text "$$(ls -t $(or $(CARGO_TARGET_DIR),target)/wheels/dbacl-*-cp39-abi3-*.whl \
	  $(or $(CARGO_TARGET_DIR),target)/python-module/dist/dbacl-*-cp39-abi3-*.whl 2>/dev/null | head -n 1)"

# What a release offers for download; packaging/releasing.md says what comes before and after.
dist:
	@.ci/need-cargo $(CARGO)
	@packaging/dist $(or $(CARGO_TARGET_DIR),target)/dist

check-dist:
	@packaging/check-dist $(or $(CARGO_TARGET_DIR),target)/dist

check-image:
	@packaging/check-image $(or $(CARGO_TARGET_DIR),target)/dist/dbacl-*-image.tar

# Builds everything twice and compares; PROFILE=demo makes that shorter.
check-twice:
	@.ci/need-cargo $(CARGO)
	@CARGO=$(CARGO) packaging/check-twice

deb:
	@.ci/need-cargo $(CARGO)
	@packaging/deb $(or $(CARGO_TARGET_DIR),target)/deb

check-deb: deb
	@packaging/check-deb $(or $(CARGO_TARGET_DIR),target)/deb

# Five installs in clean systems, from what `make dist check-deb python` has made.
try-all:
	@packaging/try-all $(addprefix $(or $(CARGO_TARGET_DIR),target)/,dist deb wheels)

# Needs maturin, a Python package.
python:
	@.ci/need-cargo $(CARGO)
	cd programs/python && CARGO_TARGET_DIR=../../target maturin build --release --locked -o ../../target/wheels

check-systems: release
	@tests/systems/run $(BIN)

digits:
	@.ci/need-cargo $(CARGO)
	@CARGO=$(CARGO) testdata/digits/run
