#include "server/experiments.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace margin::server {
namespace {

constexpr std::chrono::milliseconds kPoll{20};
constexpr std::size_t kMessageBytesMax = 2000;
constexpr int kCouldNotRun = 126;

bool legal_methods(std::string_view methods) {
  return std::all_of(methods.begin(), methods.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '@' || c == ','; });
}

std::string read_up_to(const std::filesystem::path& path, std::size_t bytes_max) {
  std::ifstream in(path, std::ios::binary);
  std::string text(bytes_max, '\0');
  in.read(text.data(), static_cast<std::streamsize>(bytes_max));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

void bound(int resource, std::uint64_t value) {
  const rlimit limit{value, value};
  setrlimit(static_cast<__rlimit_resource>(resource), &limit);
}

// The folder goes with everything in it.
struct Folder {
  explicit Folder(std::filesystem::path at) : path(std::move(at)) {}
  ~Folder() {
    std::error_code ignored;
    if (!path.empty()) std::filesystem::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path path;
};

Result<std::filesystem::path> make_folder() {
  std::error_code failed;
  std::string name = (std::filesystem::temp_directory_path(failed) / "margin-experiment-XXXXXX").string();
  if (failed || mkdtemp(name.data()) == nullptr) return {ErrorCode::kUnavailable, "no temporary folder could be made"};
  return std::filesystem::path(name);
}

}  // namespace

struct Experiments::Child {
  std::shared_ptr<Folder> folder;
  pid_t pid = -1;
};

Experiments::~Experiments() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  if (watcher_.joinable()) watcher_.join();
}

Status Experiments::start(ExperimentRequest request) {
  if (!legal_methods(request.methods)) return {ErrorCode::kInvalidArgument, "methods: expected names as margin methods lists them"};
  {
    const std::lock_guard lock(mutex_);
    if (running_) return {ErrorCode::kConflict, "an experiment runs already; one at a time"};
  }
  if (watcher_.joinable()) watcher_.join();
  auto made = make_folder();
  if (!made) return made.error();
  Child child{std::make_shared<Folder>(*made), -1};
  const std::string log_name = request.csv ? "log.csv" : "log.jsonl";
  std::ofstream log(*made / log_name, std::ios::binary);
  log.write(request.log.data(), static_cast<std::streamsize>(request.log.size()));
  log.close();
  if (!log) return {ErrorCode::kUnavailable, "the log could not be written to a temporary folder"};

  // Everything is made before the fork: between fork and exec only what is safe after a fork of a threaded program may be called.
  std::vector<std::string> words = {"margin",    "replay", log_name,   "--input", request.csv ? "csv" : "jsonl", "--orderings", "20",
                                    "--threads", "1",      "--report", "report"};
  if (!request.methods.empty()) words.insert(words.end(), {"--method", request.methods});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::array<char*, 1> environment = {nullptr};
  const std::string folder = made->string();
  const std::string program = limits_.program;
  const pid_t server = getpid();
  child.pid = fork();
  if (child.pid < 0) return {ErrorCode::kUnavailable, "no process could be started"};
  if (child.pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != server || chdir(folder.c_str()) != 0) _exit(kCouldNotRun);
    const int nothing = open("/dev/null", O_RDWR);
    const int said = open("said.txt", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (nothing < 0 || said < 0 || dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0 || dup2(said, 2) < 0) _exit(kCouldNotRun);
    close_range(3, ~0U, 0);
    bound(RLIMIT_CPU, static_cast<std::uint64_t>(limits_.cpu.count()));
    bound(RLIMIT_AS, limits_.memory_bytes);
    bound(RLIMIT_FSIZE, limits_.report_bytes_max);
    bound(RLIMIT_CORE, 0);
    setpriority(PRIO_PROCESS, 0, 10);
    std::signal(SIGPIPE, SIG_DFL);
    std::signal(SIGXFSZ, SIG_DFL);
    execve(program.c_str(), arguments.data(), environment.data());
    _exit(kCouldNotRun);
  }

  const std::lock_guard lock(mutex_);
  running_ = true;
  experiments_.push_front({.id = request.id,
                           .tenant = std::move(request.tenant),
                           .name = std::move(request.name),
                           .log_bytes = request.log.size(),
                           .started_ms = request.now_ms});
  if (experiments_.size() > limits_.kept) experiments_.pop_back();
  watcher_ = std::thread([this, id = request.id, child, began = std::chrono::steady_clock::now()] { watch(id, child, began); });
  return {};
}

void Experiments::watch(Uuid id, const Child& child, std::chrono::steady_clock::time_point began) {
  const auto took = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(); };
  int status = 0;
  std::string ended;
  while (waitpid(child.pid, &status, WNOHANG) == 0) {
    bool stop = false;
    {
      const std::lock_guard lock(mutex_);
      stop = stop_;
    }
    if (stop || took() > static_cast<double>(limits_.wall.count())) {
      ended = stop ? "the server stopped" : "it took longer than " + std::to_string(limits_.wall.count()) + " s";
      kill(child.pid, SIGKILL);
      waitpid(child.pid, &status, 0);
      break;
    }
    std::this_thread::sleep_for(kPoll);
  }
  const std::filesystem::path report_file = child.folder->path / "report" / "report.html";
  std::error_code absent;
  const auto report_bytes = std::filesystem::file_size(report_file, absent);
  if (ended.empty() && WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    ended = signal == SIGXCPU || signal == SIGKILL ? "it used more than " + std::to_string(limits_.cpu.count()) + " s of processor time"
            : signal == SIGXFSZ                    ? "its report grew too large"
                                                   : "it ended by signal " + std::to_string(signal);
  } else if (ended.empty() && WEXITSTATUS(status) != 0) {
    ended = read_up_to(child.folder->path / "said.txt", kMessageBytesMax);
    if (ended.empty()) ended = "it ended with code " + std::to_string(WEXITSTATUS(status));
  } else if (ended.empty() && (absent || report_bytes > limits_.report_bytes_max)) {
    ended = absent ? "it made no report" : "its report is too large";
  }
  finish(id, took(), ended, ended.empty() ? read_up_to(report_file, limits_.report_bytes_max) : "");
}

void Experiments::finish(Uuid id, double seconds, std::string message, std::string report) {
  const std::lock_guard lock(mutex_);
  running_ = false;
  for (Experiment& experiment : experiments_) {
    if (experiment.id != id) continue;
    experiment.status = message.empty() ? Experiment::Status::kDone : Experiment::Status::kFailed;
    experiment.seconds = seconds;
    experiment.message = std::move(message);
    experiment.report = std::move(report);
    return;
  }
}

std::vector<Experiment> Experiments::list(std::string_view tenant) const {
  std::vector<Experiment> out;
  const std::lock_guard lock(mutex_);
  for (const Experiment& experiment : experiments_) {
    if (experiment.tenant != tenant) continue;
    Experiment& shown = out.emplace_back(experiment);
    shown.report.clear();
  }
  return out;
}

std::optional<Experiment> Experiments::find(Uuid id, std::string_view tenant) const {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(experiments_.begin(), experiments_.end(), [&](const Experiment& one) { return one.id == id && one.tenant == tenant; });
  return found == experiments_.end() ? std::nullopt : std::optional(*found);
}

}  // namespace margin::server
