// parallel_for: what it promises about items, workers, exceptions and polling.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/parallel.hpp"
#include "core/base/thread_pool.hpp"

using namespace kestrel;

namespace {

void wait_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

ParallelOptions on(int threads, Poll poll = {}) {
  ParallelOptions options;
  options.threads = threads;
  options.poll = std::move(poll);
  return options;
}

}  // namespace

TEST(Parallel, RunsEachItemOnceOnWorkersInRange) {
  for (const int threads : {1, 2, 3, 7}) {
    for (const std::size_t items : {0, 1, 2, 3, 7, 100}) {
      std::vector<std::atomic<int>> runs(items);
      std::vector<std::atomic<int>> busy(static_cast<std::size_t>(threads));
      std::atomic<bool> in_range{true}, alone{true};
      parallel_for(items, on(threads), [&](std::size_t item, int worker) {
        if (worker < 0 || worker >= threads) in_range = false;
        std::atomic<int>& flag = busy[static_cast<std::size_t>(worker)];
        if (flag.fetch_add(1) != 0) alone = false;
        runs[item]++;
        flag--;
      });
      for (const auto& count : runs) EXPECT_EQ(count, 1);
      EXPECT_TRUE(in_range);
      EXPECT_TRUE(alone) << "two bodies at once with the same worker";
      const int max = std::min(static_cast<int>(items), threads);
      EXPECT_EQ(threads_last_used(), max) << items << " items";
    }
  }
}

TEST(Parallel, SumsInBlockOrderHaveTheSameBits) {
  const auto sum = [](int threads) {
    std::vector<double> part(500);
    parallel_for(part.size(), on(threads), [&](std::size_t item, int) {
      double s = 0;
      for (std::size_t i = 0; i < 100; ++i) s += 1.0 / (1.0 + static_cast<double>(item * 100 + i));
      part[item] = s;
    });
    double total = 0;
    for (const double s : part) total += s;
    return total;
  };
  const double one = sum(1);
  EXPECT_EQ(sum(2), one);
  EXPECT_EQ(sum(3), one);
}

TEST(Parallel, RethrowsTheExceptionOfTheLowestItem) {
  for (const int threads : {1, 2, 3}) {
    for (int repetition = 0; repetition < 20; ++repetition) {
      std::atomic<int> started{0};
      try {
        parallel_for(1000, on(threads), [&](std::size_t item, int) {
          started++;
          // The lower item fails later.
          if (item == 5) wait_ms(1);
          if (item >= 5) throw error(ErrorKind::memory, std::to_string(item));
        });
        FAIL() << "nothing thrown";
      } catch (const error& e) {
        EXPECT_STREQ(e.what(), "5");
        EXPECT_EQ(e.kind, ErrorKind::memory);
      }
      EXPECT_LT(started, 1000);
    }
  }
  std::atomic<int> count{0};
  parallel_for(10, on(3), [&](std::size_t, int) { count++; });
  EXPECT_EQ(count, 10);
}

TEST(Parallel, NestedLoopsRunInOrderOnTheirThread) {
  std::atomic<bool> right{true};
  parallel_for(6, on(3), [&](std::size_t, int) {
    const std::thread::id here = std::this_thread::get_id();
    if (parallel_threads(on(3)) != 1) right = false;
    std::size_t next = 0;
    const Poll never = [&](double) { right = false; };
    parallel_for(20, on(3, never), [&](std::size_t item, int worker) {
      if (item != next++ || worker != 0 || std::this_thread::get_id() != here) right = false;
    });
    if (next != 20) right = false;
  });
  EXPECT_TRUE(right);
  EXPECT_EQ(threads_last_used(), 3);
  EXPECT_EQ(parallel_threads(on(3)), 3);
}

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
    // A quarter of a second on each thread: several intervals.
    parallel_for(50 * static_cast<std::size_t>(threads), on(threads, poll),
                 [](std::size_t, int) { wait_ms(5); });
    EXPECT_GE(polls, 2);
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
      wait_ms(1);
      if (interrupted) throw std::runtime_error("after the interrupt");
    });
  };
  EXPECT_THROW(loop(), Interrupt);
}

TEST(Parallel, APollThatHasThrownIsNotAskedAgain) {
  const std::chrono::milliseconds until_due(60);
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
      std::this_thread::sleep_for(until_due);
      try {
        poll_if_due(options);
      } catch (...) {
        std::this_thread::sleep_for(until_due);
        throw;
      }
    });
  };
  EXPECT_THROW(work(), std::runtime_error);
  EXPECT_EQ(thrown, 1);
}

TEST(Parallel, ShortLoopsArePolledToo) {
  int polls = 0;
  const Poll poll = [&](double) { ++polls; };
  for (int i = 0; i < 200; ++i) {
    parallel_for(2, on(2, poll), [](std::size_t, int) { wait_ms(1); });
  }
  EXPECT_GE(polls, 2);
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
                         parallel_for(9, inner, [](std::size_t, int) { wait_ms(6); });
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
      // The last fraction that was polled depends on timing.
      EXPECT_GT(last, 0.0) << tasks << " tasks on " << threads;
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
    std::atomic<int> done{0};
    const Poll poll = [](double fraction) {
      if (fraction > 0) throw std::runtime_error("enough");
    };
    EXPECT_THROW(parallel_tasks(12, way.brief, on(way.threads, poll),
                                [&](std::size_t, int, const ParallelOptions& inner) {
                                  parallel_for(60, inner, [&](std::size_t, int) {
                                    wait_ms(10);
                                    ++done;
                                  });
                                }),
                 std::runtime_error);
    EXPECT_LT(done, 60) << way.brief << " " << way.threads;
  }
}

