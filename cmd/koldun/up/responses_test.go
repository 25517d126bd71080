package up_test

import (
	"context"
	"errors"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/gorizond/koldun/cmd/koldun/programtest"
	"github.com/gorizond/koldun/test/waittest"
)

// A claim with the field stores responses, and a later request continues one by its id.
func TestUpStoresResponses(t *testing.T) {
	t.Parallel()
	claim := edited(t, `allowAnonymous: true`, "allowAnonymous: true\n    responses: {ttl: 1h, maxBytes: 8Mi}")
	p := programtest.Start(t, "up", "-f", claim, "--hub-dir", models, "--data", t.TempDir(), "--port", "koldun-tiny-gateway=0", "--ask", "")
	url := endpoint(t, p)
	client := openai.NewClient(option.WithBaseURL(url), option.WithAPIKey("none"), option.WithMaxRetries(0))
	ctx := waittest.Context(t)
	params := responses.ResponseNewParams{Model: "default/koldun-tiny", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(question)}}
	first, err := client.Responses.New(ctx, params)
	if err != nil {
		t.Fatal(err)
	}
	if first.OutputText() != answer || first.JSON.ExtraFields["store"].Raw() != "true" {
		t.Errorf("the response is %s", first.RawJSON())
	}
	params.PreviousResponseID = openai.String(first.ID)
	second, err := client.Responses.New(ctx, params)
	if err != nil {
		t.Fatal(err)
	}
	if second.PreviousResponseID != first.ID || second.Usage.InputTokens <= first.Usage.InputTokens {
		t.Errorf("%s does not continue %s", second.RawJSON(), first.RawJSON())
	}
	if err := client.Responses.Delete(ctx, first.ID); err != nil {
		t.Fatal(err)
	}
	wantNoResponse(ctx, t, client, first.ID)
	checkCompliance(t, url)
	checkStopSequences(t, url)
	p.Interrupt(t)
	if code := p.Exit(t); code != 0 {
		t.Errorf("exit status %d", code)
	}
}

// checkNothingStored holds that the quickstart, whose claim stores no responses, says so
// and refuses the id of one.
func checkNothingStored(ctx context.Context, t *testing.T, client openai.Client) {
	t.Helper()
	got, err := client.Responses.New(ctx, responses.ResponseNewParams{
		Model: "default/koldun-tiny", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(question)}, Store: openai.Bool(true),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.OutputText() != answer || got.JSON.ExtraFields["store"].Raw() != "false" {
		t.Errorf("the response is %s", got.RawJSON())
	}
	wantNoResponse(ctx, t, client, got.ID)
}

// wantNoResponse holds that no request can continue a response.
func wantNoResponse(ctx context.Context, t *testing.T, client openai.Client, id string) {
	t.Helper()
	_, err := client.Responses.New(ctx, responses.ResponseNewParams{
		Model: "default/koldun-tiny", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(question)}, PreviousResponseID: openai.String(id),
	})
	var refused *openai.Error
	if !errors.As(err, &refused) || refused.StatusCode != 400 || refused.Param != "previous_response_id" || refused.Code != "previous_response_not_found" {
		t.Errorf("a request continues a response that is not stored: %v", err)
	}
}
