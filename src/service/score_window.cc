#include "service/score_window.h"

namespace margin::service {

// Sums that only ever gained and lost would collect rounding errors; once per round they are made anew.
void ScoreWindow::recount() {
  sums_ = {};
  for (const Scored& scored : rows_) sums_.add(scored);
}

void ScoreWindow::add(const Scored& scored) {
  ++total_;
  sums_.add(scored);
  if (rows_.size() < kWindow) {
    rows_.push_back(scored);
    return;
  }
  sums_.remove(rows_[next_]);
  rows_[next_] = scored;
  next_ = (next_ + 1) % kWindow;
  if (next_ == 0) recount();
}

}  // namespace margin::service
