// Polls: between the items of a loop, within an item, in serial work, and what they report.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/base/parallel.hpp"
#include "loops.hpp"

using namespace kestrel;

TEST(Parallel, PollsOnTheCallingThreadOnly) {
  for (const int threads : {1, 2, 3}) {
    const std::thread::id caller = std::this_thread::get_id();
    int polls = 0;
    double last = 0;
    const Poll poll = [&](double fraction) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      EXPECT_GE(fraction, last);
      EXPECT_LE(fraction, 1.0);
      last = fraction;
      ++polls;
    };
    parallel_for(50 * static_cast<std::size_t>(threads), on(threads, poll),
                 [](std::size_t, int) { wait_ms(1); });
    // When the loop begins; and after each item that the calling thread takes, of which other
    // threads may leave none.
    EXPECT_GE(polls, threads == 1 ? 51 : 1);
    EXPECT_EQ(threads_last_used(), threads);
  }
}

TEST(Parallel, APollThatThrowsStopsTheLoop) {
  struct Interrupt {};  // not derived from std::exception, like Rcpp's
  for (const int threads : {1, 2, 3}) {
    std::atomic<std::size_t> done{0};
    const Poll poll = [&](double) {
      if (done > 0) throw Interrupt();
    };
    const std::size_t endless = std::size_t{1} << 40;
    const auto loop = [&] {
      parallel_for(endless, on(threads, poll), [&](std::size_t, int) {
        wait_ms(1);
        done++;
      });
    };
    EXPECT_THROW(loop(), Interrupt);
    EXPECT_LT(done, endless);
  }
  EXPECT_EQ(parallel_threads(on(3)), 3) << "still inside the loop?";
}

TEST(Parallel, WhatThePollThrowsGoesFirst) {
  struct Interrupt {};
  std::atomic<bool> interrupted{false};
  const Poll poll = [&](double fraction) {
    if (fraction == 0) return;
    interrupted = true;
    throw Interrupt();
  };
  const auto loop = [&] {
    parallel_for(1 << 20, on(1, poll), [&](std::size_t, int) {
      if (interrupted) throw std::runtime_error("after the interrupt");
    });
  };
  EXPECT_THROW(loop(), Interrupt);
}

TEST(Parallel, APollThatHasThrownIsNotAskedAgain) {
  bool inside = false;
  int thrown = 0;
  ParallelOptions options;
  options.threads = 1;
  options.poll = [&](double) {
    if (!inside) return;
    ++thrown;
    throw std::runtime_error("enough");
  };
  const auto work = [&] {
    parallel_for(2, options, [&](std::size_t, int) {
      inside = true;
      poll_if_due(options);
    });
  };
  EXPECT_THROW(work(), std::runtime_error);
  EXPECT_EQ(thrown, 1);
}

// The time since the last poll goes on from loop to loop.
TEST(Parallel, ShortLoopsArePolledToo) {
  int polls = 0;
  const Poll poll = [&](double) { ++polls; };
  set_poll_interval(1e-3);
  while (polls < 2) parallel_for(2, on(2, poll), [](std::size_t, int) {});
  set_poll_interval(1e9);
  polls = 0;
  parallel_for(2, on(2, poll), [](std::size_t, int) {});
  EXPECT_EQ(polls, 0);
  set_poll_interval(0);
}

TEST(Parallel, TasksReportOneProgressThatNeverGoesBack) {
  for (const int threads : {1, 3}) {
    for (const std::size_t tasks : {3, 12}) {  // one after another, and side by side
      std::vector<double> seen;
      const Poll poll = [&](double fraction) { seen.push_back(fraction); };
      std::vector<std::atomic<int>> runs(tasks);
      parallel_tasks(tasks, true, on(threads, poll),
                     [&](std::size_t task, int worker, const ParallelOptions& inner) {
                       EXPECT_LT(worker, threads);
                       EXPECT_LE(parallel_threads(inner), threads);
                       for (int loop = 0; loop < 2; ++loop) {
                         parallel_for(9, inner, [](std::size_t, int) {});
                       }
                       runs[task]++;
                     });
      for (const auto& count : runs) EXPECT_EQ(count, 1);
      ASSERT_GE(seen.size(), 1u) << tasks << " tasks on " << threads;
      double last = 0;
      for (const double fraction : seen) {
        EXPECT_GE(fraction, last) << tasks << " tasks on " << threads;
        EXPECT_LE(fraction, 1.0);
        last = fraction;
      }
      // Other threads may leave the calling thread nothing to do, and so no poll after the first.
      EXPECT_GT(last, threads == 1 ? 0.9 : -1.0) << tasks << " tasks";
    }
  }
}

TEST(Tasks, OneAfterAnotherCountTheirShares) {
  std::vector<double> seen;
  parallel_tasks(4, true, on(3, [&](double fraction) { seen.push_back(fraction); }),
                 [&](std::size_t task, int, const ParallelOptions& inner) {
                   inner.poll(0.0);
                   EXPECT_DOUBLE_EQ(seen.back(), static_cast<double>(task) / 4);
                   inner.poll(0.5);
                   EXPECT_DOUBLE_EQ(seen.back(), (static_cast<double>(task) + 0.5) / 4);
                   inner.poll(0.25);
                   EXPECT_DOUBLE_EQ(seen.back(), (static_cast<double>(task) + 0.5) / 4);
                   inner.poll(1.0);
                   EXPECT_DOUBLE_EQ(seen.back(), (static_cast<double>(task) + 1) / 4);
                 });
  EXPECT_EQ(seen.size(), 16u);
  parallel_tasks(2, true, on(3), [](std::size_t, int, const ParallelOptions& inner) {
    EXPECT_FALSE(inner.poll) << "a poll where none was given";
  });
}

// Side by side there is no poll within a task.
TEST(Tasks, ThatAreLongOrOnOneThreadArePolledWithin) {
  struct Way {
    bool brief;
    int threads;
  };
  for (const Way& way : {Way{true, 1}, {false, 1}, {false, 3}}) {
    constexpr int endless = 1 << 20;
    std::atomic<int> done{0};
    const Poll poll = [](double fraction) {
      if (fraction > 0) throw std::runtime_error("enough");
    };
    EXPECT_THROW(parallel_tasks(12, way.brief, on(way.threads, poll),
                                [&](std::size_t, int, const ParallelOptions& inner) {
                                  parallel_for(endless, inner, [&](std::size_t, int) {
                                    wait_ms(1);
                                    ++done;
                                  });
                                }),
                 std::runtime_error);
    EXPECT_LT(done, endless) << way.brief << " " << way.threads;
  }
}

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
        while (true) poll_if_due({});
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
  const auto polls_at = [&](double interval) {
    polls = 0;
    set_poll_interval(interval);
    serial_for(20 * kPolledItems, options, [](std::size_t) {});
    set_poll_interval(0);
    return polls;
  };
  EXPECT_EQ(polls_at(0), 20);
  EXPECT_EQ(polls_at(1e9), 0);
}
