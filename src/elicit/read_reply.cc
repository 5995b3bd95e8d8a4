// Reading a reply: one pass over its lines finds the confidence and an outline, from which the answer is taken.
#include <cmath>

#include "elicit/confidence.h"
#include "elicit/elicit.h"
#include "elicit/extract.h"
#include "elicit/lines.h"
#include "elicit/refusal.h"
#include "json/json.h"

namespace margin::elicit {
namespace {

bool says_something(std::string_view line) {
  for (const char c : line) {
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80) return true;
  }
  return false;
}

// The lines that state a confidence, and the one of them that counts.
class ConfidenceLines {
 public:
  // Whether the line states a number.
  bool add(const Line& line) {
    last_ = line.text;
    stated_ = line.place == Place::kText ? read_confidence_line(line.content()) : std::nullopt;
    if (!stated_ || !stated_->is_number()) return false;
    conflicting_ |= number_ && std::abs(*number_ - stated_->value) > 1e-9;
    number_ = stated_->value;
    return true;
  }

  void judge(Reading& reading) const {
    if (!stated_) {
      reading.missing = Missing::kAbsent;
    } else if (!stated_->is_number()) {
      reading.missing = Missing::kMalformed;
    } else if (conflicting_) {
      reading.missing = Missing::kConflicting;
    } else if (stated_->kind == Stated::Kind::kOutOfRange) {
      reading.missing = Missing::kOutOfRange;
    } else {
      reading.confidence = stated_->value;
    }
  }

  // The reply's last line where that states a number, else empty. Words behind the label may be the client's, so they stay.
  [[nodiscard]] std::string_view to_remove() const { return stated_ && stated_->is_number() ? last_ : std::string_view(); }

 private:
  std::string_view last_;
  std::optional<Stated> stated_;  // by the last line that says something
  std::optional<double> number_;
  bool conflicting_ = false;
};

class Pass {
 public:
  Pass(std::string_view reply, bool with_confidence) : reply_(reply), with_confidence_(with_confidence) {
    LineReader lines(reply);
    while (const std::optional<Line> line = lines.next()) take(*line);
    outline_.block_open = lines.fence_open();
  }

  [[nodiscard]] const Outline& outline() const { return outline_; }
  [[nodiscard]] const ConfidenceLines& confidence() const { return confidence_; }

 private:
  void take(const Line& line) {
    if (line.place == Place::kReasoning) return;
    if (line.place == Place::kFence) return take_fence(line);
    const bool code = line.place == Place::kCode;
    const std::string_view content = line.content();
    if (!code && !content.empty() && with_confidence_ && confidence_.add(line)) return;
    outline_.text += line.text;
    if (code || !says_something(content)) return;
    if (outline_.first_line.empty()) outline_.first_line = content;
    outline_.last_line = content;
    if (line.place == Place::kText) take_answer(content);
  }

  void take_fence(const Line& line) {
    outline_.text += line.text;
    const auto at = static_cast<std::size_t>(line.text.data() - reply_.data());
    if (block_at_) {
      outline_.block = reply_.substr(*block_at_, at - *block_at_);
      block_at_.reset();
    } else {
      block_at_ = at + line.text.size();
    }
  }

  // An "Answer:" line, or the line after one that has nothing behind the colon.
  void take_answer(std::string_view content) {
    const std::optional<std::string_view> stated = answer_line(content);
    const std::string_view answer = stated ? *stated : answer_follows_ ? content : std::string_view();
    answer_follows_ = stated && stated->empty();
    if (!answer.empty()) outline_.answers.push_back(answer);
  }

