#include "trace/tracer.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "json/json.h"
#include "trace/otlp.h"

namespace margin::trace {
namespace {

// What a collector that took the batch did not take of it: {"partialSuccess":{"rejectedSpans":"3"}}.
std::size_t rejected_spans(std::string_view reply) {
  JsonParser parser(8);
  const Result<const Json*> root = parser.parse(reply);
  const Json* const partial = root.ok() ? (*root)->find("partialSuccess") : nullptr;
  const Json* const rejected = partial != nullptr ? partial->find("rejectedSpans") : nullptr;
  if (rejected == nullptr) return 0;
  const std::string_view digits = rejected->type() == Json::Type::kText ? rejected->text() : rejected->raw();
  std::size_t count = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), count);
  return count;
}

}  // namespace

Result<std::unique_ptr<Tracer>> Tracer::make(http::Loop& loop, Settings settings, const Environment& environment, std::uint64_t seed,
                                             std::function<void(const std::string&)> complain) {
  std::unique_ptr<Tracer> tracer(new Tracer(loop, std::move(settings), seed, std::move(complain)));
  const Settings& given = tracer->settings_;
  if (given.url.empty()) return tracer;
  upstream::Settings collector;
  collector.name = "trace collector";
  collector.url = given.url;
  collector.whole_url = true;
  collector.ca_file = given.ca_file;
  collector.concurrency_max = 1;
  collector.timeout = given.timeout;
  collector.retries_max = 3;
  collector.reply_bytes_max = 64 << 10;
  auto made = upstream::Upstream::make(loop, std::move(collector), environment, seed);
  if (!made) return made.error();
  tracer->collector_ = std::move(*made);
  return tracer;
}

Tracer::Tracer(http::Loop& loop, Settings settings, std::uint64_t seed, std::function<void(const std::string&)> complain)
    : loop_(loop), settings_(std::move(settings)), random_(seed), complain_(std::move(complain)) {}

Tracer::~Tracer() = default;

std::int64_t Tracer::now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Context Tracer::child_of(const Context& parent) {
  Context child = parent;
  do {
    child.span = random_.bits();
  } while (child.span == 0);
  return child;
}

Context Tracer::begin(Uuid trace) {
  Context context;
  context.trace = trace;
  // The last 62 bits are random in every kind of id that is used here.
  const double place = static_cast<double>(trace.low << 2 >> 11) * 0x1p-53;
  context.sampled = enabled() && place < settings_.sample;
  return child_of(context);
}

void Tracer::add(Span span) {
  if (!enabled() || !span.context.sampled) return;
  if (waiting_.size() >= settings_.queue_max) {
    ++counters_.dropped;
    return;
  }
  waiting_.push_back(std::move(span));
  counters_.waiting = waiting_.size();
  if (waiting_.size() >= settings_.batch_max) {
    send();
  } else {
    schedule();
  }
}

void Tracer::schedule() {
  if (sending_ || std::exchange(scheduled_, true)) return;
  timer_ = loop_.after(settings_.interval, [this] { send(); });
}

void Tracer::send() {
  if (sending_) return;
  timer_.cancel();
  scheduled_ = false;
  if (waiting_.empty()) return finish_flush();
  const std::size_t count = std::min(waiting_.size(), settings_.batch_max);
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
  const std::vector<Span> batch(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  counters_.waiting = waiting_.size();
  sending_ = true;
  upstream::Ask ask{.body = otlp_request(settings_.resource, settings_.version, batch), .headers = settings_.headers};
  call_ = collector_->ask(std::move(ask), [this, count](const upstream::Outcome& outcome) { on_sent(count, outcome); });
}

void Tracer::on_sent(std::size_t spans, const upstream::Outcome& outcome) {
  sending_ = false;
  const std::size_t refused = outcome.failure ? spans : std::min(spans, rejected_spans(outcome.body));
  counters_.refused += refused;
  counters_.exported += spans - refused;
  const bool failed = outcome.failure.has_value();
  if (failed != std::exchange(failing_, failed) && complain_) {
    complain_(failed ? "spans are lost: " + outcome.message : "spans are taken again by the trace collector");
  }
  if (flushed_ || waiting_.size() >= settings_.batch_max) {
    send();
  } else if (!waiting_.empty()) {
    schedule();
  }
}

void Tracer::flush(std::chrono::milliseconds patience, std::function<void()> done) {
  flushed_ = std::move(done);
  patience_ = loop_.after(patience, [this] { finish_flush(); });
  if (!enabled()) return finish_flush();
  send();
}

void Tracer::finish_flush() {
  patience_.cancel();
  if (const auto done = std::exchange(flushed_, nullptr)) done();
}

}  // namespace margin::trace
