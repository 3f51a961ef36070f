#include "core/base/control_groups.hpp"

#include <fstream>
#include <sstream>

namespace kestrel {

namespace {

/// Where a hierarchy is mounted: the folder, and which group that folder shows. In a container it
/// may be a group below the top one.
struct GroupMount {
  std::string group, folder;
};

bool is_listed(const std::string& list, const std::string& name) {
  return (',' + list + ',').find(',' + name + ',') != std::string::npos;
}

/// Reads a line of /proc/self/mountinfo: NUMBER NUMBER DEVICE GROUP FOLDER OPTIONS... - TYPE SOURCE
/// OPTIONS. Returns whether it is about this hierarchy.
bool read_mount(const std::string& line, const std::string& controller, GroupMount* mount) {
  std::istringstream words(line);
  std::string word, type, source, options;
  for (int skipped = 0; skipped < 3; ++skipped) words >> word;
  words >> mount->group >> mount->folder;
  while (words >> word && word != "-") {
  }
  words >> type >> source >> options;
  if (controller.empty()) return type == "cgroup2";
  return type == "cgroup" && is_listed(options, controller);
}

/// Reads a line of /proc/self/cgroup: NUMBER:CONTROLLERS:GROUP, without controllers in version 2.
bool read_group(const std::string& line, const std::string& controller, std::string* group) {
  const std::size_t first = line.find(':'), second = line.find(':', first + 1);
  if (first == std::string::npos || second == std::string::npos) return false;
  const std::string controllers = line.substr(first + 1, second - first - 1);
  *group = line.substr(second + 1);
  return controller.empty() ? controllers.empty() : is_listed(controllers, controller);
}

}  // namespace

std::vector<std::string> lines_of(const std::string& file) {
  std::vector<std::string> lines;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> group_folders(const std::string& root, const std::string& controller) {
  GroupMount mount;
  std::string group;
  bool is_mounted = false, is_member = false;
  for (const std::string& line : lines_of(root + "/proc/self/mountinfo")) {
    if (!is_mounted) is_mounted = read_mount(line, controller, &mount);
  }
  for (const std::string& line : lines_of(root + "/proc/self/cgroup")) {
    if (!is_member) is_member = read_group(line, controller, &group);
  }
  if (!is_mounted || !is_member) return {};
  if (mount.group == "/") mount.group.clear();
  // The path of a group that is not below the mounted one does not exist here.
  const bool is_below = (group + '/').compare(0, mount.group.size() + 1, mount.group + '/') == 0;
  std::vector<std::string> folders = {root + mount.folder};
  std::istringstream steps(is_below ? group.substr(mount.group.size()) : "");
  for (std::string step; std::getline(steps, step, '/');) {
    if (!step.empty()) folders.push_back(folders.back() + '/' + step);
  }
  return folders;
}

}  // namespace kestrel
