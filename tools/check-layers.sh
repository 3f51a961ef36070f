#!/bin/sh
# Checks the rules of the layers (which code may use which) by reading the sources.
set -eu
cd "$(dirname "$0")/.."
status=0

# forbid RULE PATTERN FILE...: no line of these files may match the extended regular expression.
forbid() {
  rule=$1
  pattern=$2
  shift 2
  found=0
  grep -nE -e "$pattern" /dev/null "$@" || found=$?
  case $found in
    0)
      echo "check-layers: ^ $rule" >&2
      status=1
      ;;
    1) ;; # no line
    *)
      echo "check-layers: grep could not check: $rule" >&2
      status=1
      ;;
  esac
}

# remark RULE TEXT: prints the text, if any, as something to look at that fails nothing. A limit that failed would be met
# by files of one line less.
remark() {
  if [ -n "$2" ]; then
    printf '%s\n' "$2"
    echo "check-layers: ^ $1 (a remark)"
  fi
}

# complain RULE TEXT: prints the text, if any, as breaches of the rule.
complain() {
  if [ -n "$2" ]; then
    printf '%s\n' "$2"
    echo "check-layers: ^ $1" >&2
    status=1
  fi
}

core=$(find src/core -type f ! -name '*.o')
simd=$(find src/simd -type f ! -name '*.o')
gpu=$(find src/gpu -type f ! -name '*.o')
cuda=$(find src/cuda -type f)
shared=$(find src/shared -type f)
top=$(find src -maxdepth 1 -type f -name '*.[ch]pp')
package="$core $simd $gpu $shared $top"
# shellcheck disable=SC2046,SC2086  # names without spaces, all of them
{
  forbid 'R headers only at the top of src/' \
    '#[[:space:]]*include[[:space:]]*[<"](R\.h|Rinternals\.h|Rmath\.h|Rdefines\.h|R_ext/|Rcpp)' \
    $core $simd $gpu $cuda $shared
  forbid 'no OpenMP: its threads spin' \
    '#[[:space:]]*pragma[[:space:]]+omp|omp\.h|(^|[^A-Za-z_])(omp_[a-z]|_OPENMP)' \
    $package
  forbid 'threads belong to core/base' \
    '^[^/]*(std::(thread|async|mutex|atomic)([^_a-z]|$)|pthread_)' \
    $(echo "$package" | tr ' ' '\n' | grep -vE '^src/core/base/(parallel|thread_pool|thread_cap)\.cpp$')
  forbid 'leaf loops know nothing but instruction sets: no std, no memory, no layer above' \
    'std::(vector|string|function|unique_ptr|min|max|copy|fill)|malloc|(^|[^a-z_])new |"core/|"rcpp' \
    $simd $(echo "$shared" | grep -v '\.def$')
  forbid 'an arrow runs only downward' '"(rcpp_|RcppExports)' $core
  forbid 'src/shared includes nothing but src/shared' \
    '#[[:space:]]*include[[:space:]]*"([^s]|s[^h]|sh[^a])' $shared
  forbid 'the core knows no GPU' '"(gpu|cuda)/' $core $simd
  forbid 'CUDA is known to src/cuda only' 'cuda_runtime|cuda[A-Z][a-z]+|"cuda/' $core $simd $gpu $shared
  forbid 'src/cuda shares with the package gpu/gpu_abi.h and src/shared only' \
    '"(core|simd)/|"gpu/[^g]|"gpu/g[^p]|"gpu/gpu_[^a]|"rcpp' $cuda
  forbid 'one build for every machine' '-ffast-math|-march=native|-Ofast' \
    $package src/Makevars.in configure Makefile tests/cpp/CMakeLists.txt
  forbid 'no GNU make in a package' '\$\((shell|wildcard|patsubst|foreach|addprefix) |^(ifeq|ifdef|ifneq)|[+:]=' \
    src/Makevars.in
}

# All files of the project, except generated files and data.
ours=$(find . -type f ! -path './.git/*' ! -path './build/*' ! -path './man/*' ! -path '*/_snaps/*' \
  ! -path '*/fixtures/*' ! -path './bench/results/*' ! -name 'RcppExports.*' ! -name '*.png' ! -name '*.o' ! -name '*.so')
# shellcheck disable=SC2046,SC2086
forbid 'the project stands alone: no path outside of it' '\.\./(shared|main)/|/work/|/tmp/[a-z]/' \
  $(echo "$ours" | grep -v check-layers)
# shellcheck disable=SC2086
remark 'a file should have fewer than 400 lines' \
  "$(wc -l $ours | awk '$2 != "total" && $1 >= 400')"

