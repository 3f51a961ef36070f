#include "gpu/loader.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <memory>

namespace kestrel {

namespace {

/// What is known of the object; `problem` is set if it cannot be used.
struct Object {
  std::string path, reason;
  const kestrel_gpu_table* table = nullptr;
  kestrel_gpu_device device{};
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

void open_object(Object& one) {
  if (one.path.empty()) {
    throw gpu_error(GpuProblem::not_built,
                    "kestrel was built without CUDA" +
                        (one.reason.empty() ? std::string() : " (" + one.reason + ")"));
  }
  const kestrel_gpu_table* const table = open_table(one.path);
  one.process = this_process();
  char text[512] = "";
  const int code = table->device(&one.device, text, sizeof text);
  if (is_of_memory(code)) throw too_little_memory(code, text);
  if (code != KESTREL_GPU_OK) {
    throw gpu_error(GpuProblem::no_device, std::string("there is no usable CUDA device: ") + text);
  }
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
      // Memory may be free another time.
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
  one.problem.reset();
  one.process = 0;
}

bool gpu_built() { return !object().path.empty(); }

const kestrel_gpu_table& gpu_table() { return *usable_object().table; }

const kestrel_gpu_device& gpu_device() { return usable_object().device; }

double gpu_free_memory() {
  const Object& one = usable_object();
  kestrel_gpu_device now{};
  char text[512] = "";
  check_gpu(one.table->device(&now, text, sizeof text), text);
  return now.free_memory;
}

bool gpu_here() { return is_own(object()); }

void check_gpu(int code, const char* text) {
  if (code == KESTREL_GPU_OK) return;
  if (is_of_memory(code)) throw too_little_memory(code, text);
  if (code == KESTREL_GPU_REFUSED) {
    throw gpu_error(GpuProblem::unsuited,
                    std::string("the CUDA object was not made for this: ") + text);
  }
  const gpu_error failed(GpuProblem::failed, std::string("the CUDA device failed: ") + text);
  if (code == KESTREL_GPU_FAILED) object().problem.reset(new gpu_error(failed));
  throw failed;
}

}  // namespace kestrel
