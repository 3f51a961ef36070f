#!/bin/sh
# Runs all of bench/ on a machine that does nothing else, and renders the report: tools/bench.sh [--short]. Writes
# results to bench/results/DATE-MACHINE.csv (see bench/README.md) and the report to build/bench.html.
set -eu
cd "$(dirname "$0")/.."
. tools/package.sh

make_tarball
install_into build/library
R_LIBS=$(pwd)/build/library
export R_LIBS

# One file, even if midnight passes meanwhile.
results=$(Rscript --vanilla -e 'here <- "bench"; source("bench/harness.R"); cat(results_file())' "$@")
rm -f "$results"
# One thread for all other packages and for BLAS, which reads this when R starts. kestrel's sections set their own
# numbers of threads, which may exceed this.
one_thread='OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 BLIS_NUM_THREADS=1'
for script in calls direct roofline one-dimension bandwidth-matrix grid-gaussian grid score query papers peers; do
  echo
  echo "bench: $script"
  # shellcheck disable=SC2086
  env $one_thread Rscript --vanilla "bench/$script.R" "--results=$results" "$@"
done
# Results of a GPU go to a file of their own, which git ignores for short runs as it does all their results. A failure
# there does not prevent the report of the rest.
gpu=$(tools/gpu-results.sh)
status=0
if nvidia-smi >/dev/null 2>&1; then
  echo
  echo "bench: gpu"
  if [ -n "$nvcc" ]; then PATH=$(dirname "$nvcc"):$PATH; fi
  own=
  case " $* " in *" --short "*) own=build/bench/gpu-short.csv ;; esac
  mkdir -p build/bench
  if Rscript --vanilla bench/gpu.R ${own:+"--results=$own"}; then
    gpu=${own:-$(tools/gpu-results.sh)}
  else
    echo "bench: gpu.R failed; the report has the last results of a GPU" >&2
    status=1
  fi
fi

echo "bench: rendering bench/report.Rmd"
# Renders a copy, so that nothing appears in bench/.
rm -rf build/bench/report
mkdir -p build/bench/report
cp -R bench/report.Rmd bench/report.R bench/papers/published.csv "$results" build/bench/report/
cp "$gpu" build/bench/report/
run_logged bench-report Rscript --vanilla -e '
  build <- normalizePath("build")
  files <- as.list(commandArgs(TRUE))
  rmarkdown::render(file.path(build, "bench", "report", "report.Rmd"), output_dir = build, output_file = "bench.html",
                    params = list(results = files[[1L]], gpu = files[[2L]]), quiet = TRUE)' \
  "$(basename "$results")" "$(basename "$gpu")"
echo
echo "results: $(pwd)/$results"
echo "report:  $(pwd)/build/bench.html"
exit $status
