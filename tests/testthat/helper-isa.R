# The instruction set under test, see tools/test.sh; by default the one that kestrel chooses.
isa_under_test <- Sys.getenv("KESTREL_TEST_ISA")
if (nzchar(isa_under_test)) options(kestrel.isa = isa_under_test)
