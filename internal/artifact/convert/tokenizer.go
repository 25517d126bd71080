package convert

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/model/formats/tokenizer"
	"github.com/gorizond/koldun/internal/model/jinja/chat"
)

// tokenizer converts the tokenizer files. The rules are nil if they cannot
// express how the tokenizer works. It logs a warning about what the engine will
// not handle well.
func (s *source) tokenizer(ctx context.Context, log *slog.Logger) (tokenizer.File, *tokenizer.Rules, error) {
	var in tokenizer.Files
	for _, f := range []struct {
		name  string
		limit int64
		into  *[]byte
	}{
		{"config.json", maxConfig, &in.Config},
		{"generation_config.json", maxSmall, &in.GenerationConfig},
		{"tokenizer_config.json", maxSmall, &in.TokenizerConfig},
		{"tokenizer.json", maxTokenizer, &in.TokenizerJSON},
		{"tokenizer.model", maxTokenizer, &in.SentencePiece},
		{"added_tokens.json", maxSmall, &in.AddedTokens},
		{"chat_template.jinja", maxSmall, &in.ChatTemplate},
	} {
		var err error
		if *f.into, err = s.optional(ctx, f.name, f.limit); err != nil {
			return tokenizer.File{}, nil, err
		}
	}
	f, err := tokenizer.FromHuggingFace(in)
	if err != nil {
		return tokenizer.File{}, nil, err
	}
	if err := probe(ctx, f); err != nil {
		return tokenizer.File{}, nil, err
	}
	rules, err := tokenizer.RulesFromHuggingFace(in, f)
	if err != nil {
		log.Warn("the tokenizer has rules that a conversion cannot keep, so tokens of text can differ from those of the original", "cause", err)
	}
	if f.ChatTemplate == "" {
		log.Warn("tokenizer has no chat template", "source", s.store.URL())
	}
	if f.BOS < 256 {
		log.Warn("tokenizer has few tokens before bos, so distributed-llama encodes text byte by byte", "bos", f.BOS)
	}
	return f, rules, nil
}

// probe refuses a chat template that cannot be evaluated or whose prompt lacks
// a message: better now than in the first request.
func probe(ctx context.Context, f tokenizer.File) error {
	if f.ChatTemplate == "" {
		return nil
	}
	t, err := chat.Parse(f.ChatTemplate, f.Tokens[f.BOS].Text, f.Tokens[f.EOS[0]].Text)
	if err == nil {
		err = t.Probe(ctx)
	}
	if err != nil {
		return fault.As(fault.KindOf(err), fmt.Errorf("cannot convert tokenizer: %w", err))
	}
	return nil
}
