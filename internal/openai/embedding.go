package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

// maxInputs is the most inputs of one request for embeddings, as OpenAI has it.
const maxInputs = 2048

// MaxEmbeddings is the most bytes of the vectors of one answer in base64: answers
// pass through the queue, which keeps them for clients that lost a part.
const MaxEmbeddings = 4 << 20

// TooManyEmbeddings returns the refusal of a request whose answer would be larger
// than MaxEmbeddings.
func TooManyEmbeddings(inputs, size int) *Error {
	return BadRequest("input", CodeInvalidValue,
		fmt.Sprintf("the embeddings of %d inputs take %d bytes, and an answer holds %d: send fewer inputs at a time", inputs, size, MaxEmbeddings))
}

// An EmbeddingRequest is the body of POST /v1/embeddings in normal form: input is
// an array of texts, or of arrays of tokens.
type EmbeddingRequest struct {
	Model      string
	Input      json.RawMessage
	Count      int  // of the inputs
	Base64     bool // encoding_format
	Dimensions int  // 0: as many as the model has
	User       string
	Extra      map[string]json.RawMessage // fields that are not known here
	Needs      []Need
}

// ParseEmbedding reads and validates a request for embeddings
// (https://platform.openai.com/docs/api-reference/embeddings). The error names the
// parameter; it is always an *Error with status 400.
func ParseEmbedding(body []byte) (EmbeddingRequest, error) {
	if err := check(body); err != nil {
		return EmbeddingRequest{}, err
	}
	f := newFields(body)
	var model ChatRequest
	parseModel(f, &model)
	r := EmbeddingRequest{Model: model.Model}
	r.parseInput(f)
	switch format, _ := f.text("encoding_format"); format {
	case "", "float":
	case "base64":
		r.Base64 = true
	default:
		f.fail("encoding_format", CodeInvalidValue, "%s must be 'float' or 'base64'")
	}
	if n, ok := f.integer("dimensions", 1, math.MaxInt32); ok {
		r.Dimensions = int(n)
		f.need("dimensions", FeatureDimensions, "%s is not supported", "embeddings of a chosen length")
	}
	r.User, _ = f.text("user")
	extra := f.rest()
	if f.err != nil {
		return EmbeddingRequest{}, f.err
	}
	r.Needs = f.needs
	if len(extra) > 0 {
		r.Extra = extra
	}
	return r, nil
}

// parseInput accepts a text, an array of texts, of tokens, or of arrays of tokens.
func (r *EmbeddingRequest) parseInput(f *fields) {
	raw := f.take("input")
	if raw == nil {
		f.fail("input", CodeMissing, "%s is required: a string or an array of strings")
		return
	}
	kind := kindOf(raw)
	if kind == "an array" {
		for i, item := range elements(raw) {
			if i == 0 {
				kind = kindOf(item)
			}
			if kind == "a number" { // tokens of one input, which are checked below
				break
			}
			if i == maxInputs {
				f.fail("input", CodeInvalidValue, fmt.Sprintf("%%s must not hold more than %d inputs", maxInputs))
				return
			}
			if kindOf(item) != kind || kind == "an array" && !isTokens(item) {
				f.fail(fmt.Sprintf("input[%d]", i), CodeInvalidType, "%s must be like the other inputs: all strings, or all arrays of tokens")
				return
			}
			r.Count = i + 1
		}
	}
	switch {
	case kindOf(raw) == "a string":
		r.Input, r.Count = slices.Concat([]byte("["), raw, []byte("]")), 1
	case kindOf(raw) != "an array", kind != "a string" && kind != "an array" && kind != "a number":
		f.wrongType("input", "a string or an array of strings", raw)
	case isEmpty(raw):
		f.fail("input", CodeInvalidValue, "%s must not be empty")
	case kind == "a number":
		if !isTokens(raw) {
			f.fail("input", CodeInvalidType, "%s must hold strings or whole numbers")
		}
		r.Input, r.Count = slices.Concat([]byte("["), raw, []byte("]")), 1
	default:
		r.Input = raw
	}
}

