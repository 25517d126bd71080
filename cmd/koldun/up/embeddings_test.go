package up_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/openai/openai-go/v3"
)

// checkEmbeddings asks the quickstart for embeddings: a text is nearer to itself than
// to another, in any encoding and with fewer dimensions.
func checkEmbeddings(ctx context.Context, t *testing.T, client openai.Client) {
	t.Helper()
	params := openai.EmbeddingNewParams{
		Model: "default/koldun-tiny",
		Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{question, "Count to 100", question}},
	}
	whole, err := client.Embeddings.New(ctx, params)
	if err != nil {
		t.Fatal(err)
	}
	if len(whole.Data) != 3 || whole.Usage.PromptTokens == 0 {
		t.Fatalf("got %d embeddings, usage %+v", len(whole.Data), whole.Usage)
	}
	a, b, c := whole.Data[0].Embedding, whole.Data[1].Embedding, whole.Data[2].Embedding
	if same, other := cosine(a, c), cosine(a, b); same < .9999 || other > .999 {
		t.Errorf("the cosine of a text with itself is %g, with another %g", same, other)
	}
	params.Dimensions = openai.Int(int64(len(a) / 2))
	short, err := client.Embeddings.New(ctx, params)
	if err != nil {
		t.Fatal(err)
	}
	got := short.Data[0].Embedding
	if length := cosine(got, got); len(got) != len(a)/2 || math.Abs(length-1) > 1e-4 {
		t.Errorf("%d dimensions with a length of %g", len(got), length)
	}
	params.Dimensions = openai.Int(int64(len(a) + 1))
	var refused *openai.Error
	if _, err := client.Embeddings.New(ctx, params); !errors.As(err, &refused) || refused.StatusCode != 400 || refused.Param != "dimensions" {
		t.Errorf("too many dimensions: %v", err)
	}
}

// cosine returns the cosine of vectors with a length of 1.
func cosine(a, b []float64) float64 {
	var sum float64
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}
