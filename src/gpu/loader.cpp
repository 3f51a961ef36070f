#include "gpu/loader.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "core/base/parallel.hpp"

namespace kestrel {

namespace {

/// What is known of a device; `problem` is set if it cannot be used.
struct DeviceState {
  kestrel_gpu_device device{};
  bool started = false;
  std::unique_ptr<gpu_error> problem;
};

/// What is known of the object; `problem` is set if it cannot be used.
struct Object {
  std::string path, reason;
  const kestrel_gpu_table* table = nullptr;
  std::vector<DeviceState> devices;
  std::vector<int> wanted;  // empty: all
  std::unique_ptr<gpu_error> problem;
  long process = 0;  // that started the driver, or tried to
};

/// Never destroyed: the process may end in a signal handler, while this is in use.
Object& object() {
  static Object& one = *new Object;
  return one;
}

long this_process() { return static_cast<long>(getpid()); }

[[noreturn]] void refuse_object(const std::string& path, const std::string& why) {
  throw gpu_error(GpuProblem::not_loaded,
                  "the CUDA object of kestrel, " + path + ", could not be loaded: " + why);
}

const kestrel_gpu_table* open_table(const std::string& path) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) refuse_object(path, dlerror());
  const auto entry = reinterpret_cast<kestrel_gpu_entry>(dlsym(handle, KESTREL_GPU_SYMBOL));
  if (entry == nullptr) refuse_object(path, "it has no function " KESTREL_GPU_SYMBOL);
  const kestrel_gpu_table* const table = entry();
  if (table == nullptr || table->version != KESTREL_GPU_VERSION) {
    refuse_object(path,
                  "it is of version " +
                      (table == nullptr ? std::string("none") : std::to_string(table->version)) +
                      ", this package of version " + std::to_string(KESTREL_GPU_VERSION));
  }
  return table;
}

/// The error for either code of a lack of memory.
gpu_error too_little_memory(int code, const std::string& text) {
  return {GpuProblem::memory, code == KESTREL_GPU_MEMORY
                                  ? "the CUDA device has too little free memory: " + text
                                  : "the host of the CUDA device has too little memory: " + text};
}

bool is_of_memory(int code) {
  return code == KESTREL_GPU_MEMORY || code == KESTREL_GPU_HOST_MEMORY;
}

/// Throws the error for a code with which a device, or the driver, did not start.
void check_start(int code, const char* text) {
  if (is_of_memory(code)) throw too_little_memory(code, text);
  if (code != KESTREL_GPU_OK) {
    throw gpu_error(GpuProblem::no_device, std::string("there is no usable CUDA device: ") + text);
  }
}

/// Starts a device, unless that was done. Throws its problem, which is remembered.
void start_device(Object& one, std::size_t number) {
  DeviceState& state = one.devices[number];
  if (state.problem) throw gpu_error(*state.problem);
  if (state.started) return;
  char text[512] = "";
  try {
    check_start(
        one.table->start(static_cast<int>(number), &state.device.free_memory, text, sizeof text),
        text);
  } catch (const gpu_error& problem) {
    // Memory may be free another time.
    if (problem.problem != GpuProblem::memory) state.problem.reset(new gpu_error(problem));
    throw;
  }
  state.started = true;
}

/// The devices that tasks may use, the ones that failed included.
std::vector<std::size_t> wanted_devices(const Object& one) {
  std::vector<std::size_t> numbers;
  for (const int number : one.wanted) {
    if (number < 0 || static_cast<std::size_t>(number) >= one.devices.size()) {
      const std::size_t count = one.devices.size();
      throw gpu_error(GpuProblem::no_device,
                      "there is no CUDA device " + std::to_string(number + 1) +
                          ", which options(kestrel.devices=) names, but " + std::to_string(count));
    }
    numbers.push_back(static_cast<std::size_t>(number));
  }
  for (std::size_t number = 0; one.wanted.empty() && number < one.devices.size(); ++number) {
    numbers.push_back(number);
  }
  return numbers;
}

/// The number of the first device that can be used. Throws the problem of the last one if none can.
std::size_t first_device(Object& one) {
  const std::vector<std::size_t> numbers = wanted_devices(one);
  for (std::size_t k = 0; k + 1 < numbers.size(); ++k) {
    try {
      start_device(one, numbers[k]);
      return numbers[k];
    } catch (const gpu_error&) {
      // The next one may do.
    }
  }
  start_device(one, numbers.back());
  return numbers.back();
}

/// The loop of kestrel_gpu_host_loop.
int run_on_host(std::size_t items, void (*body)(void*, std::size_t, int), void* context) {
  ParallelOptions threads;
  threads.threads = std::min(KESTREL_GPU_HOST_THREADS, thread_cap());
  if (parallel_threads(threads) < 2) return 0;
  try {
    parallel_for(items, threads,
                 [&](std::size_t item, int worker) { body(context, item, worker); });
  } catch (...) {
    return 0;  // no memory for a thread
  }
  return 1;
}

