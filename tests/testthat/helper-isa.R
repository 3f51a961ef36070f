# The instruction set under test, see tools/test.sh; by default the one that kestrel chooses.
if (nzchar(Sys.getenv("KESTREL_TEST_ISA"))) options(kestrel.isa = Sys.getenv("KESTREL_TEST_ISA"))
