#include "server/metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

#include "base/text.h"
#include "server/app.h"
#include "server/render.h"

namespace margin::server {
namespace {

using service::ScoreWindow;

// A label's value by the exposition's rules: backslash, quote and line feed are escaped. Other control characters were refused as names.
std::string quoted(std::string_view value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    c == '\n' ? out += "\\n" : out += c;
  }
  return out + '"';
}

std::string label(std::string_view name, std::string_view value) { return std::string(name) + "=" + quoted(value); }

class Page {
 public:
  void head(std::string_view name, std::string_view type, std::string_view help) {
    out += "# HELP " + std::string(name) + " " + std::string(help) + "\n# TYPE " + std::string(name) + " " + std::string(type) + "\n";
  }
  void line(std::string_view name, const std::string& labels, double value) {
    out += std::string(name) + (labels.empty() ? "" : "{" + labels + "}") + " " + internal::shortest(value) + "\n";
  }
  void only(std::string_view name, std::string_view type, std::string_view help, double value) {
    head(name, type, help);
    line(name, "", value);
  }
  std::string out;
};

// Those that the caller may see, by the names it knows them by.
using Pools = std::map<std::string, const service::ServedPool*>;

Pools pools_of(App& app, const Caller& caller) {
  Pools pools;
  for (const auto& [name, pool] : app.service().pools()) {
    if (caller.owns(name)) pools.emplace(caller.shown(name), pool.get());
  }
  return pools;
}

void render_decisions(Page& page, const Pools& pools) {
  page.head("margin_decisions_total", "counter", "Decisions made, by the status of their probability.");
  for (const auto& [name, pool] : pools) {
    for (std::size_t status = 0; status < pool->counts().by_status.size(); ++status) {
      page.line("margin_decisions_total", label("pool", name) + "," + label("status", margin::name_of(static_cast<TrustStatus>(status))),
                static_cast<double>(pool->counts().by_status[status]));
    }
  }
  page.head("margin_abstentions_total", "counter", "Decisions that were less sure than was asked for.");
  for (const auto& [name, pool] : pools) {
    page.line("margin_abstentions_total", label("pool", name), static_cast<double>(pool->counts().abstained));
  }
}

void render_feedback(Page& page, const Pools& pools) {
  page.head("margin_feedback_total", "counter", "Feedback, by what became of it.");
  for (const auto& [name, pool] : pools) {
    for (std::size_t status = 0; status < pool->counts().feedback.size(); ++status) {
      page.line("margin_feedback_total", label("pool", name) + "," + label("result", name_of(static_cast<ApplyStatus>(status))),
                static_cast<double>(pool->counts().feedback[status]));
    }
    page.line("margin_feedback_total", label("pool", name) + "," + label("result", "dropped"), static_cast<double>(pool->counts().dropped));
    page.line("margin_feedback_total", label("pool", name) + "," + label("result", "lapsed"), static_cast<double>(pool->counts().lapsed));
  }
  page.head("margin_feedback_lag_seconds", "summary", "How long after its decision an outcome came.");
  for (const auto& [name, pool] : pools) {
    page.line("margin_feedback_lag_seconds_sum", label("pool", name), pool->counts().lag_seconds);
    page.line("margin_feedback_lag_seconds_count", label("pool", name), static_cast<double>(pool->counts().lag_count));
  }
  page.head("margin_feedback_pending", "gauge", "Decisions that wait for an outcome.");
  for (const auto& [name, pool] : pools) {
    page.line("margin_feedback_pending", label("pool", name), static_cast<double>(pool->pool().pending_decisions()));
  }
  page.head("margin_feedback_early", "gauge", "Outcomes that wait for their decision.");
  for (const auto& [name, pool] : pools) {
    page.line("margin_feedback_early", label("pool", name), static_cast<double>(pool->pool().waiting_outcomes()));
  }
}

struct Measured {
  std::string labels;
  const ScoreWindow* scores;
};

void render_stages(Page& page, std::string_view name, const std::vector<Measured>& models,
                   double (ScoreWindow::*value)(ScoreWindow::Stage) const) {
  for (const Measured& model : models) {
    page.line(name, model.labels + ",stage=\"stated\"", (model.scores->*value)(ScoreWindow::Stage::kStated));
    page.line(name, model.labels + ",stage=\"calibrated\"", (model.scores->*value)(ScoreWindow::Stage::kCalibrated));
  }
}

// Models beyond the limit are left out, in the order of names, and counted.
void render_calibration(Page& page, const Pools& pools, std::size_t values_max) {
  std::vector<Measured> models;
  std::size_t left_out = 0;
  for (const auto& [name, pool] : pools) {
    for (const auto& [model, scores] : pool->scores()) {
      if (models.size() < values_max) {
        models.push_back({label("pool", name) + "," + label("model", model), &scores});
      } else {
        ++left_out;
      }
    }
  }
  page.head("margin_calibration_ece_ratio", "gauge", "Expected calibration error of the latest outcomes, stated beside calibrated.");
  render_stages(page, "margin_calibration_ece_ratio", models, &ScoreWindow::ece);
  page.head("margin_brier_score", "gauge", "Brier score of the latest outcomes, stated beside calibrated.");
  render_stages(page, "margin_brier_score", models, &ScoreWindow::brier);
  page.head("margin_confidence_gap_ratio", "gauge", "Mean stated confidence minus accuracy: positive where a model claims too much.");
  for (const Measured& model : models) {
    page.line("margin_confidence_gap_ratio", model.labels,
              model.scores->mean_confidence(ScoreWindow::Stage::kStated) - model.scores->accuracy());
  }
  page.head("margin_calibration_samples", "gauge", "Outcomes behind these figures.");
  for (const Measured& model : models) page.line("margin_calibration_samples", model.labels, static_cast<double>(model.scores->count()));
  page.only("margin_metrics_models_left_out", "gauge", "Models beyond limits.label_values, which have no figures here.",
            static_cast<double>(left_out));
}

void render_pools(Page& page, const Pools& pools) {
  page.head("margin_pool_models", "gauge", "Models that are present.");
  for (const auto& [name, pool] : pools) {
    page.line("margin_pool_models", label("pool", name), static_cast<double>(pool->pool().present_models().size()));
  }
  page.head("margin_state_version", "gauge", "Events the state holds.");
  for (const auto& [name, pool] : pools) {
    page.line("margin_state_version", label("pool", name), static_cast<double>(pool->next_offset()));
  }
  page.head("margin_drift_events_total", "counter", "Alarms of drift and gaming, by what raised them.");
  for (const auto& [name, pool] : pools) {
    std::map<std::string, double> by_kind;
    for (const Alarm& alarm : pool->pool().alarms())
      by_kind[std::string(watch_kind_name(alarm.report.kind))] += static_cast<double>(alarm.report.times);
    for (const auto& [kind, count] : by_kind)
      page.line("margin_drift_events_total", label("pool", name) + "," + label("detector", kind), count);
  }
}

void render_log(Page& page, const LogFigures& figures) {
  page.only("margin_wal_lag_seconds", "gauge", "How long the oldest event has waited to be written.",
            std::chrono::duration<double>(figures.oldest).count());
  page.only("margin_log_waiting", "gauge", "Events that wait to be written.", static_cast<double>(figures.waiting));
  page.only("margin_log_appended_total", "counter", "Events written.", static_cast<double>(figures.appended));
  page.only("margin_log_failed_total", "counter", "Events that could not be written.", static_cast<double>(figures.failed));
  page.only("margin_log_commits_total", "counter", "Transactions that wrote them.", static_cast<double>(figures.commits));
  page.only("margin_log_bytes", "gauge", "Size of the store.", static_cast<double>(figures.stored_bytes));
  page.only("margin_log_journal_bytes", "gauge", "Of it, in the tail or the journal and not yet in the file.",
            static_cast<double>(figures.journal_bytes));
  page.only("margin_log_held_up_seconds_total", "counter", "Time that commits waited for a long tail to be carried into the file.",
            std::chrono::duration<double>(figures.held_up).count());
}

void render_listeners(Page& page, const http::Counters& counters) {
  page.only("margin_connections_open", "gauge", "Connections.", static_cast<double>(counters.connections_open));
  page.only("margin_streams_open", "gauge", "Clients of the event stream.", static_cast<double>(counters.streams_open));
  page.only("margin_connections_accepted_total", "counter", "Connections accepted.", static_cast<double>(counters.connections_accepted));
  page.only("margin_connections_refused_total", "counter", "Connections beyond the limit.",
            static_cast<double>(counters.connections_refused));
  page.only("margin_slow_readers_total", "counter", "Clients cut off because they did not read.",
            static_cast<double>(counters.slow_readers));
  page.head("margin_requests_refused_total", "counter", "Requests that never reached a handler.");
  for (std::size_t kind = 0; kind < counters.refused.size(); ++kind) {
    page.line("margin_requests_refused_total", label("reason", http::Counters::kRefusalNames[kind]),
              static_cast<double>(counters.refused[kind]));
  }
}

void render_spans(Page& page, const trace::Tracer& tracer) {
  if (!tracer.enabled()) return;
  const trace::Counters& counters = tracer.counters();
  page.head("margin_trace_spans_total", "counter", "Spans by what became of them.");
  for (const auto& [result, count] :
       {std::pair("exported", counters.exported), std::pair("dropped", counters.dropped), std::pair("refused", counters.refused)}) {
    page.line("margin_trace_spans_total", label("result", result), static_cast<double>(count));
  }
}

void render_upstreams(Page& page, const gateway::Gateway& gateway) {
  page.head("margin_upstream_requests_total", "counter", "What models were asked for in chats, by what came of it.");
  for (const auto& [model, counts] : gateway.counts()) {
    for (const auto& [error, count] : counts.errors) {
      page.line("margin_upstream_requests_total", label("model", model) + "," + label("outcome", error.empty() ? "ok" : error),
                static_cast<double>(count));
    }
  }
  page.head("margin_upstream_duration_seconds", "summary", "Until a model's reply was there, retries included.");
  for (const auto& [model, counts] : gateway.counts()) {
    page.line("margin_upstream_duration_seconds_sum", label("model", model), counts.seconds);
    page.line("margin_upstream_duration_seconds_count", label("model", model), static_cast<double>(counts.replies));
  }
  page.head("margin_upstream_tokens_total", "counter", "Tokens that upstreams report.");
  for (const auto& [model, counts] : gateway.counts()) {
    page.line("margin_upstream_tokens_total", label("model", model) + ",type=\"prompt\"", static_cast<double>(counts.prompt_tokens));
    page.line("margin_upstream_tokens_total", label("model", model) + ",type=\"completion\"",
              static_cast<double>(counts.completion_tokens));
  }
  page.head("margin_upstream_cost_total", "counter", "Their cost by the configured prices.");
  for (const auto& [model, counts] : gateway.counts()) page.line("margin_upstream_cost_total", label("model", model), counts.cost);
  page.head("margin_upstream_in_flight", "gauge", "Calls under way.");
  for (const auto& [name, model] : gateway.models()) {
    page.line("margin_upstream_in_flight", label("model", name), static_cast<double>(model.upstream->counters().in_flight));
  }
  page.head("margin_upstream_breaker_open", "gauge", "1 while an upstream is left alone after failures.");
  for (const auto& [name, model] : gateway.models()) {
    page.line("margin_upstream_breaker_open", label("model", name), model.upstream->counters().breaker_open ? 1.0 : 0.0);
  }
}

void render_process(Page& page, std::int64_t started_s) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6; };
  page.only("process_cpu_seconds_total", "counter", "Processor time.", seconds(usage.ru_utime) + seconds(usage.ru_stime));
  std::ifstream statm("/proc/self/statm");
  double pages = 0.0;
  double resident = 0.0;
  if (statm >> pages >> resident) {
    page.only("process_resident_memory_bytes", "gauge", "Resident memory.", resident * static_cast<double>(sysconf(_SC_PAGESIZE)));
  }
  std::error_code ignored;
  const auto held = std::filesystem::directory_iterator("/proc/self/fd", ignored);
  if (!ignored)
    page.only("process_open_fds", "gauge", "Open file descriptors.", static_cast<double>(std::distance(begin(held), end(held))));
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
    page.only("process_max_fds", "gauge", "Open file descriptors allowed.", static_cast<double>(descriptors.rlim_cur));
  }
  page.only("process_start_time_seconds", "gauge", "When the process started, since 1970.", static_cast<double>(started_s));
}

}  // namespace

