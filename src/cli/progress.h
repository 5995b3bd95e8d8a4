// ProgressBar: how far long work is, on a terminal and nowhere else; and Ctrl-C, which lets the work end cleanly instead of cutting it.
#pragma once

#include <memory>
#include <string>

#include "experiment/parallel.h"

namespace margin::cli {

// Exit code after Ctrl-C.
inline constexpr int kInterrupted = 130;

// While it lives: a bar with an estimate on the error output when that is a terminal, and SIGINT or SIGTERM set progress.stop. One at a
// time.
class ProgressBar {
 public:
  ProgressBar(std::string what, experiment::Progress& progress);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace margin::cli
