package engineapi

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/gorizond/koldun/internal/fault"
	"github.com/gorizond/koldun/internal/openai"
)

// An Embedding asks for the vectors of inputs.
type Embedding struct {
	Input      json.RawMessage // an array
	Count      int             // of its items
	Dimensions int             // 0: as many as the model has
	// More are parameters that some servers honour.
	More map[string]json.RawMessage
}

// decodeEmbedding decodes the normal form of a request for embeddings.
func decodeEmbedding(_ openai.Operation, body []byte) (Request, openai.Request, error) {
	r, err := openai.ParseEmbedding(body)
	if err != nil {
		return nil, openai.Request{}, err
	}
	return Embedding{Input: r.Input, Count: r.Count, Dimensions: r.Dimensions, More: r.Extra}, r.Request(), nil
}

// call asks for base64, which is exact and short. Upstream does not announce the
// operation, so that it is never asked.
func (e Embedding) call() (call, error) {
	body := map[string]any{"input": e.Input, "encoding_format": "base64"}
	if e.Dimensions > 0 {
		body["dimensions"] = e.Dimensions
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		return call{}, fault.Errorf(fault.Invalid, "cannot ask the engine: %w", err)
	}
	return call{path: "/v1/embeddings", body: encoded, contentType: "application/json", read: func(x *exchange, r io.Reader) error {
		return e.read(x, &x.result, "engine at "+x.addr, r)
	}}, nil
}

func (e Embedding) ask(s *Server) (serverAsk, error) {
	body := map[string]any{"model": s.cfg.Model, "input": e.Input}
	s.copyHonoured(body, e.More)
	if e.Dimensions > 0 {
		body["dimensions"] = e.Dimensions
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		return serverAsk{}, fault.Errorf(fault.Invalid, "cannot ask the server: %w", err)
	}
	return serverAsk{path: "/embeddings", body: encoded, contentType: "application/json", read: func(a *answer, r io.Reader) error {
		return e.read(a, &a.result, "server at "+a.server.base, r)
	}}, nil
}

const (
	maxEmbeddingsJSON = 64 << 20  // bytes of a server's answer
	embeddingsPiece   = 128 << 10 // bytes of a piece, which has to fit into a message
	embeddingJSON     = 48        // bytes around a vector in a piece, at most
)

// A collector passes on the pieces of an answer.
type collector interface {
	add(text string, parts *openai.Parts) error
	size() int // bytes that are not passed on yet
	deliver() error
}

// read passes on the vectors in pieces. The source appears in errors.
func (e Embedding) read(a collector, result *Result, source string, r io.Reader) error {
	var list struct {
		Data []struct {
			Index     int             `json:"index"`
			Embedding json.RawMessage `json:"embedding"`
		} `json:"data"`
		Usage *openai.Usage `json:"usage"`
	}
	if err := json.NewDecoder(io.LimitReader(r, maxEmbeddingsJSON)).Decode(&list); err != nil {
		return fault.Errorf(fault.Transient, "cannot read the embeddings of the %s: %w", source, err)
	}
	if len(list.Data) != e.Count {
		return fault.Errorf(fault.Transient, "cannot use the embeddings of the %s: there are %d, not %d", source, len(list.Data), e.Count)
	}
	all := make([]openai.Embedding, 0, e.Count)
	seen, size := make([]bool, e.Count), 0
	for _, d := range list.Data {
		v, err := vector(d.Embedding)
		switch {
		case d.Index < 0 || d.Index >= e.Count:
			err = errors.New("there is no such input")
		case seen[d.Index]:
			err = errors.New("it comes twice")
		}
		if err != nil {
			return fault.Errorf(fault.Transient, "cannot use the embedding of input %d of the %s: %w", d.Index, source, err)
		}
		all = append(all, openai.Embedding{Index: d.Index, Vector: v})
		seen[d.Index] = true
		size += len(v) + embeddingJSON
	}
	if size > openai.MaxEmbeddings {
		return fault.As(fault.Invalid, openai.TooManyEmbeddings(e.Count, size))
	}
	for _, one := range all {
		if err := a.add("", &openai.Parts{Embeddings: []openai.Embedding{one}}); err != nil {
			return err
		}
		if a.size() >= embeddingsPiece {
			if err := a.deliver(); err != nil {
				return err
			}
		}
	}
	result.Deltas, result.FinishReason, result.Usage = 0, openai.FinishStop, list.Usage
	return a.deliver()
}

// vector reads a list of numbers, or base64 of the form that it returns.
func vector(raw json.RawMessage) (string, error) {
	var encoded string
	if json.Unmarshal(raw, &encoded) == nil {
		data, err := base64.StdEncoding.DecodeString(encoded)
		if err == nil && (len(data) == 0 || len(data)%4 != 0) {
			err = fmt.Errorf("%d bytes are not a list of float32", len(data))
		}
		return encoded, err
	}
	var numbers []float32
	if err := json.Unmarshal(raw, &numbers); err != nil {
		return "", err
	}
	if len(numbers) == 0 {
		return "", errors.New("it is empty")
	}
	return openai.NewEmbedding(0, numbers).Vector, nil
}