void DurationHistogram::add(double seconds) {
  const auto bucket = static_cast<std::size_t>(std::lower_bound(kBounds.begin(), kBounds.end(), seconds) - kBounds.begin());
  ++counts_[bucket];
  sum_ += seconds;
}

void DurationHistogram::render(std::string& out, std::string_view name, const std::string& labels) const {
  const std::string comma = labels.empty() ? "" : ",";
  std::uint64_t below = 0;
  for (std::size_t i = 0; i <= kBounds.size(); ++i) {
    below += counts_[i];
    const std::string bound = i < kBounds.size() ? internal::shortest(kBounds[i]) : "+Inf";
    out.append(name).append("_bucket{").append(labels).append(comma).append("le=\"").append(bound).append("\"} ");
    out.append(std::to_string(below)).append("\n");
  }
  const std::string in_brackets = labels.empty() ? "" : "{" + labels + "}";
  out += std::string(name) + "_sum" + in_brackets + " " + internal::shortest(sum_) + "\n";
  out += std::string(name) + "_count" + in_brackets + " " + std::to_string(below) + "\n";
}

Metrics::Metrics() : started_s_(std::time(nullptr)) {}

void Metrics::request(std::string_view endpoint, int status, std::chrono::nanoseconds took) {
  if (endpoint.data() != latest_.endpoint.data() || status != latest_.status) {
    latest_ = {endpoint, status, &requests_[{endpoint, status}], &durations_[endpoint]};
  }
  ++*latest_.requests;
  latest_.durations->add(std::chrono::duration<double>(took).count());
}

