package gateway

import "github.com/gorizond/koldun/internal/openai"

// conversation names the conversation of a request, with the gateway's key.
func (g *Gateway) conversation(tenant, explicit string, messages []openai.Message) string {
	return openai.Conversation(g.cfg.HashKey, tenant, explicit, messages)
}
