// What people ask of a pool, from what is maintained as events are applied (service/insight.h): calibration by window, activity, history of
// factors, models and pairs of models.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include "server/app.h"
#include "server/render.h"

namespace margin::server {
namespace {

using service::Activity;
using service::ActivityStep;
using service::FactorHistory;
using service::FactorSeries;
using service::PairCounts;
using service::PairTally;
using service::ServedPool;
using service::TimedScores;
using service::VoteCounts;

// At most so many series of factors in one answer.
constexpr std::size_t kSeriesMax = 128;

template <class Render>
void show(App& app, const Call& call, Render render) {
  ServedPool* pool = find_pool(app, call, call.arguments[0]);
  if (pool == nullptr) return;
  JsonWriter out;
  out.open('{').key("pool").text(call.arguments[0]);
  render(out, *pool);
  call.answer->json(out.close('}').take());
}

// Scores by model over the latest outcomes, or over a span of time.
void render_latest(JsonWriter& out, const ServedPool& pool, const std::optional<std::string>& wanted) {
  for (const auto& [model, scores] : pool.scores()) {
    if (model == ServedPool::kDecisions || (wanted && model != *wanted)) continue;
    out.foreign_key(model);
    render_scores(out, scores, true);
  }
}

void render_span(JsonWriter& out, const ServedPool& pool, const std::optional<std::string>& wanted, TimedScores::Span span,
                 std::int64_t now_ms) {
  for (const auto& [model, scores] : pool.insight().timed()) {
    if (wanted && model != *wanted) continue;
    const service::ScoreSums sums = scores.sums(span, now_ms);
    if (sums.count() == 0) continue;
    out.foreign_key(model);
    render_scores(out, sums.count(), sums, true);
  }
}

template <class Value>
void render_steps(JsonWriter& out, std::string_view key, const Activity& activity, std::int64_t first, std::int64_t last, Value value) {
  out.key(key).open('[');
  for (std::int64_t number = first; number <= last; ++number) {
    const ActivityStep* step = activity.find(number);
    value(out, step == nullptr ? ActivityStep{} : *step);
  }
  out.close(']');
}

void render_series(JsonWriter& out, const FactorSeries& series, std::size_t points, std::optional<int> only_band) {
  out.open('{').key("model").text(series.model).key("channel").text(series.channel).key("segment").text(series.segment);
  out.key("bands").number(series.bands).key("born").number(series.born).key("factors").open('[');
  for (int band = only_band.value_or(0); band <= only_band.value_or(series.bands - 1); ++band) {
    out.open('{').key("band").number(band).key("values").open('[');
    for (std::size_t point = series.born; point < points; ++point) out.number(static_cast<double>(series.value(point, band)));
    out.close(']').close('}');
  }
  out.close(']').close('}');
}

// To four digits, which is what a picture can show: thousands of them are sent, and the shortest exact decimal takes ten times as long.
void render_short(JsonWriter& out, double value) {
  constexpr double kScale = 1e4;
  constexpr double kLargest = 1e12;
  if (!(std::fabs(value) < kLargest)) {
    out.number(value);
    return;
  }
  const auto scaled = std::llround(std::fabs(value) * kScale);
  std::array<char, 32> text{};
  char* end = text.data();
  if (value < 0.0 && scaled != 0) *end++ = '-';
  end = std::to_chars(end, text.data() + text.size(), scaled / 10'000).ptr;
  if (auto rest = static_cast<int>(scaled % 10'000); rest != 0) {
    *end++ = '.';
    for (int place = 1'000; rest != 0; rest %= place, place /= 10) *end++ = static_cast<char>('0' + rest / place);
  }
  out.raw({text.data(), static_cast<std::size_t>(end - text.data())});
}

template <class Value>
void render_bands(JsonWriter& out, std::string_view key, std::span<const FactorRow> bands, Value value) {
  out.key(key).open('[');
  for (const FactorRow& row : bands) {
    const std::optional<double> number = value(row);
    number ? render_short(out, *number) : (out.null(), void());
  }
  out.close(']');
}

void render_histogram(JsonWriter& out, std::string_view key, const VoteCounts::Histogram& histogram) {
  out.key(key).open('[');
  for (const std::uint32_t count : histogram) out.number(count);
  out.close(']');
}

}  // namespace

void show_calibration(App& app, const Call& call) {
  const auto model = http::query_value(call.request.query, "model");
  const std::string window = http::query_value(call.request.query, "window").value_or("latest");
  if (window != "latest" && window != "hour" && window != "day") {
    return call.answer->refuse(Fault{"window", "window: expected latest, hour or day"});
  }
  show(app, call, [&](JsonWriter& out, const ServedPool& pool) {
    out.key("models").open('{');
    if (window == "latest") {
      render_latest(out, pool, model);
    } else {
      render_span(out, pool, model, window == "hour" ? TimedScores::Span::kHour : TimedScores::Span::kDay, app.service().now_ms());
    }
    out.close('}').key("decisions");
    const auto own = pool.scores().find(ServedPool::kDecisions);
    own == pool.scores().end() ? out.null() : (render_scores(out, own->second, true), out);
  });
}

void show_activity(App& app, const Call& call) {
  show(app, call, [&](JsonWriter& out, const ServedPool& pool) {
    const Activity& activity = pool.insight().activity();
    const std::int64_t last = app.service().now_ms() / Activity::kStepMs;
    std::int64_t first = last - static_cast<std::int64_t>(Activity::kSteps) + 1;
    // What lies before the first event is not sent.
    while (first < last && activity.find(first) == nullptr) ++first;
    out.key("step_ms").number(Activity::kStepMs).key("from_ms").number(first * Activity::kStepMs);
    const auto counts = [&](std::string_view key, std::uint32_t ActivityStep::*field) {
      render_steps(out, key, activity, first, last, [field](JsonWriter& to, const ActivityStep& step) { to.number(step.*field); });
    };
    counts("decisions", &ActivityStep::decisions);
    counts("abstained", &ActivityStep::abstained);
    counts("outcomes", &ActivityStep::outcomes);
    counts("settled", &ActivityStep::settled);
    const auto means = [&](std::string_view key, double ActivityStep::*field) {
      render_steps(out, key, activity, first, last, [field](JsonWriter& to, const ActivityStep& step) {
        step.settled == 0 ? to.null() : to.number(step.*field / step.settled);
      });
    };
    means("promised_error", &ActivityStep::promised_error);
    means("realised_error", &ActivityStep::realised_error);
    const auto figures = [&](std::string_view key, double ActivityStep::*field) {
      render_steps(out, key, activity, first, last,
                   [field](JsonWriter& to, const ActivityStep& step) { step.outcomes == 0 ? to.null() : to.number(step.*field); });
    };
    figures("ece_stated", &ActivityStep::ece_stated);
    figures("ece_calibrated", &ActivityStep::ece_calibrated);
  });
}

void show_heat(App& app, const Call& call) {
  show(app, call, [&](JsonWriter& out, ServedPool& pool) {
    const FactorHistory& history = pool.insight().history();
    const std::vector<FactorRow>& rows = pool.factor_board();
    out.key("rows").open('[');
    // Rows of one model and cell lie together, a band each.
    for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
      end = begin + static_cast<std::size_t>(rows[begin].explanation.bands);
      const std::span<const FactorRow> bands(rows.data() + begin, end - begin);
      const FactorRow& first = bands.front();
      out.open('{').key("model").text(first.model).key("channel").text(first.channel).key("segment").text(first.segment);
      out.key("present").flag(first.present).key("pinned");
      first.pinned ? out.number(*first.pinned) : out.null();
      render_bands(out, "factor", bands, [](const FactorRow& row) { return std::optional(row.explanation.factor); });
      render_bands(out, "n", bands, [](const FactorRow& row) { return std::optional(row.explanation.observations); });
      const FactorSeries* series = history.find(first);
      render_bands(out, "trend", bands, [&](const FactorRow& row) { return history.trend(row, series); });
      if (first.evidence) {
        render_bands(out, "effective_n", bands, [](const FactorRow& row) { return std::optional(row.evidence->effective_n); });
        render_bands(out, "low", bands, [](const FactorRow& row) { return std::optional(row.evidence->low); });
        render_bands(out, "high", bands, [](const FactorRow& row) { return std::optional(row.evidence->high); });
      }
      out.close('}');
    }
    out.close(']');
  });
}

void show_history(App& app, const Call& call) {
  const auto model = http::query_value(call.request.query, "model");
  std::optional<int> band;
  if (const auto text = http::query_value(call.request.query, "band")) {
    int value = 0;
    const auto [end, status] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (status != std::errc() || end != text->data() + text->size() || value < 0) {
      return call.answer->refuse(Fault{"band", "band: expected a whole number from 0"});
    }
    band = value;
  }
  if (!model && !band) return call.answer->refuse(Fault{"model", "model: expected it or band, since all series at once are too many"});
  show(app, call, [&](JsonWriter& out, const ServedPool& pool) {
    const FactorHistory& history = pool.insight().history();
    out.key("times_ms").open('[');
    for (const std::int64_t time_ms : history.times()) out.number(time_ms);
    out.close(']').key("series").open('[');
    std::size_t shown = 0;
    for (const FactorSeries& series : history.series()) {
      if ((model && series.model != *model) || (band && *band >= series.bands) || shown == kSeriesMax) continue;
      ++shown;
      render_series(out, series, history.times().size(), band);
    }
    out.close(']').key("marks").open('[');
    for (const service::HistoryMark& mark : history.marks()) {
      if (model && !mark.model.empty() && mark.model != *model) continue;
      out.open('{').key("time_ms").number(mark.time_ms).key("kind").text(mark.kind).key("model").text(mark.model).close('}');
    }
    out.close(']');
  });
}

void show_models(App& app, const Call& call) {
  show(app, call, [&](JsonWriter& out, const ServedPool& pool) {
    std::vector<std::string> present = pool.pool().present_models();
    std::sort(present.begin(), present.end());
    auto counts = pool.insight().votes().counts();
    for (const std::string& model : present) counts.try_emplace(model);
    out.key("decisions").number(pool.insight().votes().decisions()).key("models").open('[');
    for (const auto& [model, tally] : counts) {
      out.open('{').key("model").text(model).key("present").flag(std::binary_search(present.begin(), present.end(), model));
      out.key("responses").number(tally.responses).key("won").number(tally.won).key("led").number(tally.led);
      out.key("decisive").number(tally.decisive);
      render_histogram(out, "stated_histogram", tally.stated);
      render_histogram(out, "calibrated_histogram", tally.calibrated);
      out.key("scores");
      const auto scores = pool.scores().find(model);
      scores == pool.scores().end() ? out.null() : (render_scores(out, scores->second, false), out);
      out.close('}');
    }
    out.close(']');
  });
}

void show_pairs(App& app, const Call& call) {
  show(app, call, [&](JsonWriter& out, const ServedPool& pool) {
    const PairTally& tally = pool.insight().pairs();
    out.key("models").open('[');
    for (const std::string& model : tally.models()) out.text(model);
    out.close(']').key("pairs").open('[');
    for (std::size_t second = 1; second < tally.models().size(); ++second) {
      for (std::size_t first = 0; first < second; ++first) {
        const PairCounts counts = tally.counts(first, second);
        if (counts.together == 0) continue;
        out.open('{').key("first").number(first).key("second").number(second).key("together").number(counts.together);
        out.key("contests").number(counts.contests).key("stated").number(0.5 * counts.stated);
        out.key("calibrated").number(0.5 * counts.calibrated).key("both_wrong").number(counts.both_wrong);
        out.key("same_wrong").number(counts.same_wrong).close('}');
      }
    }
    out.close(']');
  });
}

}  // namespace margin::server