TEST(Parallel, AForkedChildRunsSerially) {
  parallel_for(10, on(3), [](std::size_t, int) { wait_ms(1); });  // starts the pool's threads
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);  // a child that waits for threads of its parent is killed
    std::set<std::thread::id> ids;
    std::size_t next = 0;
    bool in_order = true;
    parallel_for(10, on(3), [&](std::size_t item, int worker) {
      in_order = in_order && item == next++ && worker == 0;
      ids.insert(std::this_thread::get_id());
    });
    const bool serial = in_order && next == 10 && ids.size() == 1 && threads_last_used() == 1 &&
                        parallel_threads(on(3)) == 1;
    _exit(serial ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  parallel_for(10, on(3), [](std::size_t, int) {});
  EXPECT_EQ(threads_last_used(), 3) << "the parent lost its threads";
}

TEST(Parallel, HelpersComeWhenTheyPay) {
  wait_for_all_helpers(false);
  // How many of 20 loops ran on `threads` threads: the system may keep any thread waiting.
  const auto loops_on = [](int threads, std::size_t items, const auto& body) {
    int loops = 0;
    for (int i = 0; i < 20; ++i) {
      parallel_for(items, on(3), body);
      if (threads_last_used() == threads) ++loops;
    }
    return loops;
  };
  EXPECT_GT(loops_on(1, 2, [](std::size_t, int) {}), 0) << "next to nothing to do";
  EXPECT_GT(loops_on(3, 3, [](std::size_t, int) { wait_ms(10); }), 0) << "few long items";
  EXPECT_GT(loops_on(3, 20, [](std::size_t, int) { wait_ms(1); }), 0) << "the first item tells";
  const auto late = [](std::size_t item, int) {
    if (item >= 1000) wait_ms(5);
  };
  EXPECT_GT(loops_on(3, 1006, late), 0) << "long items after short ones";
  wait_for_all_helpers(true);
}

TEST(Parallel, LoopsOfTwoThreadsAtOnceAreBothRun) {
  std::vector<std::atomic<int>> runs(400);
  const auto loop = [&](std::size_t first) {
    parallel_for(200, on(3), [&, first](std::size_t item, int) {
      wait_ms(item % 50 == 0 ? 1 : 0);
      runs[first + item]++;
    });
  };
  std::thread other(loop, 0);
  loop(200);
  other.join();
  for (const auto& count : runs) EXPECT_EQ(count, 1);
}

TEST(Cap, IsUsedWhereTheOptionsDoNotSay) {
  const int before = thread_cap();
  EXPECT_GE(before, 1);
  for (const int n : {1, 2, 3}) {
    set_thread_cap(n);
    EXPECT_EQ(thread_cap(), n);
    EXPECT_EQ(parallel_threads({}), n);
    EXPECT_EQ(parallel_threads(on(2)), 2);
    parallel_for(10, {}, [](std::size_t, int) { wait_ms(1); });
    EXPECT_EQ(threads_last_used(), n);
  }
  for (const int n : {0, -1}) EXPECT_THROW(set_thread_cap(n), error);
  EXPECT_EQ(thread_cap(), 3);
  set_thread_cap(before);
}

TEST(Cap, KeepsToTheProcessorsHoweverManyThreadsAreAskedFor) {
  const int asked = 1000000000, max = parallel_threads(on(asked));
  EXPECT_LE(max, std::max(kFewThreads, static_cast<int>(std::thread::hardware_concurrency())));
  const int before = thread_cap();
  set_thread_cap(asked);
  EXPECT_EQ(thread_cap(), max);
  EXPECT_EQ(parallel_threads({}), max);
  set_thread_cap(before);
  // Arrays of scratch space: no more than there are items, and at least one.
  EXPECT_EQ(parallel_workers(0, on(asked)), 1u);
  EXPECT_EQ(parallel_workers(1, on(asked)), 1u);
  EXPECT_EQ(parallel_workers(1000000, on(asked)), static_cast<std::size_t>(max));
}

namespace {

// What this program prints if it is started with an argument, under an environment; see main.cpp.
std::string answer_of(const std::string& environment, const std::string& argument) {
  std::array<char, PATH_MAX> self{};
  if (readlink("/proc/self/exe", self.data(), self.size() - 1) <= 0) return "no program";
  const std::string command = "env " + environment + " '" + self.data() + "' " + argument;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::array<char, 100> line{};
  return std::string(fgets(line.data(), line.size(), pipe.get()) ? line.data() : "");
}

}  // namespace

TEST(Parallel, WhereTheSystemGivesNoThreadsOneTakesAllTakeLittleMemory) {
  EXPECT_EQ(answer_of("", "--no-threads"), "10 items on 1");
}

TEST(Cap, ComesFromTheEnvironment) {
  const auto answer = [&](const std::string& environment) {
    return answer_of(
        "-u OMP_THREAD_LIMIT -u OMP_NUM_THREADS -u RCPP_PARALLEL_NUM_THREADS " + environment,
        "--cap");
  };
  EXPECT_EQ(answer("OMP_THREAD_LIMIT=1"), "1 1");
  EXPECT_EQ(answer("OMP_NUM_THREADS=1,4"), "1 3");
  EXPECT_EQ(answer("RCPP_PARALLEL_NUM_THREADS=1"), "1 3");
  EXPECT_EQ(answer("OMP_THREAD_LIMIT=2 OMP_NUM_THREADS=1"), "1 2");
  EXPECT_EQ(answer("RCPP_PARALLEL_NUM_THREADS=100000"), answer("")) << "above the processors";
  EXPECT_EQ(answer("RCPP_PARALLEL_NUM_THREADS=nonsense"), answer(""));
}
