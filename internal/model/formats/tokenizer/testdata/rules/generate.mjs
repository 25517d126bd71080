// Writes the expected tokens of tokenizers in the shape of real ones, with
// Hugging Face's own library. README.md says how to run it.
import { writeFileSync } from "node:fs";
import hf from "tokenizers";

const corpus = `The quick brown fox jumps over the lazy dog. It's what they've said: we'll see, I'm sure, you're right, he'd go, don't!
In 2024 there were 1234567 users and 3.14159 reasons; the price was $1,299.99 (or 50% off) at http://example.com/a/b?c=d&e=f#g.
def main(args):\n    for i in range(10):\n        print(i, "hello world")\n\treturn None\n\n\nHELLO World hello WORLD HelloWorld camelCaseWords
Grüße aus Köln, naïve café, déjà vu, Ärger über Öl, señor, Ångström. Привет, мир! Как дела? Ещё раз привет.
日本語のテキストと中文的文本。你好世界，今天天气很好。東京タワー 한국어 텍스트 안녕하세요 สวัสดี مرحبا بالعالم שלום עולם नमस्ते दुनिया
emoji 🙂👍🏽👩‍👩‍👧‍👦 and more 🎉🎉. the the the and and of to in is that it for was on are as with his they at be this from have or by one had not but what all`;

// train returns the merges of the most frequent pairs.
function train(words, n) {
  const lists = words.map((w) => [...w]);
  const merges = [];
  while (merges.length < n) {
    const count = new Map();
    for (const l of lists) for (let i = 0; i + 1 < l.length; i++) {
      const key = l[i] + "\0" + l[i + 1];
      count.set(key, (count.get(key) ?? 0) + 1);
    }
    let best, most = 0;
    for (const [key, c] of count) if (c > most) [best, most] = [key, c];
    if (!best) break;
    const [a, b] = best.split("\0");
    merges.push([a, b]);
    for (const l of lists) for (let i = 0; i + 1 < l.length; i++) if (l[i] === a && l[i + 1] === b) l.splice(i, 2, a + b);
  }
  return merges;
}

