#include "upstream/chat.h"

#include <cmath>

namespace margin::upstream {
namespace {

// Counts beyond this are nonsense; sums of many stay far from overflow.
constexpr double kTokensMax = 1e12;

std::uint64_t tokens(const Json* object, std::string_view key) {
  const Json* const value = object != nullptr ? object->find(key) : nullptr;
  if (value == nullptr || value->type() != Json::Type::kNumber) return 0;
  const double number = value->number();
  return number >= 0 && number <= kTokensMax && number == std::floor(number) ? static_cast<std::uint64_t>(number) : 0;
}

void read_usage(const Json& root, Usage& usage) {
  const Json* const object = root.find("usage");
  if (object == nullptr || object->type() != Json::Type::kObject) return;
  usage.prompt_tokens = tokens(object, "prompt_tokens");
  usage.completion_tokens = tokens(object, "completion_tokens");
  usage.total_tokens = tokens(object, "total_tokens");
  usage.cached_tokens = tokens(object->find("prompt_tokens_details"), "cached_tokens");
  usage.reasoning_tokens = tokens(object->find("completion_tokens_details"), "reasoning_tokens");
}

// Absent and null are empty; anything else but text is an error.
Status read_text(const Json& object, std::string_view key, const std::string& path, std::string& text) {
  const Json* const value = object.find(key);
  if (value == nullptr || value->is_null()) return {};
  if (value->type() != Json::Type::kText) {
    return {ErrorCode::kInvalidArgument, path + std::string(key) + " is " + std::string(name_of(value->type())) + ", expected text"};
  }
  text += value->text();
  return {};
}

// Content as text, or as a list of parts of which the texts count.
Status read_content(const Json& message, const std::string& path, std::string& text) {
  const Json* const content = message.find("content");
  if (content == nullptr || content->type() != Json::Type::kList) return read_text(message, "content", path, text);
  for (const Json& part : content->items()) {
    if (part.type() != Json::Type::kObject) return {ErrorCode::kInvalidArgument, path + "content has a part that is no object"};
    if (Status read = read_text(part, "text", path + "content[].", text); !read.ok()) return read;
  }
  return {};
}

bool has_calls(const Json& message) {
  const Json* const calls = message.find("tool_calls");
  const Json* const call = message.find("function_call");  // what tool_calls replaced
  return (calls != nullptr && !calls->items().empty()) || (call != nullptr && call->type() == Json::Type::kObject);
}

// The message of {"error": {"message"}}, {"error": "..."}; nothing when there is no error.
std::optional<std::string> error_of(const Json& root) {
  const Json* const error = root.find("error");
  if (error == nullptr || error->is_null()) return std::nullopt;
  const Json* const message = error->type() == Json::Type::kObject ? error->find("message") : error;
  if (message == nullptr || message->type() != Json::Type::kText) return std::string(error->raw());
  return std::string(message->text());
}

Error wrong(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

Result<const Json*> parse_object(JsonParser& parser, std::string_view text) {
  Result<const Json*> root = parser.parse(text);
  if (root.ok() && (*root)->type() != Json::Type::kObject) {
    return wrong("the reply is " + std::string(name_of((*root)->type())) + ", expected an object");
  }
  if (!root.ok()) return root;
  if (const std::optional<std::string> error = error_of(**root)) return wrong("the reply is an error: " + *error);
  return root;
}

// The members that whole replies and chunks share.
Status read_outline(const Json& root, ChatReply& reply) {
  for (const auto& [key, text] : {std::pair("id", &reply.id), std::pair("model", &reply.model)}) {
    if (!text->empty()) continue;
    if (Status read = read_text(root, key, "", *text); !read.ok()) return read;
  }
  read_usage(root, reply.usage);
  return {};
}

}  // namespace

Usage& Usage::operator+=(const Usage& other) {
  prompt_tokens += other.prompt_tokens;
  completion_tokens += other.completion_tokens;
  total_tokens += other.total_tokens;
  cached_tokens += other.cached_tokens;
  reasoning_tokens += other.reasoning_tokens;
  return *this;
}

Result<ChatReply> read_chat_reply(JsonParser& parser, std::string_view body) {
  const Result<const Json*> root = parse_object(parser, body);
  if (!root.ok()) return root.error();
  ChatReply reply;
  if (Status read = read_outline(**root, reply); !read.ok()) return read.error();
  const Json* const choices = (*root)->find("choices");
  if (choices == nullptr || choices->type() != Json::Type::kList || choices->items().empty()) {
    return wrong("choices is missing or empty, expected a list of at least one choice");
  }
  const Json& choice = choices->items().front();
  const Json* const message = choice.find("message");
  if (message == nullptr || message->type() != Json::Type::kObject) return wrong("choices[0].message is missing, expected an object");
  const std::string path = "choices[0].message.";
  reply.calls_tools = has_calls(*message);
  if (Status read = read_content(*message, path, reply.content); !read.ok()) return read.error();
  if (Status read = read_text(*message, "refusal", path, reply.refusal); !read.ok()) return read.error();
  if (Status read = read_text(choice, "finish_reason", "choices[0].", reply.finish_reason); !read.ok()) return read.error();
  const Json* const content = message->find("content");
  if ((content == nullptr || content->is_null()) && reply.refusal.empty() && !reply.calls_tools) {
    return wrong(path + "content is missing, expected text");
  }
  return reply;
}

Result<std::string> ChatAssembler::add(JsonParser& parser, std::string_view json) {
  const Result<const Json*> root = parse_object(parser, json);
  if (!root.ok()) return root.error();
  if (Status read = read_outline(**root, reply_); !read.ok()) return read.error();
  std::string added;
  const Json* const choices = (*root)->find("choices");
  if (choices == nullptr || choices->is_null()) return added;
  if (choices->type() != Json::Type::kList) {
    return wrong("choices is " + std::string(name_of(choices->type())) + ", expected a list");
  }
  for (const Json& choice : choices->items()) {
    const Json* const index = choice.find("index");
    if (index != nullptr && index->type() == Json::Type::kNumber && index->number() != 0) continue;
    const Json* const delta = choice.find("delta");
    if (delta != nullptr && delta->type() == Json::Type::kObject) {
      const std::string path = "choices[0].delta.";
      if (Status read = read_content(*delta, path, added); !read.ok()) return read.error();
      if (Status read = read_text(*delta, "refusal", path, reply_.refusal); !read.ok()) return read.error();
      reply_.calls_tools = reply_.calls_tools || has_calls(*delta);
    }
    std::string finish_reason;
    if (Status read = read_text(choice, "finish_reason", "choices[0].", finish_reason); !read.ok()) return read.error();
    if (!finish_reason.empty()) reply_.finish_reason = std::move(finish_reason);
  }
  reply_.content += added;
  return added;
}

}  // namespace margin::upstream
