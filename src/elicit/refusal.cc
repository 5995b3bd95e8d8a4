// Phrases with which models decline, language by language, at the start of the text. No counted repetitions: those make large automata.
#include "elicit/refusal.h"

#include <re2/re2.h>

#include <algorithm>

#include "elicit/lines.h"

namespace margin::elicit {
namespace {

constexpr std::size_t kRefusalBytesMax = 700;

// Up to the end of the first sentence.
std::string_view first_sentence(std::string_view text) {
  std::size_t end = std::min(text.find_first_of(".!?\n"), text.size());
  for (const std::string_view stop : {"。", "！", "？"}) end = std::min(end, text.find(stop));
  return text.substr(0, end);
}

}  // namespace

bool declines(std::string_view text) {
  // An apology, alone in its sentence or not; what follows decides.
  static const RE2 kApology(
      "(?i)[\\s*_#\"]*(?:(?:(?:i['’]?m|i am) (?:very |really |truly |so )?(?:sorry|afraid)|sorry|(?:my )?apologies|i "
      "apologi[sz]e|unfortunately|"
      "(?:es )?tut mir (?:sehr )?leid|(?:het )?spijt me|(?:je suis )?(?:vraiment )?désolée?|lo siento(?: mucho)?|lamentablemente|disculpa|"
      "desculpe|sinto muito|lamento|infelizmente|mi dispiace|purtroppo|spiacente|извините|простите|к сожалению|прошу прощения|мне "
      "жаль|вибачте|"
      "на жаль|przepraszam|przykro "
      "mi|niestety|(?:很|非常|十分)?(?:抱歉|对不起|對不起|不好意思)|申し訳(?:ありません|ございません)|すみません|"
      "恐れ入ります|ごめんなさい|죄송합니다|죄송하지만|미안하지만)[.!。！]?)+");
  // "Cannot", in the rest of that sentence. English has many things that one cannot do, so there it takes a verb of service.
  static const RE2 kUnable(
      "(?i)(?:^[\\s,;:—–-]*(?:but |however,? |that )?|\\bi |\\bi)(?:can['’]?t|can ?not|won['’]?t|will not|am unable to|am not able "
      "to|['’]m unable to|"
      "['’]m not able to|must decline|have to decline|['’]m not comfortable) ?"
      "(?:$|\\b(?:help|assist|answer|provide|comply|fulfill?|do "
      "(?:that|this)|discuss|engage|create|generate|write|support|participate|respond|share|"
      "give|offer|complete|continue|process|to|with)\\b)|"
      "\\b(?:kann|darf|möchte)\\b.*\\b(?:nicht|keine)|\\bkan\\b.*\\bniet\\b|\\bne (?:peux|puis)\\b|\\bno puedo\\b|não "
      "(?:posso|consigo)\\b|\\bnon posso\\b|"
      "не (?:могу|смогу|в состоянии)|не можу|nie mogę|无法|無法|不能|没办法|沒辦法|(?:でき|いたしかね|しかね)ま|수 없|어렵습니다");
  // Without an apology.
  static const RE2 kFlat(
      "(?i)[\\s*_#\"]*(?:as an ai[^.!?\\n]*, )?(?:i (?:can['’]?t|can ?not|won['’]?t|will not|am unable to|am not able to)|i['’]m "
      "(?:unable|not able) to) "
      "(?:help (?:you )?(?:with|to)|assist|answer|provide|comply|fulfill?|do "
      "that|discuss|engage|create|generate|support|participate|respond|share)\\b|"
      "[\\s*_#\"]*i (?:must|have to|need to) (?:respectfully |politely )?decline\\b|[\\s*_#\"]*i (?:respectfully |politely "
      ")?(?:decline|refuse) to\\b|"
      "[\\s*_#\"]*i (?:do not|don['’]t) have (?:enough|sufficient) information to\\b|leider (?:kann|darf) ich\\b.*\\b(?:nicht|keine)|"
      "ich kann (?:dir|ihnen|dabei|das|diese|darauf)\\b.*\\bnicht (?:helfen|beantworten|antworten|weiterhelfen|unterstützen)|"
      "je ne (?:peux|puis) (?:malheureusement )?pas (?:vous |t['’]|y )?(?:aider|répondre|fournir|accéder)|"
      "no puedo (?:ayudar|responder|proporcionar|cumplir)|não posso (?:ajudar|responder|fornecer)|non posso (?:aiutar|rispondere|fornire)|"
      "я не могу (?:помочь|ответить|предоставить|выполнить)|我(?:无法|無法|不能)(?:回答|提供|协助|協助|帮助|幫助|满足|完成)");
  static const RE2 kIgnorance(
      "(?i)[\\s*_\"]*(?:(?:i['’]?m sorry|sorry)[,.;]? (?:but )?)?(?:i (?:really |honestly )?(?:don['’]t|do not) know(?: the answer| this)?|"
      "(?:i have )?no idea|ich wei(?:ß|ss) es nicht|je ne sais pas|no lo sé|não sei|non lo so|я не знаю|не "
      "знаю|我不知道|不知道|わかりません|"
      "分かりません|모르겠습니다)[\\s*_\".!。]*");
  text = trimmed(text);
  if (text.size() > kRefusalBytesMax) return false;
  const re2::StringPiece whole(text.data(), text.size());
  if (RE2::FullMatch(whole, kIgnorance)) return true;
  re2::StringPiece rest = whole;
  if (!RE2::Consume(&rest, kApology)) return kFlat.Match(whole, 0, whole.size(), RE2::ANCHOR_START, nullptr, 0);
  const std::string_view sentence = first_sentence({rest.data(), rest.size()});
  return RE2::PartialMatch({sentence.data(), sentence.size()}, kUnable);
}

}  // namespace margin::elicit
