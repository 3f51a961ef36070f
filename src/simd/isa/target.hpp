// Compiler switches of the vector code, in one place.
//
// An instruction set is switched on by a target *pragma* about the text that is compiled for it
// (simd/isa/each_set.inc), never by a compiler flag such as -mavx2: a flag would also compile the
// inline standard library templates of that file with the newer instructions, and the linker may
// then keep that copy for the whole program, which crashes on an older machine. For the same reason
// no text between the pragmas may use a template of the standard library.
#ifndef KESTREL_SIMD_ISA_TARGET_HPP
#define KESTREL_SIMD_ISA_TARGET_HPP

#include "shared/host_device.hpp"

// KESTREL_PORTABLE, for tests: as on other processors.
#if (defined(__x86_64__) || defined(_M_X64)) && (defined(__GNUC__) || defined(__clang__)) && \
    !defined(KESTREL_PORTABLE)
#define KESTREL_X86 1
#else
#define KESTREL_X86 0
#endif

#define KESTREL_PRAGMA(text) _Pragma(#text)

// KESTREL_INLINE (shared/host_device.hpp) is for what a leaf calls more than once and whose
// arguments must stay in registers.
#if defined(__GNUC__)
#define KESTREL_INLINE_BODY __attribute__((always_inline))  // of a lambda
#else
#define KESTREL_INLINE_BODY
#endif

#if defined(__clang__)
#define KESTREL_TARGET_BEGIN(options) \
  KESTREL_PRAGMA(clang attribute push(__attribute__((target(options))), apply_to = function))
#define KESTREL_TARGET_END KESTREL_PRAGMA(clang attribute pop)
#elif defined(__GNUC__)
#define KESTREL_TARGET_BEGIN(options) \
  KESTREL_PRAGMA(GCC push_options) KESTREL_PRAGMA(GCC target(options))
#define KESTREL_TARGET_END KESTREL_PRAGMA(GCC pop_options)
#endif

#endif
