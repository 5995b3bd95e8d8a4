#include "server/routes.h"

#include <algorithm>
#include <array>

namespace margin::server {
namespace {

using access::Scope;

// Who looks after the server, rather than uses it.
constexpr bool is_for_operators(const Route& route) {
  const bool page = route.pattern == "/" || route.pattern.starts_with("/dashboard");
  return page || route.scope == Scope::kAdmin || route.pattern == "/metrics" || route.pattern == "/status";
}

template <std::size_t kCount>
constexpr std::array<Route, kCount> with_audience(std::array<Route, kCount> table) {
  for (Route& route : table) route.for_operators = is_for_operators(route);
  return table;
}

constexpr std::array kRoutes = with_audience(std::array{
    Route{"POST", "/v1/decide", Scope::kDecide, decide},
    Route{"POST", "/v1/chat/completions", Scope::kInfer, chat},
    Route{"POST", "/openai/v1/chat/completions", Scope::kInfer, chat},
    Route{"GET", "/v1/models", Scope::kInfer, list_models},
    Route{"GET", "/openai/v1/models", Scope::kInfer, list_models},
    Route{"GET", "/v1/models/{model}", Scope::kInfer, show_model},
    Route{"GET", "/v1/models/{owner}/{model}", Scope::kInfer, show_model},
    Route{"GET", "/openai/v1/models/{model}", Scope::kInfer, show_model},
    Route{"GET", "/openai/v1/models/{owner}/{model}", Scope::kInfer, show_model},
    Route{"POST", "/v1/feedback", Scope::kFeedback, feedback},
    Route{"POST", "/v1/feedback/batch", Scope::kFeedback, feedback_batch},
    Route{"POST", "/v1/feedback/revert", Scope::kAdmin, revert_feedback},
    Route{"GET", "/v1/pools", Scope::kRead, list_pools},
    Route{"GET", "/v1/pools/{pool}", Scope::kRead, show_pool},
    Route{"PUT", "/v1/pools/{pool}", Scope::kAdmin, put_pool},
    Route{"GET", "/v1/pools/{pool}/factors", Scope::kRead, show_factors, "model"},
    Route{"GET", "/v1/pools/{pool}/calibration", Scope::kRead, show_calibration, "model window"},
    Route{"GET", "/v1/pools/{pool}/activity", Scope::kRead, show_activity},
    Route{"GET", "/v1/pools/{pool}/heat", Scope::kRead, show_heat},
    Route{"GET", "/v1/pools/{pool}/history", Scope::kRead, show_history, "model band"},
    Route{"GET", "/v1/pools/{pool}/models", Scope::kRead, show_models},
    Route{"GET", "/v1/pools/{pool}/pairs", Scope::kRead, show_pairs},
    Route{"GET", "/v1/pools/{pool}/queue", Scope::kRead, list_queue, "limit"},
    Route{"GET", "/v1/pools/{pool}/alarms", Scope::kRead, show_alarms},
    Route{"GET", "/v1/pools/{pool}/state", Scope::kAdmin, export_state},
    Route{"PUT", "/v1/pools/{pool}/state", Scope::kAdmin, import_state, "trust"},
    Route{"POST", "/v1/pools/{pool}/freeze", Scope::kAdmin, freeze_pool},
    Route{"POST", "/v1/pools/{pool}/resume", Scope::kAdmin, resume_pool},
    Route{"PUT", "/v1/pools/{pool}/models/{model}", Scope::kAdmin, join_model},
    Route{"DELETE", "/v1/pools/{pool}/models/{model}", Scope::kAdmin, leave_model},
    Route{"PUT", "/v1/pools/{pool}/models/{model}/pin", Scope::kAdmin, pin_model},
    Route{"DELETE", "/v1/pools/{pool}/models/{model}/pin", Scope::kAdmin, unpin_model},
    Route{"GET", "/v1/decisions", Scope::kRead, list_decisions, "pool limit q model status answered graded before"},
    Route{"GET", "/v1/decisions/{decision}", Scope::kRead, show_decision},
    Route{"DELETE", "/v1/decisions/{decision}/texts", Scope::kAdmin, erase_texts},
    Route{"GET", "/v1/events", Scope::kRead, stream_events, "pool"},
    Route{"POST", "/v1/experiments", Scope::kAdmin, start_experiment, "format name methods"},
    Route{"GET", "/v1/experiments", Scope::kAdmin, list_experiments},
    Route{"GET", "/v1/experiments/{experiment}", Scope::kAdmin, show_experiment},
    Route{"GET", "/v1/experiments/{experiment}/report", Scope::kAdmin, show_report},
    Route{"GET", "/v1/config", Scope::kAdmin, show_config},
    Route{"POST", "/v1/config/reload", Scope::kAdmin, reload_config},
    Route{"GET", "/v1/session", Scope::kRead, show_session},
    Route{"GET", "/health", std::nullopt, show_health},
    Route{"GET", "/health/liveness", std::nullopt, show_health},
    Route{"GET", "/ready", std::nullopt, show_ready},
    Route{"GET", "/health/readiness", std::nullopt, show_ready},
    Route{"GET", "/status", Scope::kRead, show_status, "digest"},
    Route{"GET", "/metrics", Scope::kRead, show_metrics},
    Route{"GET", "/openapi.json", std::nullopt, show_openapi},
    Route{"GET", "/", std::nullopt, open_dashboard},
    Route{"GET", "/dashboard", std::nullopt, open_dashboard},
    Route{"GET", "/dashboard/", std::nullopt, show_dashboard},
    Route{"GET", "/dashboard/assets/{file}", std::nullopt, show_dashboard_file},
});

// One segment of a path or pattern, taken off its front.
std::string_view take_segment(std::string_view& path) {
  path.remove_prefix(1);
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(segment.size());
  return segment;
}

// Compares segment by segment; {named} ones accept anything that is not empty.
bool matches(std::string_view pattern, std::string_view path, std::vector<std::string>& arguments) {
  arguments.clear();
  if (pattern == path && path.find('{') == std::string_view::npos) return true;
  while (pattern.starts_with('/') && path.starts_with('/')) {
    const std::string_view wanted = take_segment(pattern);
    const std::string_view segment = take_segment(path);
    if (!wanted.starts_with('{')) {
      if (wanted != segment) return false;
      continue;
    }
    auto decoded = http::percent_decode(segment);
    if (!decoded || decoded->empty()) return false;
    arguments.push_back(std::move(*decoded));
  }
  return pattern.empty() && path.empty();
}

}  // namespace

bool Route::takes_body() const {
  constexpr std::array kBodiless = {freeze_pool, resume_pool, reload_config};
  const bool posted = method == "POST" || method == "PUT";
  return posted && std::find(kBodiless.begin(), kBodiless.end(), handle) == kBodiless.end();
}

std::span<const Route> routes() { return kRoutes; }

Match match(std::string_view method, std::string_view path, Audience audience) {
  const std::string_view wanted = method == "HEAD" ? std::string_view("GET") : method;
  Match match;
  for (const Route& route : kRoutes) {
    if (!matches(route.pattern, path, match.arguments)) continue;
    if (route.for_operators && audience == Audience::kClients) continue;
    if (route.method == wanted) {
      match.route = &route;
      return match;
    }
    match.allowed += (match.allowed.empty() ? "" : ", ") + std::string(route.method);
  }
  return match;
}

}  // namespace margin::server
