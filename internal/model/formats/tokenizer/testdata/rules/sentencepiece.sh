#!/usr/bin/env bash
# Writes the models of sentencepiece and the tokens that it makes of each text in
# expected.json without a line break. README.md says how to run it.
set -euo pipefail
work=$(mktemp -d)
node -e '
const fs = require("fs");
const corpus = fs.readFileSync("generate.mjs", "utf8").match(/const corpus = `([^]*?)`;/)[1];
fs.writeFileSync(process.argv[1] + "/corpus", eval("`" + corpus + "`") + "\nthe cat sat on the mat and the hat. that is what it is, isn\u0027t it? hello world\n");
const texts = JSON.parse(fs.readFileSync("expected.json")).texts.filter((t) => !/[\n\r\0]|<\/?s>|<unk>/.test(t));
fs.writeFileSync(process.argv[1] + "/texts", texts.join("\n") + "\n");
' "$work"
train() {
	spm_train --input="$work/corpus" --model_prefix="$work/$1" --model_type=bpe --hard_vocab_limit=false --character_coverage=0.98 \
		--normalization_rule_name=identity --remove_extra_whitespaces=false "${@:2}" 2>"$work/log" || { cat "$work/log"; exit 1; }
	spm_encode --model="$work/$1.model" --output_format=id <"$work/texts" >"$work/$1.ids"
	cp "$work/$1.model" "sentencepiece-$1.model"
}
train bytes --vocab_size=620 --byte_fallback=true --user_defined_symbols='[UD],▁▁▁'
train unknown --vocab_size=400 --add_dummy_prefix=false
node -e '
const fs = require("fs");
const lines = (name) => fs.readFileSync(process.argv[1] + "/" + name, "utf8").split("\n").slice(0, -1);
const ids = (name) => lines(name).map((l) => l.split(" ").filter(Boolean).map(Number));
const out = { texts: lines("texts"), bytes: ids("bytes.ids"), unknown: ids("unknown.ids") };
fs.writeFileSync("sentencepiece.json", "{\n" + Object.entries(out).map(([k, v]) => JSON.stringify(k) + ": " + JSON.stringify(v)).join(",\n") + "\n}\n");
' "$work"
rm -r "$work"
