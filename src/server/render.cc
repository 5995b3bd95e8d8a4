#include "server/render.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <span>

#include "base/same_text.h"
#include "base/write_plain.h"

namespace margin::server {
namespace {

using service::ScoreSums;

constexpr double kDayMs = 24.0 * 3600.0 * 1000.0;

void render_terms(JsonWriter& out, std::string_view key, const std::vector<Term>& terms) {
  if (terms.empty()) return;
  out.key(key).open('{');
  for (const Term& term : terms) out.foreign_key(term.name).rounded(term.value);
  out.close('}');
}

// A few of our own names, and numbers of at most kRoundedMax bytes.
constexpr std::size_t kPieceMax = 256;

template <std::size_t kSize>
char* write_literal(char* to, const char (&literal)[kSize]) {
  std::memcpy(to, literal, kSize - 1);
  return to + kSize - 1;
}

// Of a response that states a confidence; returns the end.
constexpr std::size_t kFiguresMax = 256;  // six names, five numbers of at most kRoundedMax bytes, a whole one and a bracket
char* write_figures(char* to, const RecordedResponse& response) {
  to = write_literal(to, "\"stated\":");
  to = std::isfinite(*response.confidence) ? internal::write_shortest(to, *response.confidence) : write_literal(to, "null");
  to = write_literal(to, ",\"calibrated\":");
  const char* const calibrated = to;
  to = internal::write_rounded(to, response.calibrated);
  const char* const calibrated_end = to;
  to = internal::write_rounded(write_literal(to, ",\"factor\":"), response.factor);
  to = write_literal(to, ",\"band\":");
  constexpr std::size_t kBandMax = 20;
  if (response.band < 10) {
    *to++ = static_cast<char>('0' + response.band);
  } else {
    to = std::to_chars(to, to + kBandMax, response.band).ptr;
  }
  to = internal::write_rounded(write_literal(to, ",\"n\":"), response.n);
  to = write_literal(to, ",\"weight\":");
  // In most votes a ballot counts for its calibrated confidence. Some bytes more are copied, as many as are known beforehand.
  if (response.weight == response.calibrated) {
    std::memcpy(to, calibrated, internal::kRoundedMax);
    return to + (calibrated_end - calibrated);
  }
  return internal::write_rounded(to, response.weight);
}

// Longer names are not put together with the figures.
constexpr std::size_t kNameMax = 64;

// What stands between a plain name and the figures. The responses of a decision mostly came through one channel: it is written once, and
// then copied.
class ChannelPiece {
 public:
  // nullptr: the channel's name is not so plain. As many bytes as the piece may have are written; the result is where it ends.
  char* write(char* to, const std::string& channel) {
    if (written_ == nullptr || !internal::same_text(*written_, channel)) {
      written_ = nullptr;
      if (channel.size() > kNameMax) return nullptr;
      char* const end = internal::write_plain(write_literal(piece_.data(), "\",\"channel\":\""), channel);
      if (end == nullptr) return nullptr;
      size_ = write_literal(end, "\",") - piece_.data();
      written_ = &channel;
    }
    std::memcpy(to, piece_.data(), piece_.size());
    return to + size_;
  }

  static constexpr std::size_t kMax = 16 + kNameMax;