// isTokens reports whether raw is an array of whole numbers, without keeping them.
func isTokens(raw json.RawMessage) bool {
	if kindOf(raw) != "an array" || isEmpty(raw) {
		return false
	}
	for _, item := range elements(raw) {
		if _, err := strconv.ParseUint(string(item), 10, 32); err != nil {
			return false
		}
	}
	return true
}

// Inputs returns the texts, or the arrays of tokens: one of both is nil.
func (r EmbeddingRequest) Inputs() (texts []string, tokens [][]int) {
	if json.Unmarshal(r.Input, &texts) == nil {
		return texts, nil
	}
	_ = json.Unmarshal(r.Input, &tokens) // ParseEmbedding has checked it
	return nil, tokens
}

// MarshalJSON writes the normal form.
func (r EmbeddingRequest) MarshalJSON() ([]byte, error) {
	out := make(map[string]any, 5+len(r.Extra))
	for k, v := range r.Extra {
		out[k] = v
	}
	out["model"], out["input"] = r.Model, r.Input
	if r.Base64 {
		out["encoding_format"] = "base64"
	}
	if r.Dimensions > 0 {
		out["dimensions"] = r.Dimensions
	}
	if r.User != "" {
		out["user"] = r.User
	}
	b := bytes.NewBuffer(make([]byte, 0, len(r.Input)+256))
	err := writeObject(b, out)
	return b.Bytes(), err
}

// DecodeEmbedding decodes the body of POST /v1/embeddings; see ParseEmbedding.
func DecodeEmbedding(body []byte) (Request, error) {
	r, err := ParseEmbedding(body)
	if err != nil {
		return Request{}, err
	}
	return r.Request(), nil
}

// Request returns what the parts between client and engine need to know.
func (r EmbeddingRequest) Request() Request {
	return Request{
		Operation: OperationEmbedding, Model: r.Model, PromptTokens: (len(r.Input) + 3) / 4,
		Ignored: slices.Sorted(maps.Keys(r.Extra)), Features: features(r.Needs), needs: r.Needs, Base64: r.Base64, Inputs: r.Count,
		encode: func(model string, _ int) ([]byte, error) {
			r.Model = model
			return r.MarshalJSON()
		},
	}
}

// An EmbeddingList is the answer to a request for embeddings.
type EmbeddingList struct {
	Object string          `json:"object"` // "list"
	Data   []EmbeddingItem `json:"data"`
	Model  string          `json:"model"`
	Usage  EmbeddingUsage  `json:"usage"`
}

// An EmbeddingItem is the vector of one input.
type EmbeddingItem struct {
	Object    string `json:"object"` // "embedding"
	Index     int    `json:"index"`
	Embedding any    `json:"embedding"` // []float32, or a string of base64
}

// EmbeddingUsage counts tokens.
type EmbeddingUsage struct {
	PromptTokens int `json:"prompt_tokens"`
	TotalTokens  int `json:"total_tokens"`
}

// NewEmbeddings is a complete answer.
func NewEmbeddings(model string, all []Embedding, inBase64 bool, usage *Usage) EmbeddingList {
	list := EmbeddingList{Object: "list", Data: make([]EmbeddingItem, 0, len(all)), Model: model}
	if usage != nil {
		list.Usage = EmbeddingUsage{PromptTokens: usage.PromptTokens, TotalTokens: usage.PromptTokens}
	}
	for _, e := range all {
		item := EmbeddingItem{Object: "embedding", Index: e.Index, Embedding: e.Vector}
		if !inBase64 {
			item.Embedding = e.floats()
		}
		list.Data = append(list.Data, item)
	}
	slices.SortStableFunc(list.Data, func(a, b EmbeddingItem) int { return a.Index - b.Index })
	return list
}

// NewEmbedding returns the vector of an input.
func NewEmbedding(index int, values []float32) Embedding {
	data := make([]byte, 0, 4*len(values))
	for _, x := range values {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	return Embedding{Index: index, Vector: base64.StdEncoding.EncodeToString(data)}
}

func (e Embedding) floats() []float32 {
	data, _ := base64.StdEncoding.DecodeString(e.Vector) // the sidecar has checked it
	out := make([]float32, 0, len(data)/4)
	for ; len(data) >= 4; data = data[4:] {
		out = append(out, math.Float32frombits(binary.LittleEndian.Uint32(data)))
	}
	return out
}
