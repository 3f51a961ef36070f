// parallel_for: what it promises about items, workers, exceptions and polling.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/led.hpp"
#include "core/base/parallel.hpp"
#include "core/base/thread_pool.hpp"
#include "loops.hpp"

using namespace kestrel;

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

TEST(Parallel, LedLoopsHaveHelpers) {
  for (const int leaders : {1, 2, 3}) {
    for (const int threads : {1, 2, 8}) {
      std::vector<std::atomic<int>> runs(5 * 10);
      std::atomic<bool> in_range{true};
      std::atomic<int> helped{0};
      parallel_led_for(5, leaders, on(threads), [&](std::size_t item, int worker) {
        if (worker < 0 || worker >= leaders) in_range = false;
        const std::thread::id here = std::this_thread::get_id();
        helped_for(10, [&](std::size_t k) {
          runs[item * 10 + k]++;
          if (std::this_thread::get_id() != here) helped++;
          wait_ms(1);
        });
      });
      for (const auto& count : runs) EXPECT_EQ(count, 1);
      EXPECT_TRUE(in_range);
      // With as many leaders as threads it depends on time: a leader without items helps the
      // others.
      if (threads == 1 || threads > leaders) {
        EXPECT_EQ(helped > 0, threads > 1) << leaders << " of " << threads;
      }
    }
  }
  int alone = 0;
  helped_for(3, [&](std::size_t) { ++alone; });
  EXPECT_EQ(alone, 3);
}

// Leaders that have taken all items still need their helpers, and become helpers.
TEST(Parallel, LedLoopsOfFewItemsHaveHelpers) {
  wait_for_all_helpers(false);
  std::atomic<int> here{0};
  parallel_led_for(2, 2, on(5), [&](std::size_t item, int) {
    if (item > 0) return;
    helped_for(5, [&](std::size_t) {
      here++;
      for (int ms = 0; here < 5 && ms < 20000; ++ms) wait_ms(1);
      EXPECT_EQ(here, 5);
    });
  });
  wait_for_all_helpers(true);
}

TEST(Parallel, LedLoopsEndWhereABodyOrThePollThrows) {
  for (int repetition = 0; repetition < 20; ++repetition) {
    const auto fail = [](std::size_t k) {
      if (k == 7) throw error(ErrorKind::memory, "7");
    };
    EXPECT_THROW(parallel_led_for(100, 2, on(6), [&](std::size_t, int) { helped_for(40, fail); }),
                 error);
    const Poll enough = [](double fraction) {
      if (fraction > 0) throw std::runtime_error("enough");
    };
    // The calling thread, which polls, must have an item: the other one waits for it.
    std::atomic<bool> called{false};
    EXPECT_THROW(parallel_led_for(100, 2, on(6, enough),
                                  [&](std::size_t, int worker) {
                                    if (worker == 0) called = true;
                                    while (!called) wait_ms(1);
                                    helped_for(40, [](std::size_t) {});
                                  }),
                 std::runtime_error);
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
    end_threads();  // there are none to wait for
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

namespace {

// The threads of this process that are not among `others`. The system lists a thread for a moment
// after it has ended.
std::set<std::string> threads_beside(const std::set<std::string>& others) {
  std::set<std::string> threads;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    if (others.count(thread.path().filename()) == 0) threads.insert(thread.path().filename());
  }
  return threads;
}

}  // namespace

TEST(Parallel, ThreadsEndWhenToldToAndLaterLoopsStartOthers) {
  // With the first thread TSan starts one of its own, which stays.
  parallel_for(10, on(3), [](std::size_t, int) {});
  for (int time = 0; time < 2; ++time) {
    end_threads();
    const std::set<std::string> before = threads_beside({});
    parallel_for(10, on(3), [](std::size_t, int) { end_threads(); });  // not while a loop runs
    EXPECT_EQ(threads_last_used(), 3);
    const std::set<std::string> helpers = threads_beside(before);
    EXPECT_EQ(helpers.size(), 2u);
    end_threads();
    const auto some_are_left = [&] {
      const std::set<std::string> now = threads_beside(before);
      return std::any_of(now.begin(), now.end(), [&](const auto& t) { return helpers.count(t); });
    };
    for (int ms = 0; ms < 60000 && some_are_left(); ++ms) wait_ms(1);
    EXPECT_FALSE(some_are_left());
  }
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

TEST(Parallel, AProcessMayEndWhileItsThreadHoldsAMutexOfThePool) {
  EXPECT_EQ(answer_of("", "--leave-while-locked"), "left");
}

TEST(Parallel, AProcessMayEndWithinALoop) { EXPECT_EQ(answer_of("", "--leave-in-item"), "left"); }

TEST(Cap, FollowsTheProcessorsThatTheThreadMayRunOn) {
  EXPECT_EQ(answer_of("", "--cap-on-one-processor"), "1");
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
