#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <thread>

namespace margin::cli {
namespace {

// A signal handler may touch only this.
std::atomic<experiment::Progress*> interrupted_work{nullptr};

void on_signal(int) {
  if (experiment::Progress* work = interrupted_work.load()) work->stop.store(true);
}

std::string duration(double seconds) {
  if (seconds < 60.0) return fmt::format("{:.0f} s", seconds);
  if (seconds < 3600.0)
    return fmt::format("{:.0f} min {:02.0f} s", std::floor(seconds / 60.0), seconds - 60.0 * std::floor(seconds / 60.0));
  return fmt::format("{:.1f} h", seconds / 3600.0);
}

}  // namespace

struct ProgressBar::State {
  std::string what;
  experiment::Progress& progress;
  bool terminal = isatty(STDERR_FILENO) == 1;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  std::mutex mutex;
  std::condition_variable ended;
  bool end = false;
  std::thread painter;
  struct sigaction old_int {
  }, old_term{};

  void paint() {
    constexpr int kWidth = 30;
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, std::chrono::milliseconds(200), [&] { return end; })) {
      const double total = static_cast<double>(progress.total.load());
      const double done = static_cast<double>(progress.done.load());
      const double share = total > 0.0 ? std::min(1.0, done / total) : 0.0;
      const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      const int filled = static_cast<int>(share * kWidth);
      const std::string rest = share > 0.02 ? fmt::format("about {} left", duration(elapsed * (1.0 - share) / share)) : "estimating";
      fmt::print(stderr, "\r{} [{:=<{}}{: <{}}] {:3.0f}%  {}\033[K", what, "", filled, "", kWidth - filled, 100.0 * share, rest);
      std::fflush(stderr);
    }
  }
};

ProgressBar::ProgressBar(std::string what, experiment::Progress& progress)
    : state_(new State{.what = std::move(what), .progress = progress}) {
  interrupted_work.store(&progress);
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &state_->old_int);
  sigaction(SIGTERM, &action, &state_->old_term);
  if (state_->terminal) state_->painter = std::thread([state = state_.get()] { state->paint(); });
}

ProgressBar::~ProgressBar() {
  if (state_->painter.joinable()) {
    {
      const std::lock_guard lock(state_->mutex);
      state_->end = true;
    }
    state_->ended.notify_all();
    state_->painter.join();
    std::fputs("\r\033[K", stderr);
  }
  sigaction(SIGINT, &state_->old_int, nullptr);
  sigaction(SIGTERM, &state_->old_term, nullptr);
  interrupted_work.store(nullptr);
}

}  // namespace margin::cli