  std::string_view reply_;
  bool with_confidence_;
  Outline outline_;
  ConfidenceLines confidence_;
  std::optional<std::size_t> block_at_;
  bool answer_follows_ = false;
};

// The reply without `line`, which goes together with the blank lines around it where nothing else follows.
std::string without(std::string_view reply, std::string_view line) {
  if (line.empty()) return std::string(reply);
  const auto at = static_cast<std::size_t>(line.data() - reply.data());
  const std::string_view before = reply.substr(0, at);
  const std::string_view after = reply.substr(at + line.size());
  if (!trimmed(after).empty()) return std::string(before) + std::string(after);
  const std::string_view kept = trimmed(before);
  return kept.empty() ? std::string() : std::string(reply.substr(0, static_cast<std::size_t>(kept.data() - reply.data()) + kept.size()));
}

void take_answer(Task task, const Outline& outline, Reading& reading) {
  Extract extract = extract_answer(task, outline);
  reading.refused = !extract.marked && declines(outline.text);
  if (reading.refused) return;
  reading.answer = std::move(extract.answer);
  reading.malformed = reading.answer.empty();
}

// The one JSON object that a reply is, or holds between other words: in its last fence, or from the first brace to the last.
const Json* find_object(JsonParser& parser, const Outline& outline, bool alone) {
  const auto object = [&](std::string_view text) -> const Json* {
    if (!text.starts_with('{') || !text.ends_with('}')) return nullptr;
    const Result<const Json*> parsed = parser.parse(text);
    return parsed && (*parsed)->type() == Json::Type::kObject ? *parsed : nullptr;
  };
  const std::string_view whole = trimmed(outline.text);
  if (const Json* found = object(whole)) return found;
  const bool fenced = outline.block && (!alone || (whole.starts_with("```") && whole.ends_with("```") && outline.first_line.empty()));
  if (fenced) return object(trimmed(*outline.block));
  const std::size_t first = whole.find('{');
  const std::size_t last = whole.rfind('}');
  if (alone || first == std::string_view::npos || last == std::string_view::npos || last < first) return nullptr;
  return object(whole.substr(first, last - first + 1));
}

void take_confidence(const Json* value, Reading& reading) {
  if (value == nullptr || value->is_null()) {
    reading.missing = Missing::kAbsent;
    return;
  }
  const bool readable = value->type() == Json::Type::kNumber || value->type() == Json::Type::kText;
  const Stated stated = readable ? read_confidence_value(value->type() == Json::Type::kText ? value->text() : value->raw()) : Stated{};
  if (stated.kind == Stated::Kind::kValue) {
    reading.confidence = stated.value;
  } else {
    reading.missing = stated.is_number() ? Missing::kOutOfRange : Missing::kMalformed;
  }
}

void read_object(Task task, const Json& object, Reading& reading) {
  if (const Json* answer = object.find("answer"); answer != nullptr && !answer->is_null()) {
    reading.shown = answer->type() == Json::Type::kText ? answer->text() : answer->raw();
  }
  take_answer(task, Pass(reading.shown, false).outline(), reading);
  take_confidence(object.find("confidence"), reading);
}

// Deep enough for any object of ours, and a bound on hostile ones.
constexpr std::size_t kDepthMax = 16;

Reading read_schema(Task task, std::string_view reply) {
  Reading reading;
  const Pass pass(reply, false);
  JsonParser parser(kDepthMax);
  if (const Json* object = find_object(parser, pass.outline(), false)) {
    read_object(task, *object, reading);
    return reading;
  }
  reading.shown = reply;
  reading.refused = declines(pass.outline().text);
  reading.malformed = !reading.refused;
  reading.missing = trimmed(pass.outline().text).empty() ? Missing::kAbsent : Missing::kMalformed;
  return reading;
}

Reading read_line(Task task, std::string_view reply) {
  Reading reading;
  const Pass pass(reply, true);
  pass.confidence().judge(reading);
  // A model that was asked for a line and gave the object of the other mode, and nothing besides.
  if (reading.missing == Missing::kAbsent && reply.find("\"confidence\"") != std::string_view::npos) {
    JsonParser parser(kDepthMax);
    const Json* object = find_object(parser, pass.outline(), true);
    if (object != nullptr && object->items().size() == 2 && object->find("answer") != nullptr && object->find("confidence") != nullptr) {
      Reading of_object;
      read_object(task, *object, of_object);
      return of_object;
    }
  }
  reading.shown = without(reply, pass.confidence().to_remove());
  take_answer(task, pass.outline(), reading);
  return reading;
}

}  // namespace

Reading read_reply(Task task, Mode mode, std::string_view reply, bool cut_off) {
  Reading reading;
  switch (mode) {
    case Mode::kOff:
      reading.shown = reply;
      reading.missing = Missing::kNotAsked;
      take_answer(task, Pass(reply, false).outline(), reading);
      break;
    case Mode::kLine: reading = read_line(task, reply); break;
    case Mode::kSchema: reading = read_schema(task, reply); break;
  }
  if (cut_off) {
    reading.malformed = true;
    // "Confidence: 8" may be the beginning of 85.
    if (reading.confidence) reading.missing = Missing::kMalformed;
    reading.confidence.reset();
  }
  if (reading.refused && reading.confidence) {
    reading.missing = Missing::kRefused;
    reading.confidence.reset();
  }
  return reading;
}

}  // namespace margin::elicit
