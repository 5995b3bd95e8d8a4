#include "margin/watch.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/check.h"
#include "watch/collusion.h"
#include "watch/drift.h"
#include "watch/encoding.h"
#include "watch/lag.h"
#include "watch/participation.h"
#include "watch/sources.h"

namespace margin {
namespace watch {

void Reporter::add(const Suspect& suspect, const Evidence& evidence, double reference, std::uint64_t task, std::uint32_t clock) {
  WatchReport report{.kind = suspect.kind,
                     .subject = suspect.subject,
                     .other = suspect.other,
                     .since = evidence.since,
                     .at = task,
                     .last = task,
                     .times = 1,
                     .clock = clock,
                     .observed = evidence.observed,
                     .reference = reference,
                     .tolerated = evidence.tolerated,
                     .observations = evidence.observations,
                     .evidence = evidence.log_ratio,
                     .threshold = evidence.threshold};
  if (suspect.kind != WatchKind::kDrift && suspect.kind != WatchKind::kTrustThenDefect) {
    const auto known = std::find_if(reports_.begin(), reports_.end(), [&](const WatchReport& other) {
      return other.kind == report.kind && other.subject == report.subject && other.other == report.other;
    });
    if (known != reports_.end()) {
      known->last = task;
      ++known->times;
      return;
    }
  }
  if (reports_.size() == options_.reports_max) {
    reports_.erase(reports_.begin());
    ++dropped_;
  }
  reports_.push_back(report);
}

}  // namespace watch

std::string_view watch_kind_name(WatchKind kind) {
  switch (kind) {
    case WatchKind::kDrift: return "drift";
    case WatchKind::kTrustThenDefect: return "trust_then_defect";
    case WatchKind::kLowParticipation: return "low_participation";
    case WatchKind::kAvoidsHardTasks: return "avoids_hard_tasks";
    case WatchKind::kLagExploitation: return "lag_exploitation";
    case WatchKind::kCollusion: return "collusion";
    case WatchKind::kSourceDisagrees: return "source_disagrees";
  }
  return "";
}

namespace {

constexpr std::uint32_t kSnapshotFormat = 0x4d574131;  // "MWA1"
constexpr std::uint32_t kNumbersMax = 1024;

// In which round a number was last met. No part of what the watch knows.
struct Marks {
  std::array<std::uint64_t, kNumbersMax> last{};
  std::uint64_t round = 0;
};

}  // namespace

struct Watch::State {
  explicit State(const WatchOptions& given) : options(given), reporter(given) {}

  WatchOptions options;
  watch::Reporter reporter;
  watch::Drift drift;
  watch::Participation participation;
  watch::Lag lag;
  watch::Collusion collusion;
  watch::Sources sources;
  std::uint64_t tasks = 0;
  std::vector<const WatchedResponse*> by_model;  // of the task at hand; as many as models were met
  Marks marks;

