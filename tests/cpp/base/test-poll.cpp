// Polls within an item and in serial work.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "core/base/parallel.hpp"

using namespace kestrel;

namespace {

void wait_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

}  // namespace

TEST(PollIfDue, EndsAnItemThatIsLong) {
  struct Interrupt {};
  for (const int threads : {1, 2}) {
    bool began = false;
    const Poll poll = [&](double) {
      if (began) throw Interrupt();
    };
    const auto endless = [&] {
      parallel_for(1, {threads, poll}, [&](std::size_t, int) {
        began = true;
        while (true) {
          wait_ms(1);
          poll_if_due({});
        }
      });
    };
    EXPECT_THROW(endless(), Interrupt);
  }
  EXPECT_EQ(parallel_threads({3, {}}), 3) << "still inside the loop?";
}

TEST(PollIfDue, IsForSerialWorkToo) {
  int polls = 0;
  const ParallelOptions options{1, [&](double fraction) {
                                  EXPECT_EQ(fraction, 0.0);
                                  ++polls;
                                }};
  serial_for(200 * kPolledItems, options, [](std::size_t item) {
    if (item % kPolledItems == 0) wait_ms(1);
  });
  EXPECT_GE(polls, 2);
  EXPECT_LT(polls, 100);
}