std::string Metrics::render(App& app, const Caller& caller) const {
  const Pools pools = pools_of(app, caller);
  Page page;
  page.head("margin_build_info", "gauge", "Always 1; its labels say what runs.");
  page.line("margin_build_info", label("version", app.version()) + "," + label("commit", app.commit()), 1.0);
  page.head("margin_requests_total", "counter", "Requests, by path and status.");
  for (const auto& [key, count] : requests_) {
    page.line("margin_requests_total", label("endpoint", key.first) + "," + label("code", std::to_string(key.second)),
              static_cast<double>(count));
  }
  page.head("margin_request_duration_seconds", "histogram", "From the request's last byte to its answer, the log's commit included.");
  for (const auto& [endpoint, histogram] : durations_)
    histogram.render(page.out, "margin_request_duration_seconds", label("endpoint", endpoint));
  page.head("margin_overhead_seconds", "histogram", "What a chat took beyond waiting for its models, the log's commit included.");
  overhead_.render(page.out, "margin_overhead_seconds", "");
  page.only("margin_rate_limited_total", "counter", "Requests beyond their key's rate.", static_cast<double>(rate_limited_));
  render_decisions(page, pools);
  render_feedback(page, pools);
  render_calibration(page, pools, static_cast<std::size_t>(app.config().limits.label_values));
  render_pools(page, pools);
  render_upstreams(page, app.gateway());
  render_spans(page, *app.tracer());
  render_log(page, app.service().log().figures());
  http::Counters counters;
  for (const http::Server* listener : {app.listeners().main, app.listeners().operators}) {
    if (listener != nullptr) counters += listener->counters();
  }
  render_listeners(page, counters);
  render_process(page, started_s_);
  return std::move(page.out);
}

}  // namespace margin::server
