// The times of calls of a CUDA object, which timed-cuda.cpp notes.
#ifndef KESTREL_TESTS_TIMED_CUDA_HPP
#define KESTREL_TESTS_TIMED_CUDA_HPP

#include <cstddef>

/// A call of a function of the table, in seconds of the steady clock.
struct TimedCall {
  const char* what;
  int device;
  double begin, end;
};

/// Forgets all calls, or copies at most `room` of them; returns how many there are.
#define KESTREL_TIMED_FORGET "kestrel_timed_forget"
#define KESTREL_TIMED_COPY "kestrel_timed_copy"
using TimedForget = void (*)();
using TimedCopy = std::size_t (*)(TimedCall* to, std::size_t room);

#endif
