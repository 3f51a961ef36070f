# What a developer or a curious stranger runs; not part of the package. Each target does all the
# set-up that it needs, on Debian 12 with make, g++ and apt. Products go to build/.
.PHONY: help install demo test test-database test-slurm test-sanitized check setup bench bench-full core-tests fuzz soak test-installs lint docs site clean

export LC_ALL = C.UTF-8
export TZ = UTC

help:
	@echo "make install     installs kestrel into your R library"
	@echo "make demo        density estimates of real data: build/report.html"
	@echo "make test        tests of the C++ core and the R package, with a simulated GPU, and 500 random calls"
	@echo "make test-database   tests of synopses with a private PostgreSQL server; part of make test"
	@echo "make test-slurm  parts of a sketch as jobs of a private Slurm cluster, as root"
	@echo "make test-sanitized  the core under sanitizers and as on other processors; CUDA programs compiled"
	@echo "make check       R CMD check --as-cran of the tarball"
	@echo "make core-tests  tests of the C++ core alone, with and without sanitizers"
	@echo "make bench       speed, memory and errors, beside peers and the papers: build/bench.html (minutes)"
	@echo "make bench-full  the same at the papers' sizes (an hour or more, on an idle machine)"
	@echo "make fuzz        random calls of everything exported, also under sanitizers (minutes)"
	@echo "make soak        interrupts at random times, memory over 10,000 calls, load time"
	@echo "make test-installs  the tarball, installed in all the ways that people do"
	@echo "make lint        rules of the layers, formatting, style, spelling and sentences of all prose"
	@echo "make docs        man/, NAMESPACE and RcppExports, from the sources"
	@echo "make site        help, examples and vignettes as web pages: build/site/index.html"
	@echo "make setup       what the above need, by apt"
	@echo "make clean       removes build/"

setup:
	@tools/setup.sh

# Only what the package itself needs, so that it runs without root.
install:
	@tools/install.sh

demo: setup
	@tools/demo.sh

test: setup
	@tools/check-layers.sh
	@Rscript --vanilla tools/check-help.R
	@tools/core-tests.sh package
	@tools/fuzz.sh 500 & tools/test-fake-cuda.sh && tools/test-beside.sh database; status=$$?; wait $$! && exit $$status
	@tools/test.sh

# Synopses of tables, with a PostgreSQL server of the test's own.
test-database: setup
	@tools/test-beside.sh database

# Sketches as jobs, on a Slurm cluster of the test's own. Slurm's daemons need root.
test-slurm:
	@tools/setup.sh slurm
	@tools/test-beside.sh slurm

test-sanitized: setup
	@tools/core-tests.sh portable address thread
	@tools/test-cuda.sh

check: setup
	@tools/check.sh $(OPTIONS)
	@R_LIBS=$(CURDIR)/build/check/kestrel.Rcheck Rscript --vanilla tools/check-vignettes.R

core-tests: setup
	@tools/core-tests.sh

fuzz: setup
	@tools/fuzz.sh
	@tools/fuzz.sh --sanitized 3400 2

soak: setup
	@tools/soak.sh

test-installs:
	@tools/setup.sh installs
	@tools/test-installs.sh

bench:
	@tools/setup.sh bench
	@tools/bench.sh --short

bench-full:
	@tools/setup.sh bench
	@tools/bench.sh

lint:
	@tools/setup.sh lint
	@tools/lint.sh

docs:
	@tools/setup.sh docs
	@tools/docs.sh

site:
	@tools/setup.sh site
	@tools/site.sh

clean:
	@rm -rf build
