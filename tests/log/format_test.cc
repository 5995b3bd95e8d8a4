// The format of records against Protocol Buffers' own reading of event.proto, and against what earlier binaries wrote.
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "event_samples.h"
#include "log/codec.h"

namespace margin {
namespace {

namespace pb = google::protobuf;

std::string encoded(const Record& record) {
  std::string bytes;
  internal::encode(record.event, record.mark, record.note, bytes);
  return bytes;
}

Record full_record(const Event& event) { return {.event = event, .mark = RequestMark{{1, 2}, {3, 4}}, .note = "a note"}; }

class Format : public testing::Test {
 protected:
  Format() {
    std::ifstream file(MARGIN_EVENT_DESCRIPTORS, std::ios::binary);
    pb::FileDescriptorSet set;
    if (!set.ParseFromIstream(&file) || set.file_size() != 1) return;
    const pb::FileDescriptor* events = descriptors_.BuildFile(set.file(0));
    if (events != nullptr) envelope_ = events->FindMessageTypeByName("Envelope");
  }

  // Notes which fields of which messages are present.
  static void note(const pb::Message& message, std::map<const pb::Descriptor*, std::set<std::string>>& seen) {
    const pb::Reflection& reflection = *message.GetReflection();
    EXPECT_TRUE(reflection.GetUnknownFields(message).empty()) << message.GetTypeName();
    std::vector<const pb::FieldDescriptor*> fields;
    reflection.ListFields(message, &fields);
    seen[message.GetDescriptor()];
    for (const pb::FieldDescriptor* field : fields) {
      seen[message.GetDescriptor()].insert(field->name());
      if (field->cpp_type() != pb::FieldDescriptor::CPPTYPE_MESSAGE) continue;
      const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
      for (int i = 0; i < count; ++i) {
        note(field->is_repeated() ? reflection.GetRepeatedMessage(message, field, i) : reflection.GetMessage(message, field), seen);
      }
    }
  }

  pb::DescriptorPool descriptors_;
  pb::DynamicMessageFactory factory_;
  const pb::Descriptor* envelope_ = nullptr;
};

// One of each type, and a decision that leaves out what it can.
std::vector<Event> events_to_write() {
  std::vector<Event> events = full_events();
  Random random(7);
  events.push_back(typical_decision(3, random));
  return events;
}

TEST_F(Format, EveryFieldOfEveryMessageIsWritten) {
  ASSERT_NE(envelope_, nullptr);
  std::map<const pb::Descriptor*, std::set<std::string>> seen;
  for (const Event& event : events_to_write()) {
    const std::unique_ptr<pb::Message> message(factory_.GetPrototype(envelope_)->New());
    ASSERT_TRUE(message->ParseFromString(encoded(full_record(event))));
    note(*message, seen);
  }
  const pb::FileDescriptor& file = *envelope_->file();
  for (int m = 0; m < file.message_type_count(); ++m) {
    const pb::Descriptor* type = file.message_type(m);
    ASSERT_TRUE(seen.contains(type)) << type->name() << " is never written";
    for (int f = 0; f < type->field_count(); ++f) {
      EXPECT_TRUE(seen[type].contains(type->field(f)->name())) << type->name() << "." << type->field(f)->name() << " is never written";
    }
  }
}

TEST_F(Format, ProtocolBuffersWriteTheSameBytesAgain) {
  ASSERT_NE(envelope_, nullptr);
  Random random(5);
  const auto written_again = [&](const Record& record) {
    const std::unique_ptr<pb::Message> message(factory_.GetPrototype(envelope_)->New());
    EXPECT_TRUE(message->ParseFromString(encoded(record)));
    return message->SerializeAsString();
  };
  for (const Event& event : full_events()) EXPECT_EQ(written_again(full_record(event)), encoded(full_record(event)));
  for (const Event& event : empty_events()) EXPECT_EQ(written_again({.event = event}), encoded({.event = event}));
  for (int i = 0; i < 2'000; ++i) {
    Record record = random_record(random);
    record.offset = 0;
    ASSERT_EQ(written_again(record), encoded(record)) << "number " << i;
    const Result<Record> back = internal::decode(written_again(record), "p", 0);
    ASSERT_TRUE(back.ok()) << back.error().message;
    ASSERT_EQ(*back, record);
  }
}

std::string hex_of(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += {kDigits[static_cast<unsigned char>(byte) >> 4], kDigits[static_cast<unsigned char>(byte) & 15]};
  }
  return text;
}

std::string bytes_of(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

// golden_records.txt only ever grows: "TYPE HEX", every record that some binary wrote of events_to_write().
TEST(GoldenRecords, WhatEarlierBinariesWroteIsReadAndWouldBeWrittenAgain) {
  std::ifstream file(MARGIN_GOLDEN_RECORDS);
  ASSERT_TRUE(file.good());
  std::vector<Record> written;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    std::istringstream words(line);
    std::size_t type = 0;
    std::string hex;
    words >> type >> hex;
    const Result<Record> record = internal::decode(bytes_of(hex), "golden", 0);
    ASSERT_TRUE(record.ok()) << record.error().message;
    EXPECT_EQ(record->event.body.index(), type);
    EXPECT_EQ(hex_of(encoded(*record)), hex);
    written.push_back(*record);
  }
  for (const Event& event : events_to_write()) {
    EXPECT_NE(std::find(written.begin(), written.end(), full_record(event)), written.end())
        << "add this line, and leave the others:\n"
        << event.body.index() << " " << hex_of(encoded(full_record(event)));
  }
}

}  // namespace
}  // namespace margin
