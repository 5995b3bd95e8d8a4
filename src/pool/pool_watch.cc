#include "pool/pool_watch.h"

#include <algorithm>

#include "base/check.h"

namespace margin::internal {
namespace {

// A response is shown to the watch when so many sources have spoken: two alone cannot tell which of them is wrong.
constexpr std::size_t kSourcesWanted = 3;

}  // namespace

PoolWatch::PoolWatch(std::uint32_t models_max) {
  if (models_max > 0) watch_.emplace(WatchOptions{.models_max = models_max});
}

void PoolWatch::settle(DecisionRecord& decision, std::int64_t time_ms) {
  if (decision.watched) return;
  decision.watched = true;
  if (!watch_) return;
  std::vector<WatchedResponse> task;
  for (const DecisionRecord::Response& response : decision.responses) {
    const auto same_model = [&](const WatchedResponse& other) { return other.model == response.model; };
    if (!response.usable || response.model >= watch_->options().models_max || std::any_of(task.begin(), task.end(), same_model)) continue;
    const bool known = response.graded() || response.standing == Standing::kImplied;
    const DecisionRecord::Outcome& outcome = decision.outcome_of(response);
    const std::int64_t known_ms = response.graded() ? decision.later->feedbacks[outcome.feedback].time_ms : time_ms;
    task.push_back({.model = response.model,
                    .answer = response.answer,
                    .outcome = known ? outcome.value : kNoOutcome,
                    .delay = static_cast<double>(std::max<std::int64_t>(0, known_ms - decision.time_ms))});
  }
  if (task.empty()) return;
  const Status observed = watch_->observe(task);
  MARGIN_CHECK(observed.ok(), "the responses were checked when they were recorded");
  stamp(time_ms);
}

bool PoolWatch::state(DecisionRecord& decision, std::string_view source, std::span<const double> outcomes, std::int64_t time_ms) {
  if (!watch_ || source.empty()) return false;
  bool heard = false;
  for (std::uint32_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i] != outcomes[i]) continue;
    const bool closed = std::any_of(decision.later->opinions.begin(), decision.later->opinions.end(),
                                    [&](const Opinion& opinion) { return opinion.response == i && opinion.closes(); });
    if (closed) continue;
    // Numbered only where it leaves a trace: what a revert need not take back must not matter.
    const auto number = number_of(source);
    if (!number) return false;
    std::vector<SourceGrade> said = statements(decision, i);
    if (std::none_of(said.begin(), said.end(), [&](const SourceGrade& grade) { return grade.source == *number; })) {
      decision.later.change().opinions.push_back({i, *number, outcomes[i]});
      said.push_back({*number, outcomes[i]});
      heard = true;
    }
    if (said.size() < kSourcesWanted) continue;
    show(said, time_ms);
    std::erase_if(decision.later.change().opinions, [&](const Opinion& opinion) { return opinion.response == i; });
    decision.later.change().opinions.push_back({.response = i});
  }
  return heard;
}

void PoolWatch::close(DecisionRecord& decision, std::int64_t time_ms) {
  settle(decision, time_ms);
  if (!watch_ || decision.later->opinions.empty()) return;
  for (std::uint32_t i = 0; i < decision.responses.size(); ++i) {
    const std::vector<SourceGrade> said = statements(decision, i);
    if (said.size() > 1) show(said, time_ms);
  }
}

void PoolWatch::leave(ModelId model) {
  if (watch_) watch_->leave(model);
}

// What the sources said of a response that has not been shown: who gave its outcome first.
std::vector<SourceGrade> PoolWatch::statements(const DecisionRecord& decision, std::uint32_t response) {
  std::vector<SourceGrade> said;
  const DecisionRecord::Response& about = decision.responses[response];
  if (about.graded()) {
    const std::string& source = decision.later->feedbacks[decision.outcome_of(about).feedback].source;
    const auto number = source.empty() ? std::nullopt : number_of(source);
    if (number) said.push_back({*number, decision.outcome_of(about).value});
  }
  for (const Opinion& opinion : decision.later->opinions) {
    if (opinion.response != response) continue;
    if (opinion.closes()) return {};
    if (said.empty() || opinion.source != said.front().source) said.push_back({opinion.source, opinion.outcome});
  }
  return said;
}

void PoolWatch::show(std::span<const SourceGrade> statements, std::int64_t time_ms) {
  const Status graded = watch_->grade(statements);
  MARGIN_CHECK(graded.ok(), "sources are numbered below their bound, and each speaks once of a response");
  stamp(time_ms);
}

std::optional<std::uint32_t> PoolWatch::number_of(std::string_view source) {
  const auto known = numbers_.find(source);
  if (known != numbers_.end()) return known->second;
  if (sources_.size() >= watch_->options().sources_max) return std::nullopt;
  const auto number = static_cast<std::uint32_t>(sources_.size());
  sources_.emplace_back(source);
  numbers_.emplace(source, number);
  return number;
}

// Reports that have just been made are of this time; older ones may have made room for them.
void PoolWatch::stamp(std::int64_t time_ms) {
  const std::uint64_t made = watch_->dropped() + watch_->reports().size();
  for (; stamped_ < made; ++stamped_) times_.push_back(time_ms);
  while (times_.size() > watch_->reports().size()) times_.pop_front();
}

void PoolWatch::save(Encoder& out) const {
  if (!watch_) return;
  out.text(watch_->snapshot());
  out.integer(static_cast<std::uint64_t>(sources_.size()));
  for (const std::string& source : sources_) out.text(source);
  for (const std::int64_t time_ms : times_) out.integer(time_ms);
}

void PoolWatch::load(Decoder& in) {
  if (!watch_) return;
  auto watch = restore_watch(in.text());
  if (!watch || watch->options().models_max != watch_->options().models_max) return in.fail();
  watch_ = std::move(*watch);
  const std::size_t sources = in.length(8);
  for (std::size_t i = 0; i < sources && in.ok(); ++i) {
    if (number_of(in.text()) != i) in.fail();
  }
  for (std::size_t i = 0; i < watch_->reports().size() && in.ok(); ++i) times_.push_back(in.integer<std::int64_t>());
  stamped_ = watch_->dropped() + watch_->reports().size();
}

}  // namespace margin::internal
