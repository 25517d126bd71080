package convert

import (
	"context"
	"log/slog"

	"github.com/gorizond/koldun/internal/formats/tokenizer"
)

// tokenizer converts the tokenizer files. It logs a warning about what the
// engine will not handle well.
func (s *source) tokenizer(ctx context.Context, log *slog.Logger) (tokenizer.File, error) {
	var in tokenizer.Files
	for _, f := range []struct {
		name  string
		limit int64
		into  *[]byte
	}{
		{"config.json", maxConfig, &in.Config},
		{"tokenizer_config.json", maxSmall, &in.TokenizerConfig},
		{"tokenizer.json", maxTokenizer, &in.TokenizerJSON},
		{"tokenizer.model", maxTokenizer, &in.SentencePiece},
		{"chat_template.jinja", maxSmall, &in.ChatTemplate},
	} {
		var err error
		if *f.into, err = s.optional(ctx, f.name, f.limit); err != nil {
			return tokenizer.File{}, err
		}
	}
	f, err := tokenizer.FromHuggingFace(in)
	if err != nil {
		return tokenizer.File{}, err
	}
	if f.ChatTemplate == "" {
		log.Warn("tokenizer has no chat template", "source", s.store.URL())
	}
	if f.BOS < 256 {
		log.Warn("tokenizer has few tokens before bos, so distributed-llama encodes text byte by byte", "bos", f.BOS)
	}
	return f, nil
}
