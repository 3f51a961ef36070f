// A folder in place of /, with files like those of Linux in /proc and /sys.
#ifndef KESTREL_TOOLS_FAKE_ROOT_HPP
#define KESTREL_TOOLS_FAKE_ROOT_HPP

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace kestrel {

class FakeRoot {
 public:
  FakeRoot() : folder_(testing::TempDir() + "kestrel-root-XXXXXX") {
    EXPECT_NE(mkdtemp(&folder_[0]), nullptr);
  }

  FakeRoot& with(const std::string& path, const std::string& text) {
    for (std::size_t end = path.find('/', 1); end != std::string::npos;
         end = path.find('/', end + 1)) {
      mkdir((folder_ + path.substr(0, end)).c_str(), 0700);
    }
    std::ofstream(folder_ + path) << text;
    return *this;
  }

  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

}  // namespace kestrel

#endif