# functions_longer_than LIMIT FILE...: prints the functions that have more lines than LIMIT, from the first line to the
# closing brace. Only functions at the left margin are found.
functions_longer_than() {
  limit=$1
  shift
  awk -v limit="$limit" '
    FNR == 1 { start = 0 }
    /^[A-Za-z`.][^#]*[({,]$/ && !/^(namespace|struct|class|enum|extern|union)/ {
      if (!start) start = FNR
    }
    /^(}|}\);?)$/ {
      if (start && FNR - start + 1 > limit) print FILENAME ":" start ": " FNR - start + 1 " lines"
      start = 0
    }
    /^[^ ].*;$|^\)$/ { start = 0 }
  ' "$@"
}
# shellcheck disable=SC2046,SC2086
{
  remark 'a function should have at most 60 lines' \
    "$(functions_longer_than 60 $core $simd $gpu $cuda $shared $(find R -name '*.R' ! -name RcppExports.R) \
      $(find tests/cpp tests/database tests/fake-cuda tests/fuzz tests/gpu tests/slurm tools bench -name '*.R' -o -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.cu' -o -name '*.cuh'))"
  remark 'a function at the top of src/ should unpack, call and pack, in at most 40 lines' \
    "$(functions_longer_than 40 $(echo "$top" | grep -v RcppExports))"
}

# Which folders of src/core a folder may include. An engine may include the folders below it, but no other engine. Users
# of engines come after the engines. No folder may include a later one, so there is no circle.
engines='direct kdtree sweep fgt fourier scanline'
may_include() {
  case $1 in
    base) echo ;;
    kernel) echo base ;;
    data) echo base kernel ;;
    engine) echo base kernel data ;;
    direct | kdtree | sweep | fgt | fourier | scanline) echo base kernel data engine ;;
    contour) echo base ;;
    beta) echo base kernel data ;;
    criteria | regression | query | bootstrap | distribution | cluster) echo base kernel data "$engines" ;;
    sketch) echo base kernel data "$engines" regression ;;
    mixed) echo base kernel data ;;
    plan) echo base kernel data engine "$engines" ;;
    leave_one_out) echo base kernel data engine "$engines" criteria regression mixed plan ;;
  esac
}
for folder in src/core/*; do
  name=$(basename "$folder")
  if [ ! -d "$folder" ]; then
    complain 'every file of src/core is in a folder' "$folder"
    continue
  fi
  pattern=$(may_include "$name" | tr -s ' ' '\n' | sed '/^$/d' | paste -sd '|' -)
  complain "what src/core/$name includes of src/core: itself, $(may_include "$name")" \
    "$(grep -nE '^#include "core/' "$folder"/*.[ch]pp | grep -vE "\"core/(${pattern:+$pattern|}$name)/" || true)"
done

complain 'no two files of R/ define one name' \
  "$(grep -hoE '^[A-Za-z_.][A-Za-z0-9_.]* <- ' R/*.R | sort | uniq -d)"

# bench/ is not in the package, so the vignette has a copy of the results.
results=$(tools/gpu-results.sh)
if ! cmp -s "$results" vignettes/gpu-results.csv; then
  complain 'the vignette on a GPU shows the last results' "$results is not vignettes/gpu-results.csv"
fi
results=$(find bench/results -name '*-[0-9]-NVIDIA-*.csv' | sort | tail -n 1)
if ! cmp -s "$results" vignettes/gpu-devices.csv; then
  complain 'the vignette on a GPU shows the last results' "$results is not vignettes/gpu-devices.csv"
fi
results=$(grep -l '"server_sample"' bench/results/*.csv | sort | tail -n 1)
if ! grep -E '^#|^"(script|query)"' "$results" | cmp -s - vignettes/query-results.csv; then
  complain 'the vignette on queries shows the last results' "$results has others than vignettes/query-results.csv"
fi

# Names of files and folders in the two pages for developers, as the ends of paths; NAME stands for any name.
everything=$(git ls-files -co --exclude-standard 2>/dev/null || find . -type f ! -path './build/*' | sed 's|^[.]/||')
folders=$(printf '%s\n' "$everything" | awk -F/ '{ path = ""; for (i = 1; i < NF; i++) { path = path $i "/"; print path } }' | sort -u)
named_but_missing() {
  # shellcheck disable=SC2016  # these are backticks of Markdown
  grep -oE '`[A-Za-z0-9_.*/-]+`' "$1" | tr -d '`' | sort -u | grep -E '/$|[a-z][.](R|Rmd|md|sh|txt|csv|def|h|hpp|cpp|inc|cu|cuh)$' |
    grep -vE 'NAME|[*]|^build/|^[.]new[.]md$' | while read -r name; do
    printf '%s\n%s\n' "$everything" "$folders" | awk -v name="$name" '
      $0 == name || substr($0, length($0) - length(name)) == "/" name { found = 1 }
      END { exit !found }' || echo "$1: $name"
  done
}
for page in CONTRIBUTING.md ARCHITECTURE.md; do
  complain 'pages for developers name only files that exist' "$(named_but_missing "$page")"
done

[ $status -ne 0 ] || echo "check-layers: all rules kept"
exit $status