 private:
  const std::string* written_ = nullptr;  // of a response that is still there
  std::array<char, kMax> piece_;          // what stands behind its end means nothing
  std::ptrdiff_t size_ = 0;
};

// How the piece of a response that states a confidence begins; nullptr where that is not so plain.
char* write_names(char* to, const RecordedResponse& response, ChannelPiece& channel) {
  if (!was_calibrated(response) || response.model.size() > kNameMax) return nullptr;
  to = internal::write_plain(write_literal(to, "{\"model\":\""), response.model);
  return to == nullptr ? nullptr : channel.write(to, response.channel);
}

// In one piece: most of an answer consists of responses.
void render_response(JsonWriter& out, const RecordedResponse& response, ChannelPiece& channel) {
  char* to = write_names(out.begin(16 + kNameMax + ChannelPiece::kMax + kFiguresMax), response, channel);
  if (to == nullptr) {
    out.open('{').key("model").text(response.model).key("channel").text(response.channel);
    if (response.abstained) out.key("abstained").flag(true);
    to = out.begin(kFiguresMax);
  }
  if (!was_calibrated(response)) {
    out.key("stated");
    response.confidence ? out.number(*response.confidence) : out.null();
    out.key("calibrated").null().close('}');
    return;
  }
  to = write_figures(to, response);
  if (response.terms.empty()) {
    out.end(write_literal(to, "}"));
    return;
  }
  out.end(to);
  render_terms(out, "weight_of", response.terms);
  out.close('}');
}

// What was voted for, in the order the answers came, with who gave each.
void render_votes(JsonWriter& out, const DecisionMade& decision, AnswerText text) {
  const std::span<const RecordedResponse> responses = decision.responses;
  out.key("votes").open('[');
  for (std::uint32_t group = 0; group < decision.answers.size(); ++group) {
    std::size_t i = 0;
    while (i < responses.size() && responses[i].answer != group) ++i;
    const auto answer = i < responses.size() ? text(i) : std::nullopt;
    out.end_open(write_literal(out.begin(kPieceMax), "{\"answer\":"));
    answer ? out.text(*answer) : out.null();
    char* to = write_literal(out.begin(kPieceMax), "\"score\":");
    to = internal::write_rounded(to, group < decision.scores.size() ? decision.scores[group] : 0.0);
    out.end_open(write_literal(to, ",\"models\":["));
    for (; i < responses.size(); ++i) {
      if (responses[i].answer == group) out.text(responses[i].model);
    }
    out.close(']').close('}');
  }
  out.close(']');
}

// How sure the decision is; returns the end.
char* write_sureness(char* to, const Sureness& sure, bool selected) {
  if (selected) {
    to = internal::write_rounded(write_literal(to, "\"p_correct\":"), sure.p_correct);
    to = internal::write_rounded(write_literal(to, ",\"interval\":["), sure.low);
    to = internal::write_rounded(write_literal(to, ","), sure.high);
    to = write_literal(to, "],\"effective_n\":");
  } else {
    to = write_literal(to, "\"p_correct\":null,\"interval\":null,\"effective_n\":");
  }
  to = write_literal(internal::write_rounded(to, sure.effective_n), ",\"status\":\"");
  const std::string_view status = margin::name_of(sure.status);
  return write_literal(std::copy(status.begin(), status.end(), to), "\"");
}

// The leading response of the selected answer.
std::optional<std::size_t> winner_of(const DecisionMade& decision) {
  if (decision.selected == kNoAnswer) return std::nullopt;
  for (std::size_t i = 0; i < decision.responses.size(); ++i) {
    const RecordedResponse& response = decision.responses[i];
    if (response.answer == decision.selected && internal::same_text(response.model, decision.selected_model)) return i;
  }
  return std::nullopt;
}

void render_stage(JsonWriter& out, std::string_view key, const ScoreSums& scores, ScoreSums::Stage stage, bool with_bins) {
  out.key(key).open('{');
  out.key("ece").number(scores.ece(stage)).key("brier").number(scores.brier(stage)).key("mean").number(scores.mean_confidence(stage));
  if (with_bins) {
    out.key("bins").open('[');
    for (const service::ReliabilityBin& bin : scores.bins(stage)) {
      const double n = bin.count == 0 ? 1.0 : bin.count;
      out.open('{').key("count").number(bin.count).key("confidence").number(bin.confidence / n).key("accuracy").number(bin.outcome / n);
      out.close('}');
    }
    out.close(']');
  }
  out.close('}');
}

}  // namespace

void render_time(JsonWriter& out, std::string_view key, std::int64_t time_ms) {
  const std::time_t seconds = time_ms / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 40> day{};
  std::strftime(day.data(), day.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%s.%03dZ", day.data(), static_cast<int>(time_ms % 1000));
  out.key(key).text(text.data());
}

void render_decision(JsonWriter& out, Uuid id, const DecisionMade& decision, AnswerText text) {
  const std::optional<std::size_t> winner = winner_of(decision);
  char* to = write_literal(out.begin(kPieceMax), "\"decision_id\":\"");
  id.write(to);
  out.end(write_literal(to + Uuid::kTextBytes, "\""));
  // An abstention names no answer: whoever reads only this field must not act on it.
  const auto answer = winner && !decision.abstained ? text(*winner) : std::nullopt;
  out.key("answer");
  answer ? out.text(*answer) : out.null();
  out.key("model");
  winner && !decision.abstained ? out.text(decision.selected_model) : out.null();
  to = write_sureness(out.begin(kPieceMax), decision.sure, winner.has_value());
  out.end(decision.abstained ? write_literal(to, ",\"abstained\":true") : write_literal(to, ",\"abstained\":false"));
  if (decision.max_error) out.key("max_error").number(*decision.max_error);
  if (!decision.vote.empty()) out.key("vote").text(decision.vote);
  to = internal::write_rounded(write_literal(out.begin(kPieceMax), "\"share\":"), decision.share);
  to = internal::write_rounded(write_literal(to, ",\"runner_up_gap\":"), decision.runner_up_gap);
  out.end_open(write_literal(to, ",\"grade_please\":["));
  for (const RecordedResponse& response : decision.responses) {
    if (response.audit > 0.0) out.text(response.model);
  }
  out.close(']');
  render_votes(out, decision, text);
  out.key("responses").open('[');
  ChannelPiece channel;
  for (const RecordedResponse& response : decision.responses) render_response(out, response, channel);
  out.close(']').key("decisive").open('[');
  for (const DecisiveModel& decisive : decision.decisive) out.text(decisive.model);
  out.close(']');
}

void render_decision_summary(JsonWriter& out, std::string_view pool, const service::DecisionRow& row) {
  // As in the decision itself.
  const auto named = [&](std::string_view key, const std::string& text) {
    out.key(key);
    text.empty() || row.abstained ? out.null() : out.text(text);
  };
  out.open('{').key("decision_id").text(row.id.text()).key("pool").text(pool);
  render_time(out, "time", row.time_ms);
  out.key("task_id").text(row.task);
  named("answer", row.answer);
  named("model", row.model);
  out.key("p_correct");
  row.model.empty() ? out.null() : out.rounded(row.p_correct);
  out.key("status").text(margin::name_of(row.status)).key("abstained").flag(row.abstained);
  out.key("responses").number(row.responses).key("graded").number(row.graded).key("wanted").number(row.wanted);
  out.key("teaches").number(row.teaches).key("outcome");
  row.outcome ? out.number(*row.outcome) : out.null();
  out.close('}');
}

void render_scores(JsonWriter& out, std::uint64_t outcomes, const ScoreSums& scores, bool with_bins) {
  out.open('{').key("outcomes").number(outcomes).key("window").number(scores.count()).key("accuracy").number(scores.accuracy());
  render_stage(out, "stated", scores, ScoreSums::Stage::kStated, with_bins);
  render_stage(out, "calibrated", scores, ScoreSums::Stage::kCalibrated, with_bins);
  out.close('}');
}

void render_scores(JsonWriter& out, const service::ScoreWindow& scores, bool with_bins) {
  render_scores(out, scores.total(), scores.sums(), with_bins);
}

static void render_parameters(JsonWriter& out, std::string_view key, const Parameters& parameters) {
  out.key(key).open('{');
  for (const auto& [name, value] : parameters) {
    out.foreign_key(name);
    if (const auto* number = std::get_if<double>(&value)) {
      out.number(*number);
    } else if (const auto* word = std::get_if<std::string>(&value)) {
      out.text(*word);
    } else {
      out.open('[');
      for (const double item : std::get<std::vector<double>>(value)) out.number(item);
      out.close(']');
    }
  }
  out.close('}');
}

// What the probability of a decision that is made now would be worth.
static TrustStatus status_of(const Pool& pool) {
  const std::vector<std::string> models = pool.present_models();
  if (models.empty()) return TrustStatus::kCold;
  const auto decision = pool.decide({.responses = {{.model = models.front(), .answer = "", .confidence = 0.5}}});
  return decision ? decision->sure.status : TrustStatus::kCold;
}

void render_pool(JsonWriter& out, std::string_view shown_name, const service::ServedPool& served, std::int64_t now_ms) {
  const Pool& pool = served.pool();
  const service::Insight& insight = served.insight();
  const PoolConfigured& config = pool.config();
  out.open('{').key("pool").text(shown_name);
  out.key("calibrator").text(config.calibrator + "@" + std::to_string(config.calibrator_version));
  out.key("vote").text(config.vote + "@" + std::to_string(config.vote_version));
  render_parameters(out, "calibrator_parameters", config.calibrator_parameters);
  render_parameters(out, "vote_parameters", config.vote_parameters);
  out.key("pending_days").number(static_cast<double>(config.pending_ms_max) / kDayMs).key("audit_rate").number(config.audit_rate);
  out.key("remedy").text(config.remedy).key("max_error").number(config.max_error);
  out.key("frozen").flag(pool.frozen()).key("models").open('[');
  for (const std::string& model : pool.present_models()) out.text(model);
  out.close(']').key("decisions").number(served.counts().decisions).key("pending").number(pool.pending_decisions());
  out.key("early_outcomes").number(pool.waiting_outcomes()).key("offset").number(served.next_offset());
  out.key("decision_scores");
  const auto own = served.scores().find(service::ServedPool::kDecisions);
  own == served.scores().end() ? out.null() : (render_scores(out, own->second, false), out);
  out.key("response_scores");
  insight.responses().count() == 0 ? out.null() : (render_scores(out, insight.responses(), false), out);
  out.key("status").text(margin::name_of(status_of(pool)));
  out.key("decisions_per_minute").number(insight.activity().decisions_per_minute(now_ms));
  out.key("alarms").number(insight.alarms());
  insight.last_alarm_ms() == 0 ? (out.key("last_alarm").null(), void()) : render_time(out, "last_alarm", insight.last_alarm_ms());
  render_time(out, "time", pool.time_ms());
  out.close('}');
}

void render_alarm(JsonWriter& out, const Alarm& alarm) {
  const WatchReport& report = alarm.report;
  out.open('{').key("kind").text(watch_kind_name(report.kind)).key("subject").text(alarm.subject).key("other");
  alarm.other.empty() ? out.null() : out.text(alarm.other);
  render_time(out, "time", alarm.time_ms);
  out.key("since").number(report.since).key("at").number(report.at).key("last").number(report.last).key("times").number(report.times);
  out.key("clock").number(report.clock).key("observed").number(report.observed).key("reference").number(report.reference);
  out.key("tolerated").number(report.tolerated).key("observations").number(report.observations);
  out.key("evidence").number(report.evidence).key("threshold").number(report.threshold).close('}');
}

void render_factor(JsonWriter& out, const FactorRow& row, std::optional<double> trend) {
  const Explanation& why = row.explanation;
  out.open('{').key("model").text(row.model).key("channel").text(row.channel).key("segment").text(row.segment);
  out.key("present").flag(row.present).key("band").number(why.band).key("bands").number(why.bands);
  out.key("confidence").number(why.confidence).key("calibrated").number(why.calibrated).key("factor").number(why.factor);
  out.key("n").number(why.observations);
  if (row.evidence) {
    out.key("effective_n").number(row.evidence->effective_n);
    out.key("interval").open('[').number(row.evidence->low).number(row.evidence->high).close(']');
  }
  out.key("trend");
  trend ? out.number(*trend) : out.null();
  out.key("pinned");
  row.pinned ? out.number(*row.pinned) : out.null();
  render_terms(out, "factor_of", why.terms);
  out.close('}');
}

}  // namespace margin::server
