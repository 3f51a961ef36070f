# What a developer or a curious stranger runs; not part of the package. Each target does all the
# set-up that it needs, on Debian 12 with make, g++ and apt. Products go to build/.
.PHONY: help demo test check setup bench core-tests lint docs clean

export LC_ALL = C.UTF-8
export TZ = UTC

help:
	@echo "make demo        density estimates of real data: build/report.html"
	@echo "make test        all tests"
	@echo "make check       R CMD check --as-cran of the tarball"
	@echo "make core-tests  tests of the C++ core alone, also under sanitizers"
	@echo "make bench       speed of the engines, beside peers"
	@echo "make lint        rules of the layers, formatting, style"
	@echo "make docs        man/, NAMESPACE and RcppExports, from the sources"
	@echo "make setup       what the above need, by apt"
	@echo "make clean       removes build/"

setup:
	@tools/setup.sh

demo: setup
	@tools/demo.sh

test: setup
	@tools/check-layers.sh
	@tools/core-tests.sh
	@tools/test-variant.sh
	@tools/test-cuda.sh
	@tools/test-fake-cuda.sh
	@tools/test.sh

check: setup
	@tools/check.sh

core-tests: setup
	@tools/core-tests.sh

bench: setup
	@tools/bench.sh

lint:
	@tools/setup.sh lint
	@tools/lint.sh

docs:
	@tools/setup.sh docs
	@tools/docs.sh

clean:
	@rm -rf build