void open_object(Object& one) {
  if (one.path.empty()) {
    throw gpu_error(GpuProblem::not_built,
                    "kestrel was built without CUDA" +
                        (one.reason.empty() ? std::string() : " (" + one.reason + ")"));
  }
  const kestrel_gpu_table* const table = open_table(one.path);
  one.process = this_process();
  char text[512] = "";
  int count = 0;
  check_start(table->devices(&count, text, sizeof text), text);
  std::vector<DeviceState> devices(static_cast<std::size_t>(count));
  for (int number = 0; number < count; ++number) {
    check_start(table->describe(number, &devices[static_cast<std::size_t>(number)].device, text,
                                sizeof text),
                text);
  }
  table->set_host_loop(run_on_host);
  one.devices = std::move(devices);
  one.table = table;
}

/// Whether no other process has opened the object.
bool is_own(const Object& one) { return one.process == 0 || one.process == this_process(); }

/// The object, open and usable in this process.
Object& usable_object() {
  Object& one = object();
  if (!is_own(one)) {
    throw gpu_error(GpuProblem::forked,
                    "a process that was forked from one that had used CUDA cannot use it");
  }
  if (one.problem) throw gpu_error(*one.problem);
  if (one.table == nullptr) {
    try {
      open_object(one);
    } catch (const gpu_error& problem) {
      if (problem.problem != GpuProblem::memory) one.problem.reset(new gpu_error(problem));
      throw;
    }
  }
  return one;
}

}  // namespace

void set_gpu_object(const std::string& path, const std::string& reason) {
  Object& one = object();
  one.path = path;
  one.reason = reason;
  one.table = nullptr;
  one.devices.clear();
  one.problem.reset();
  one.process = 0;
}

bool gpu_built() { return !object().path.empty(); }

void set_gpu_devices(std::vector<int> numbers) { object().wanted = std::move(numbers); }

const kestrel_gpu_table& gpu_table() {
  Object& one = usable_object();
  first_device(one);
  return *one.table;
}

std::vector<int> gpu_devices() {
  Object& one = usable_object();
  const std::size_t first = first_device(one);
  std::vector<int> numbers{static_cast<int>(first)};
  for (const std::size_t number : wanted_devices(one)) {
    const bool usable = one.devices[number].problem == nullptr;
    if (usable && number != first) numbers.push_back(static_cast<int>(number));
  }
  return numbers;
}

const kestrel_gpu_device& gpu_device() {
  Object& one = usable_object();
  return one.devices[first_device(one)].device;
}

std::string gpu_name() {
  std::vector<std::string> names;
  std::vector<int> counts;
  for (const int number : gpu_devices()) {
    const std::string name = object().devices[static_cast<std::size_t>(number)].device.name;
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      names.push_back(name);
      counts.push_back(1);
    } else {
      ++counts[static_cast<std::size_t>(found - names.begin())];
    }
  }
  std::string text;
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (k > 0) text += ", ";
    if (counts[k] > 1) text += std::to_string(counts[k]) + " x ";
    text += names[k];
  }
  return text;
}

double gpu_free_memory() {
  Object& one = usable_object();
  for (;;) {
    const std::size_t first = first_device(one);
    double bytes = 0.0;
    char text[512] = "";
    const int code = one.table->start(static_cast<int>(first), &bytes, text, sizeof text);
    if (code == KESTREL_GPU_OK) return bytes;
    if (is_of_memory(code)) return 0.0;
    try {
      check_gpu(code, text);
    } catch (const gpu_error& problem) {
      lose_gpu_device(static_cast<int>(first), problem);
    }
  }
}

std::vector<FoundDevice> find_gpu_devices() {
  Object& one = usable_object();
  std::vector<FoundDevice> found;
  for (std::size_t number = 0; number < one.devices.size(); ++number) {
    std::string problem;
    try {
      start_device(one, number);
    } catch (const gpu_error& error) {
      problem = error.what();
    }
    found.push_back({one.devices[number].device, problem});
  }
  return found;
}

void lose_gpu_device(int number, const gpu_error& problem) {
  object().devices[static_cast<std::size_t>(number)].problem.reset(new gpu_error(problem));
}

bool gpu_here() { return is_own(object()); }

void check_gpu(int code, const char* text) {
  if (code == KESTREL_GPU_OK) return;
  if (is_of_memory(code)) throw too_little_memory(code, text);
  if (code == KESTREL_GPU_REFUSED) {
    throw gpu_error(GpuProblem::unsuited,
                    std::string("the CUDA object was not made for this: ") + text);
  }
  throw gpu_error(GpuProblem::failed, std::string("the CUDA device failed: ") + text);
}

}  // namespace kestrel
