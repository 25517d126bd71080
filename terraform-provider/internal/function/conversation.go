package function

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gorizond/koldun/internal/openai"
)

// conversationHash returns the gateway's name of a conversation.
type conversationHash struct{}

func (conversationHash) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "conversation_hash"
}

func (conversationHash) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	message := types.ObjectType{AttrTypes: map[string]attr.Type{"role": types.StringType, "content": types.StringType}}
	resp.Definition = function.Definition{
		Summary: "How the gateway names a conversation",
		Description: "The name by which the gateway identifies a conversation, and by which requests find the runner that has its beginning in the cache: " +
			"for dashboards, and for sessions that are isolated by conversation.",
		Parameters: []function.Parameter{
			function.StringParameter{Name: "tenant", Description: "The first 16 hex digits of the SHA-256 of the API token."},
			function.StringParameter{Name: "conversation", Description: "What the client sends as `X-Koldun-Conversation`; empty if it sends nothing."},
			function.ListParameter{Name: "messages", ElementType: message, Description: "The messages. Without `conversation`, those up to the first one of the user count."},
			function.StringParameter{Name: "hash_secret", Description: "The gateway's hash secret: text, or `base64:` and base64. Empty if it has none."},
		},
		Return: function.StringReturn{},
	}
}

func (conversationHash) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var tenant, explicit, secret string
	var messages []struct {
		Role    string `tfsdk:"role"`
		Content string `tfsdk:"content"`
	}
	if resp.Error = req.Arguments.Get(ctx, &tenant, &explicit, &messages, &secret); resp.Error != nil {
		return
	}
	key, err := openai.ParseHashKey(secret)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(3, err.Error())
		return
	}
	if explicit == "" && len(messages) == 0 {
		resp.Error = function.NewArgumentFuncError(2, "without a conversation, messages say which it is: give one of both")
		return
	}
	var turns []openai.Message
	for _, m := range messages {
		turns = append(turns, openai.Message{Role: openai.Role(m.Role), Content: m.Content})
	}
	resp.Error = resp.Result.Set(ctx, openai.Conversation(key, tenant, explicit, turns))
}