  template <class Self, class Visit>
  static void visit(Self& self, Visit& visit) {
    visit(self.tasks);
    visit.counted(self.by_model, self.options.models_max);
    const std::size_t models = self.by_model.size();
    visit(self.reporter);
    watch::Drift::visit(self.drift, models, visit);
    watch::Participation::visit(self.participation, models, visit);
    watch::Lag::visit(self.lag, models, visit);
    watch::Collusion::visit(self.collusion, models, visit);
    watch::Sources::visit(self.sources, self.options.sources_max, visit);
  }
};

namespace {

bool in_unit(double x) { return x >= 0.0 && x <= 1.0; }

bool is_legal(const WatchOptions& options) {
  const auto is_bound = [](std::uint32_t bound) { return bound >= 1 && bound <= kNumbersMax; };
  return options.false_reports_per_task > 0.0 && options.false_reports_per_task <= 0.1 && is_bound(options.models_max) &&
         is_bound(options.sources_max) && options.reports_max >= 1;
}

// Each item of a task or response names a number below `bound`, and no two the same.
template <class Item, class Number>
Status check_numbers(std::span<const Item> items, Number number, const char* what, std::uint32_t bound, Marks& marks) {
  ++marks.round;
  for (const Item& item : items) {
    const std::uint32_t own = number(item);
    if (own >= bound) {
      return {ErrorCode::kLimit, std::string(what) + ": got " + std::to_string(own) + ", expected less than " + std::to_string(bound)};
    }
    if (std::exchange(marks.last[own], marks.round) == marks.round) {
      return {ErrorCode::kInvalidArgument, std::string(what) + ": got " + std::to_string(own) + " twice, expected each once"};
    }
  }
  return {};
}

Status out_of_range(const char* field, double value, const char* expected) {
  return {ErrorCode::kInvalidArgument, std::string(field) + ": got " + std::to_string(value) + ", expected " + expected};
}

}  // namespace

Watch::Watch(const WatchOptions& options) : state_(std::make_unique<State>(options)) {
  MARGIN_CHECK(is_legal(options), "the rate is in (0, 0.1], models_max and sources_max are in 1 .. 1024, and there is room for a report");
}
Watch::Watch(Watch&&) noexcept = default;
Watch& Watch::operator=(Watch&&) noexcept = default;
Watch::~Watch() = default;

Status Watch::observe(std::span<const WatchedResponse> responses) {
  State& state = *state_;
  const auto number = [](const WatchedResponse& response) { return response.model; };
  if (Status status = check_numbers(responses, number, "model", state.options.models_max, state.marks); !status) return status;
  for (const WatchedResponse& response : responses) {
    if (watch::graded(response) && !in_unit(response.outcome)) return out_of_range("outcome", response.outcome, "a number in [0, 1]");
    if (!(response.delay >= 0.0 && response.delay <= std::numeric_limits<double>::max())) {
      return out_of_range("delay", response.delay, "a finite number >= 0");
    }
  }

  std::size_t models = state.by_model.size();
  for (const WatchedResponse& response : responses) models = std::max(models, std::size_t{response.model} + 1);
  state.by_model.assign(models, nullptr);
  watch::SettledTask task{.number = ++state.tasks, .responses = responses, .by_model = state.by_model};
  for (const WatchedResponse& response : responses) {
    state.by_model[response.model] = &response;
    if (!watch::graded(response)) continue;
    task.outcome_sum += response.outcome;
    task.graded_count += 1.0;
  }
  if (models == 0) return {};
  state.drift.observe(task, state.reporter);
  state.participation.observe(task, state.reporter);
  state.lag.observe(task, state.reporter);
  state.collusion.observe(task, state.reporter);
  std::fill(state.by_model.begin(), state.by_model.end(), nullptr);
  return {};
}

void Watch::leave(ModelId model) { state_->participation.leave(model); }

Status Watch::grade(std::span<const SourceGrade> grades) {
  const auto number = [](const SourceGrade& grade) { return grade.source; };
  if (Status status = check_numbers(grades, number, "source", state_->options.sources_max, state_->marks); !status) return status;
  for (const SourceGrade& grade : grades) {
    if (!in_unit(grade.outcome)) return out_of_range("outcome", grade.outcome, "a number in [0, 1]");
  }
  state_->sources.observe(grades, state_->reporter);
  return {};
}

std::uint64_t Watch::tasks() const { return state_->tasks; }
const std::vector<WatchReport>& Watch::reports() const { return state_->reporter.reports(); }
std::uint64_t Watch::dropped() const { return state_->reporter.dropped(); }
const WatchOptions& Watch::options() const { return state_->options; }

std::string Watch::snapshot() const {
  internal::Encoder out;
  out.integer(kSnapshotFormat);
  const WatchOptions& options = state_->options;
  out.real(options.false_reports_per_task);
  out.integer(options.models_max);
  out.integer(options.sources_max);
  out.integer(static_cast<std::uint64_t>(options.reports_max));
  watch::Writer writer(out);
  State::visit(std::as_const(*state_), writer);
  return out.take();
}

Result<Watch> restore_watch(std::string_view bytes) {
  internal::Decoder in(bytes);
  if (in.integer<std::uint32_t>() != kSnapshotFormat) in.fail();
  WatchOptions options;
  options.false_reports_per_task = in.real();
  options.models_max = in.integer<std::uint32_t>();
  options.sources_max = in.integer<std::uint32_t>();
  options.reports_max = static_cast<std::size_t>(in.integer<std::uint64_t>());
  if (!is_legal(options)) in.fail();
  Watch watch(in.ok() ? options : WatchOptions{});
  if (in.ok()) {
    watch::Reader reader(in);
    Watch::State::visit(*watch.state_, reader);
  }
  if (Status status = in.finish("watch"); !status) return status.error();
  return watch;
}

}  // namespace margin
