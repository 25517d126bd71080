// Package ask asks models by the official client of OpenAI's API, as users do.
package ask

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/gorizond/koldun/test/waittest"
)

// answerWithin is the time limit for an answer, whose engine may have to start first.
const answerWithin = 3 * time.Minute

// errBroken is the error for a stream that ended before the answer.
var errBroken = errors.New("the stream broke") //nolint:gochecknoglobals // a sentinel

// A Client asks the API at one URL, each request once. Its errors hold an *openai.Error if the
// API refused the request, and an *ssestream.StreamError if it ended a stream with an error.
// All others are broken connections, or answers that no gateway should give.
type Client struct{ api openai.Client }

// New returns a client that sends no token if it is empty.
func New(by *http.Client, url, token string) Client {
	options := []option.RequestOption{option.WithHTTPClient(by), option.WithBaseURL(url), option.WithAPIKey(token), option.WithMaxRetries(0)}
	if token == "" {
		options = append(options, option.WithHeaderDel("Authorization"))
	}
	return Client{openai.NewClient(options...)}
}

// Models returns the names of all models.
func (c Client) Models(ctx context.Context) (names []string, err error) {
	page, err := c.api.Models.List(ctx)
	if err != nil {
		return nil, said(err)
	}
	for _, m := range page.Data {
		names = append(names, m.ID)
	}
	return names, nil
}

// Stream asks a question, and returns the streamed text, and the time until its first part.
func (c Client) Stream(ctx context.Context, model, question string) (first time.Duration, text string, err error) {
	ctx, cancel := context.WithTimeout(ctx, waittest.Limit(answerWithin))
	defer cancel()
	began, ended := time.Now(), false
	stream := c.api.Chat.Completions.NewStreaming(ctx, chat(model, question))
	defer func() { _ = stream.Close() }()
	for stream.Next() {
		for _, choice := range stream.Current().Choices {
			if text == "" && choice.Delta.Content != "" {
				first = time.Since(began)
			}
			text += choice.Delta.Content
			ended = ended || choice.FinishReason != ""
		}
	}
	if err := stream.Err(); err != nil {
		return first, text, said(err)
	}
	if !ended { // the client takes the end of the connection for the end of the answer
		return first, text, fmt.Errorf("%w after %q", errBroken, text)
	}
	return first, text, nil
}

// Whole asks a question without a stream, and returns the text, and which Dllama or Session
// answered.
func (c Client) Whole(ctx context.Context, model, question string) (text, member string, err error) {
	ctx, cancel := context.WithTimeout(ctx, waittest.Limit(answerWithin))
	defer cancel()
	var rsp *http.Response
	got, err := c.api.Chat.Completions.New(ctx, chat(model, question), option.WithResponseInto(&rsp))
	if err != nil {
		return "", "", said(err)
	}
	if got.Model != model || len(got.Choices) != 1 {
		return "", "", fmt.Errorf("it is no answer of %q: %s", model, got.RawJSON())
	}
	return got.Choices[0].Message.Content, rsp.Header.Get("X-Koldun-Member"), nil
}

func chat(model, question string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)}}
}

// said adds what the API said to an error of the client, which tells the status alone.
func said(err error) error {
	var refused *openai.Error
	if errors.As(err, &refused) {
		return fmt.Errorf("%w: %s: %s", err, refused.Code, refused.Message)
	}
	return err
}
