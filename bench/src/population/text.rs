//! What people say: mostly short, with a long tail, in several scripts.

use crate::chance::Dice;

/// Half of all messages have fewer characters.
const CHARS_MEDIAN: f64 = 14.0;
/// How far lengths spread: the deviation of the logarithm.
const CHARS_SPREAD: f64 = 1.1;
/// Nobody writes more at once, in characters.
const CHARS_MAX: usize = 4000;

/// Words by script.
const WORDS: [&[&str]; 7] = [
    &["hello ", "tomorrow ", "ok ", "the ", "meeting ", "is ", "at ", "nine ", "why? ", "\"quoted\" "],
    &["你好", "明天", "我们", "吃饭", "吗？", "已添加为好友", "好的", "收到", "哈哈", "在路上"],
    &["こんにちは", "明日", "です", "ね", "ありがとう", "ｶﾀｶﾅ", "行きます"],
    &["안녕", "내일 ", "만나요 ", "네 ", "알겠습니다 "],
    &["привет ", "завтра ", "хорошо ", "нет ", "где ты? "],
    &["مرحبا ", "غدا ", "نعم ", "شكرا "],
    &["👍", "😂", "👨‍👩‍👧", "🎉", "e\u{301}", "\n", "🇩🇪"],
];

/// One message.
pub fn draw(dice: &mut Dice) -> String {
    let chars = (dice.log_normal(CHARS_MEDIAN, CHARS_SPREAD) as usize).clamp(1, CHARS_MAX);
    // Most people keep to one script and use another in between.
    let script = dice.below(WORDS.len());
    let mut text = String::new();
    let mut written = 0;
    while written < chars {
        let other = dice.happens(0.1);
        let script = if other { dice.below(WORDS.len()) } else { script };
        let word = dice.one(WORDS[script]).copied().unwrap_or_default();
        text.push_str(word);
        written += word.chars().count();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_messages_are_short_and_some_are_long() {
        let mut dice = Dice::new(1, "text");
        let mut lengths: Vec<usize> = (0..2000).map(|_| draw(&mut dice).chars().count()).collect();
        lengths.sort_unstable();
        assert!(lengths[0] >= 1 && lengths[1000] < 30, "{}", lengths[1000]);
        assert!(lengths[1990] > 100, "{}", lengths[1990]);
    }
}
