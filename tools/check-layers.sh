#!/bin/sh
# The rules of the layers: who may know what. Every breach is printed; any makes this fail.
set -u
cd "$(dirname "$0")/.." || exit 1
breaches=0

# rule TEXT: lines on standard input are breaches of it.
rule() {
  found=$(cat)
  if [ -n "$found" ]; then
    printf 'layers: %s\n%s\n' "$1" "$found"
    breaches=$((breaches + 1))
  fi
}

grep -rnE '#include *[<"](R\.h|Rinternals\.h|Rmath\.h|R_ext|Rcpp)' src/core src/simd |
  rule 'no R header below src/'
grep -rnE '#pragma omp|omp_[a-z]+ *\(|<omp\.h>' src --include='*.?pp' --include='*.inc' |
  grep -v '^src/core/parallel\.cpp:' | rule 'only core/parallel.cpp names OpenMP'
grep -rnE '<thread>|std::thread|std::async' src --include='*.?pp' |
  grep -vE '^src/(core/parallel\.cpp|core/parallel\.hpp|parallel_rcpp\.cpp):' |
  rule 'threads are started in core/parallel.cpp only'
grep -rn 'reduction *(+' src | rule 'sums are added in the order of their blocks'
grep -rnE 'ffast-math|march=native' src configure | rule 'no compiler switch that changes results or machines'
grep -rnE '<(vector|algorithm|functional|thread|mutex|memory|string)>' src/simd --include='body.inc' \
  --include='avx*.cpp' --include='sse2.cpp' --include='scalar.cpp' |
  rule 'leaf loops use no standard templates'
git grep -nI -e '\.\./shared' -- . ':!.ci' ':!tools/check-layers.sh' 2>/dev/null |
  rule 'the project stands alone'

find R src tests tools bench demo vignettes -type f \
  \( -name '*.R' -o -name '*.cpp' -o -name '*.hpp' -o -name '*.inc' -o -name '*.Rmd' -o -name '*.sh' \) \
  ! -name 'RcppExports*' |
  while read -r file; do
    lines=$(wc -l <"$file")
    if [ "$lines" -gt 400 ]; then echo "$file: $lines lines"; fi
  done | rule 'no file of more than 400 lines'

# A rule that reads nothing would never be broken.
for file in src/core/parallel.cpp src/simd/body.inc R/density.R; do
  if [ ! -s "$file" ]; then
    echo "layers: $file is missing, so the rules above have looked at nothing"
    breaches=$((breaches + 1))
  fi
done

if [ "$breaches" -gt 0 ]; then exit 1; fi
echo 'layers: all rules kept'
