// Fuzzes what the gateway reads from both sides: a client's chat request and an upstream's reply, whole or as a chunk of a stream. What is
// accepted must be passed on as valid JSON that says the same, byte for byte where the client wrote it.
#include "upstream/chat.h"

#include <cstdlib>

#include "gateway/chat_request.h"

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

const margin::elicit::Template kAsking{.name = "t", .instructions = "say \"so\"\n", .response_format = "", .example = ""};

void check_request(std::string_view text) {
  margin::JsonParser parser(32);
  const auto parsed = parser.parse(text);
  if (!parsed) return;
  margin::gateway::ChatRequest request;
  if (margin::gateway::read_chat_request(**parsed, request)) return;
  margin::JsonParser again(33);
  const std::string plain = margin::gateway::body_for(request, {.model = "m", .stream = request.stream});
  const auto passed = again.parse(plain);
  must(passed.ok());
  must((*passed)->find("messages")->raw() == request.messages);
  const std::size_t messages = (*passed)->find("messages")->items().size();
  for (const auto& [key, value] : request.members) must((*passed)->find(key)->raw() == value);
  margin::gateway::ChatRequest second;
  must(!margin::gateway::read_chat_request(**passed, second));
  must(second.members == request.members);

  const auto asking = again.parse(margin::gateway::body_for(request, {.model = "m", .asking = &kAsking}));
  must(asking.ok());
  must((*asking)->find("messages")->items().size() == messages + 1);
}

void check_reply(std::string_view text) {
  margin::JsonParser parser(64);
  (void)margin::upstream::read_chat_reply(parser, text);
  margin::upstream::ChatAssembler assembler;
  (void)assembler.add(parser, text);
  (void)assembler.add(parser, text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_request(text);
  check_reply(text);
  return 0;
}
