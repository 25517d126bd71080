package openai

// Stream makes the chunks of one streamed answer.
type Stream struct {
	ID      string
	Model   string
	Created int64 // unix seconds
}

func (s Stream) chunk(choices ...ChunkChoice) Chunk {
	if choices == nil {
		choices = []ChunkChoice{}
	}
	return Chunk{ID: s.ID, Object: "chat.completion.chunk", Created: s.Created, Model: s.Model, Choices: choices}
}

// Role is the first chunk: it names the speaker and has no text yet.
func (s Stream) Role() Chunk {
	var empty string
	return s.chunk(ChunkChoice{Delta: Delta{Role: Assistant, Content: &empty}})
}

// Text adds text.
func (s Stream) Text(text string) Chunk {
	return s.chunk(ChunkChoice{Delta: Delta{Content: &text}})
}

// Finish is the last chunk with a choice.
func (s Stream) Finish(reason string) Chunk {
	return s.chunk(ChunkChoice{FinishReason: &reason})
}

// Usage is the chunk after the last, for who asked for it.
func (s Stream) Usage(u *Usage) Chunk {
	c := s.chunk()
	c.Usage = u
	return c
}