// byteChar is GPT-2's table of characters for bytes.
const byteChar = [];
for (let b = 0, next = 256; b < 256; b++)
  byteChar.push(String.fromCodePoint((b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174 ? b : next++));
const asBytes = (s) => [...Buffer.from(s)].map((b) => byteChar[b]).join("");

const split = corpus.match(/[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+/gu);
// Merges beyond words, so that a missing split shows.
const across = [["e", " t"], ["'", "s"], ["1", "2"], ["12", "3"], ["123", "4"], ["o", "n"], [" ", "a"], ["\n", "\n"], ["  ", "  "], [".", "\n"], ["Ã", "©"]];
function model(words, alphabet, extra, write) {
  const vocab = {}, merges = [];
  const add = (t) => { if (!(t in vocab)) vocab[t] = Object.keys(vocab).length; };
  alphabet.forEach(add);
  [" Hello", "hello", "user", "1234"].forEach((t) => add(write(t))); // no merges make these
  for (const [a, b] of [...train(words, 420), ...extra.map(([a, b]) => [write(a), write(b)])]) {
    if (!(a in vocab && b in vocab) || merges.some(([x, y]) => x === a && y === b)) continue;
    add(a + b);
    merges.push([a, b]);
  }
  return { type: "BPE", vocab, merges };
}
const spaced = (s) => s.replaceAll(" ", "▁");
const bytes = [...Array(256).keys()].map((b) => "<0x" + b.toString(16).toUpperCase().padStart(2, "0") + ">");
const models = {
  bytes: model(split.map(asBytes), byteChar, across, asBytes),
  spaces: model(split.map(spaced), ["<unk>", "<s>", "</s>", ...bytes, "▁", "▁▁", "▁▁▁▁", "\n", "\n\n", ..."ĠĊéèāÃ©", ...new Set(spaced(corpus.replace(/[🎉Ö漢好]/gu, "")))], across, spaced),
};

const ByteLevel = (use_regex, add_prefix_space = false) => ({ type: "ByteLevel", add_prefix_space, trim_offsets: true, use_regex });
const Split = (regex, behavior = "Isolated", invert = false) => ({ type: "Split", pattern: { Regex: regex }, behavior, invert });
const Sequence = (...pretokenizers) => ({ type: "Sequence", pretokenizers });
const normalizers = (...list) => ({ type: "Sequence", normalizers: list });
const Replace = { type: "Replace", pattern: { String: " " }, content: "▁" };
const contractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const tail = "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

// special and ordinary added tokens: [text, special, other fields].
const chatML = [["<|endoftext|>", true], ["<|im_start|>", true], ["<|im_end|>", true], ["<tool_call>", false], ["</tool_call>", false], ["<think>", false]];
const llama3 = [["<|begin_of_text|>", true], ["<|start_header_id|>", true], ["<|end_header_id|>", true], ["<|eot_id|>", true]];
const sentencePiece = [["<unk>", true], ["<s>", true], ["</s>", true]];
const fallback = { byte_fallback: true, fuse_unk: true, unk_token: "<unk>" };
const tokenizers = {
  gpt2: { base: "bytes", pre_tokenizer: ByteLevel(true), added: [["<|endoftext|>", true]] },
  gpt2Prefix: { base: "bytes", pre_tokenizer: ByteLevel(true, true), added: [["<|endoftext|>", true], ["<pad>", true, { lstrip: true, rstrip: true }], ["word", false, { single_word: true }]] },
  llama3: { base: "bytes", pre_tokenizer: Sequence(Split(`${contractions}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|${tail}`), ByteLevel(false)), added: llama3, set: { ignore_merges: true } },
  qwen2: { base: "bytes", normalizer: { type: "NFC" }, pre_tokenizer: Sequence(Split(`${contractions}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|${tail}`), ByteLevel(false)), added: chatML },
  deepseek3: { base: "bytes", normalizer: normalizers(), pre_tokenizer: Sequence(Split("\\p{N}{1,3}"), Split("[一-龥぀-ゟ゠-ヿ]+"), Split("[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|" + tail), ByteLevel(false)), added: [["<｜begin▁of▁sentence｜>", true], ["<｜end▁of▁sentence｜>", true], ["<｜User｜>", false], ["<｜Assistant｜>", false]] },
  o200k: { base: "bytes", pre_tokenizer: Sequence(Split(`[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+${contractions}?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*${contractions}?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|${tail}`), ByteLevel(false)), added: [["<|endoftext|>", true], ["<|start|>", true], ["<|message|>", true]] },
  smollm: { base: "bytes", pre_tokenizer: Sequence({ type: "Digits", individual_digits: true }, ByteLevel(true)), added: chatML },
  removed: { base: "bytes", pre_tokenizer: Sequence({ type: "Punctuation", behavior: "Contiguous" }, Split("[\\r\\n]", "MergedWithPrevious"), Split("\\s?\\p{L}+", "MergedWithNext"), { type: "Digits", individual_digits: false }, ByteLevel(false)), added: [] },
  llama2: { base: "spaces", normalizer: normalizers({ type: "Prepend", prepend: "▁" }, Replace), pre_tokenizer: null, added: sentencePiece, set: fallback },
  llama2Normalized: { base: "spaces", normalizer: normalizers({ type: "Prepend", prepend: "▁" }, Replace), pre_tokenizer: null, added: sentencePiece.map(([t]) => [t, true, { normalized: true }]), set: fallback },
  mistral: { base: "spaces", pre_tokenizer: { type: "Metaspace", replacement: "▁", prepend_scheme: "first", split: false }, added: [...sentencePiece, ["[INST]", true], ["[/INST]", true]], set: fallback },
  gemma: { base: "spaces", normalizer: Replace, pre_tokenizer: { type: "Split", pattern: { String: " " }, behavior: "MergedWithPrevious", invert: false }, added: [...sentencePiece, ["\n\n", false], ["▁▁", false], ["▁▁▁▁", false], ["<start_of_turn>", true]], set: fallback },
  unknown: { base: "spaces", normalizer: { type: "NFKC" }, pre_tokenizer: { type: "Metaspace", replacement: "▁", prepend_scheme: "always", split: true }, added: sentencePiece, set: { fuse_unk: true, unk_token: "<unk>" } },
  unknownEach: { base: "spaces", normalizer: { type: "NFD" }, pre_tokenizer: { type: "WhitespaceSplit" }, added: sentencePiece, set: { fuse_unk: false, unk_token: "<unk>" } },
};

const texts = ["", " ", "  ", "   ", "a", " a", "  a", "   a", "a ", "a  ", "a b  c   d    e", "hello world", "Hello World", " hello", "hello\n", "hello\n\n", "hello \n world", "\n", "\n\n\n", "\r\n", "a\r\n\r\nb", "\t", "a\tb\t\tc", " \t \n x", "\n  x\n    y",
  "It's", "IT'S we'LL I'm you'Re they'vE he'd don't 'tis", "'ſ x'ſt", "can''t 's' '", "0", "12", "123", "1234", "12345678", "3.14 1,000,000", "x1y22z333", "２０２４ ½ Ⅳ ² ٣٤", "$1,299.99 (50%)", "a.b,c;d:e!f?g", "...!!!\n???", "foo_bar-baz/qux\\x", "http://example.com/a?b=c&d#e", "def f(x):\n    return x\n\n\tpass", "camelCaseWords HTTPServer ABC", "Grüße naïve café", "cafe\u0301 e\u0301\u0323 n\u0303", "\u0301start", "Å \u212b \u2126 ﬁ ½", "Привет, мир! Ещё", "日本語テキスト、中文。東京タワー", "한국어 \u1112\u1161\u11ab", "สวัสดี नमस्ते مرحبا שלום", "🙂", "👍🏽👩‍👩‍👧‍👦🇩🇪 🎉🎉", "x\ufe0fy\u200dz\u200b", "\u0000", "a\u0000b", "\u0001\u001c\u001f\u007f\u0085", "a\u00a0b\u3000c\u2009d\u1680\u2028e", "\ufeffbom", "\ufffd\uffff", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𠀀𠀁", "ĠĊ Ã© é è ā", "▁a ▁▁ b▁", "<0x41> <0x0A>", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", " ".repeat(40) + "x", "\n".repeat(20), "the ".repeat(30), "=".repeat(50), "eeeee ttttt eteteteteet", "word words sword word", "a[UD]b [UD]", "the    cat  sat",
  "<|endoftext|>", "a<|endoftext|>b", "<|im_start|>user\nhi there<|im_end|>\n<|im_start|>assistant\n", "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHello, world!<|eot_id|>", "<｜begin▁of▁sentence｜>You<｜User｜>1+1?<｜Assistant｜>", "<s>[INST] Hello </s> world [/INST]", " <s> a<s>b", "<start_of_turn>user\n\n\nhi    there<end_of_turn>", "<tool_call>\n{\"name\": \"f\"}\n</tool_call>", "x <pad> y <pad>", "<|im_start", "<|im_start|", "<<|im_end|>>", "<|start|>a<|message|>b", "<unk>"];

const expected = {}, definitions = {};
for (const [name, { base, added, set, ...rest }] of Object.entries(tokenizers)) {
  let next = Object.keys(models[base].vocab).length;
  const added_tokens = added.map(([content, special, fields]) => ({
    id: models[base].vocab[content] ?? next++, content, single_word: false, lstrip: false, rstrip: false, normalized: !special, special, ...fields,
  }));
  definitions[name] = { base, set: set ?? {}, normalizer: rest.normalizer ?? null, pre_tokenizer: rest.pre_tokenizer, added_tokens };
  const whole = { version: "1.0", truncation: null, padding: null, added_tokens, normalizer: rest.normalizer ?? null, pre_tokenizer: rest.pre_tokenizer, post_processor: null, decoder: null,
    model: { dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null, fuse_unk: false, byte_fallback: false, ignore_merges: false, ...models[base], ...set } };
  const t = hf.Tokenizer.fromString(JSON.stringify(whole));
  expected[name] = [];
  for (const text of texts) expected[name].push((await t.encode(text, null, { addSpecialTokens: false })).getIds());
}
const lines = (o) => "{\n" + Object.entries(o).map(([k, v]) => JSON.stringify(k) + ": " + JSON.stringify(v)).join(",\n") + "\n}\n";
writeFileSync("models.json", lines(models));
writeFileSync("tokenizers.json", lines(definitions));
writeFileSync("expected.json", lines({ texts, ...expected }));
