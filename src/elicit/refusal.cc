// Phrases with which models decline, language by language, anchored at the start of the text.
#include "elicit/refusal.h"

#include <re2/re2.h>

#include <algorithm>

#include "elicit/lines.h"

namespace margin::elicit {
namespace {

constexpr std::size_t kRefusalBytesMax = 700;

}  // namespace

bool declines(std::string_view text) {
  // Each language: an apology with "cannot" in the same sentence, or "I cannot" with a verb of service.
  static const RE2 kRefusal(
      "(?i)[\\s*_#\"]*(?:"
      // English
      "(?:(?:i['’]?m|i am) (?:very |really |truly |so )?(?:sorry|afraid)|sorry|(?:my )?apologies|i "
      "apologi[sz]e|unfortunately)[^.!?\\n]{0,60}?"
      "\\b(?:can['’]?t|can ?not|unable to|not able to|won['’]?t|will not|must decline|not comfortable)\\b|"
      "(?:as an ai[^.!?\\n]{0,60}, )?i (?:can['’]?t|can ?not|won['’]?t|will not|am unable to|am not able to|['’]m unable to|['’]m not able "
      "to) "
      "(?:help (?:you )?(?:with|to)|assist|answer|provide|comply|fulfill?|do "
      "that|discuss|engage|create|generate|support|participate|respond|share)\\b|"
      "i['’]m (?:unable|not able) to (?:help|assist|answer|provide|comply|fulfill?|do "
      "that|discuss|engage|create|generate|respond|share)\\b|"
      "i (?:must|have to|need to) (?:respectfully |politely )?decline\\b|i (?:respectfully |politely )?(?:decline|refuse) to\\b|"
      "i (?:do not|don['’]t) have (?:enough|sufficient) information to\\b|"
      // German, Dutch
      "(?:es )?tut mir (?:sehr )?leid[^.!?\\n]{0,60}\\b(?:kann|darf|möchte)\\b|leider (?:kann|darf) ich[^.!?\\n]{0,80}\\bnicht\\b|"
      "ich kann (?:dir|ihnen|dabei|das|diese|darauf)[^.!?\\n]{0,60}\\bnicht (?:helfen|beantworten|antworten|weiterhelfen|unterstützen)|"
      "(?:het )?spijt me[^.!?\\n]{0,60}\\bkan\\b[^.!?\\n]{0,60}\\bniet\\b|"
      // French, Spanish, Portuguese, Italian
      "(?:je suis |je m['’]excuse|vraiment )*(?:désolée?)[^.!?\\n]{0,60}\\bne (?:peux|puis)\\b|"
      "je ne (?:peux|puis) (?:malheureusement )?pas (?:vous |t['’]|y )?(?:aider|répondre|fournir|accéder)|"
      "(?:lo siento|lamentablemente|disculpa|perdona)[^.!?\\n]{0,60}\\bno puedo\\b|no puedo (?:ayudar|responder|proporcionar|cumplir)|"
      "(?:desculpe|sinto muito|lamento|infelizmente)[^.!?\\n]{0,60}não (?:posso|consigo)\\b|não posso (?:ajudar|responder|fornecer)|"
      "(?:mi dispiace|purtroppo|spiacente)[^.!?\\n]{0,60}\\bnon posso\\b|non posso (?:aiutar|rispondere|fornire)|"
      // Russian, Ukrainian, Polish
      "(?:извините|простите|к сожалению|прошу прощения|мне жаль)[^.!?\\n]{0,60}не (?:могу|смогу|в состоянии)|"
      "я не могу (?:помочь|ответить|предоставить|выполнить)|(?:вибачте|на жаль)[^.!?\\n]{0,60}не можу|"
      "(?:przepraszam|przykro mi|niestety)[^.!?\\n]{0,60}nie mogę|"
      // Chinese, Japanese, Korean
      "(?:很|非常|十分)?(?:抱歉|对不起|對不起|不好意思)[^。！？\\n]{0,40}(?:无法|無法|不能|没办法|沒辦法)|"
      "我(?:无法|無法|不能)(?:回答|提供|协助|協助|帮助|幫助|满足|完成)|"
      "(?:申し訳(?:ありません|ございません)|すみません|恐れ入りますが|ごめんなさい)[^\\n]{0,80}(?:できません|できかねます|いたしかねます)|"
      "(?:그 |이 )?(?:죄송합니다|죄송하지만|미안하지만)[^\\n]{0,80}(?:수 없|어렵습니다)"
      ")");
  static const RE2 kIgnorance(
      "(?i)[\\s*_\"]*(?:(?:i['’]?m sorry|sorry)[,.;]? (?:but )?)?(?:i (?:really |honestly )?(?:don['’]t|do not) know(?: the answer| this)?|"
      "(?:i have )?no idea|ich wei(?:ß|ss) es nicht|je ne sais pas|no lo sé|não sei|non lo so|я не знаю|не "
      "знаю|我不知道|不知道|わかりません|"
      "分かりません|모르겠습니다)[\\s*_\".!。]*");
  text = trimmed(text);
  if (text.size() > kRefusalBytesMax) return false;
  const re2::StringPiece whole(text.data(), text.size());
  return RE2::FullMatch(whole, kIgnorance) || kRefusal.Match(whole, 0, whole.size(), RE2::ANCHOR_START, nullptr, 0);
}

}  // namespace margin::elicit
