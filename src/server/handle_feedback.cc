// POST /v1/feedback and /v1/feedback/batch: what became of decisions. Whatever is accepted is in the log; whatever cannot be applied gets
// an error of its own.
#include <algorithm>
#include <memory>

#include "server/app.h"
#include "server/feedback_desk.h"
#include "server/idempotency.h"
#include "server/tracing.h"

namespace margin::server {
namespace {

void take(App& app, const Call& call, const Json& body, std::optional<GivenMark> mark, Answered answered) {
  FeedbackRequest given;
  given.traced = caller_context(call.request);
  if (auto fault = read_feedback(body, call.caller, given)) return answered(refusal(*fault));
  take_feedback(app, call.caller, std::move(given), mark, std::move(answered));
}

struct Line {
  std::size_t number = 0;  // in the body, from 1
  std::string text;
};

// Lines that are taken in one turn of the loop: each may have to look something up in the log, and others must not wait for all of them.
constexpr std::size_t kLinesAtOnce = 32;

// A batch's answers, in the order of its lines, sent when the last has come.
struct Batch {
  App& app;
  Call call;
  std::vector<Line> lines;
  std::optional<GivenMark> mark;
  std::vector<std::string> results;
  std::size_t open = 0;

  void settle(std::size_t i, std::size_t number, const http::Response& response) {
    // The members of the receipt or error go behind the line's number.
    results[i] = "{\"line\":" + std::to_string(number) + ",\"code\":" + std::to_string(response.status) + "," + response.body.substr(1);
    if (--open == 0) finish();
  }
  void finish() {
    http::Response response;
    response.content_type = "application/x-ndjson";
    for (const std::string& result : results) response.body += result + "\n";
    call.answer->send(std::move(response));
  }
};

// Those that are not blank.
std::vector<Line> split_lines(std::string_view body) {
  std::vector<Line> lines;
  for (std::size_t number = 1; !body.empty(); ++number) {
    const std::string_view line = body.substr(0, body.find('\n'));
    body.remove_prefix(std::min(body.size(), line.size() + 1));
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) lines.push_back({number, std::string(line)});
  }
  return lines;
}

// Each line is a request of its own, and of this body: a batch that was cut off in the middle may be sent again whole, another body may not
// be sent in its place. Stores from before the body had its part have the line's.
GivenMark line_mark(const GivenMark& batch, std::size_t i, std::string_view text) {
  const std::string number = std::to_string(i);
  return {.mark = {digest_of(batch.mark.key.hex() + "#line " + number), batch.mark.body},
          .earlier = {digest_of(batch.earlier.key.hex() + "#" + number), digest_of(text)}};
}

void take_lines(const std::shared_ptr<Batch>& batch, std::size_t from) {
  const std::size_t end = std::min(batch->lines.size(), from + kLinesAtOnce);
  for (std::size_t i = from; i < end; ++i) {
    const Line& line = batch->lines[i];
    Answered answered = [batch, i, number = line.number](const http::Response& response) { batch->settle(i, number, response); };
    auto parsed = batch->app.parser().parse(line.text);
    if (!parsed) {
      answered(refusal(400, "invalid_json", parsed.error().message));
      continue;
    }
    std::optional<GivenMark> mark;
    if (batch->mark) mark = line_mark(*batch->mark, i, line.text);
    take(batch->app, batch->call, **parsed, mark, std::move(answered));
  }
  if (end < batch->lines.size()) batch->app.service().later([batch, end] { take_lines(batch, end); });
}

// Looking for a mark is less work than taking a line, and there are many of them too.
constexpr std::size_t kMarksAtOnce = 512;

// Takes the lines, unless one of them is remembered of another body: then none.
void take_unless_other(const std::shared_ptr<Batch>& batch, std::size_t from) {
  const std::size_t end = batch->mark ? std::min(batch->lines.size(), from + kMarksAtOnce) : from;
  for (std::size_t i = from; i < end; ++i) {
    GivenMark mark = line_mark(*batch->mark, i, batch->lines[i].text);
    mark.earlier = mark.mark;  // of a whole body there is nothing in an earlier store
    const Repeated repeated = seen_before(batch->app, batch->call.caller, mark);
    if (repeated.kind == Repeated::kOtherBody) return batch->call.answer->send(idempotency_conflict());
    // A line of this body speaks for all of it.
    if (repeated.kind != Repeated::kNew) return take_lines(batch, 0);
  }
  if (!batch->mark || end == batch->lines.size()) return take_lines(batch, 0);
  batch->app.service().later([batch, end] { take_unless_other(batch, end); });
}

}  // namespace

void feedback(App& app, const Call& call) {
  const Json* body = body_of(app, call);
  if (body == nullptr) return;
  take(app, call, *body, request_mark(call), [answer = call.answer](http::Response response) { answer->send(std::move(response)); });
}

void feedback_batch(App& app, const Call& call) {
  std::vector<Line> lines = split_lines(call.request.body);
  const auto lines_max = static_cast<std::size_t>(app.config().limits.batch_lines);
  if (lines.empty()) return call.answer->send(refusal(400, "invalid_value", "body: expected one JSON object per line"));
  if (lines.size() > lines_max) {
    return call.answer->send(refusal(
        413, "batch_too_large", "body: got " + std::to_string(lines.size()) + " lines, expected at most " + std::to_string(lines_max)));
  }
  const std::size_t count = lines.size();
  take_unless_other(std::make_shared<Batch>(Batch{app, call, std::move(lines), request_mark(call), std::vector<std::string>(count), count}),
                    0);
}

}  // namespace margin::server
