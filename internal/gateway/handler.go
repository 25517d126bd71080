package gateway

import "net/http"

// Handler is the API: its routes and what every request passes through. This
// is the only place where they are put together.
func (g *Gateway) Handler() http.Handler {
	var (
		chat   = g.authenticated(g.ask(chatDialect()))
		text   = g.authenticated(g.ask(completionDialect()))
		models = g.authenticated(http.HandlerFunc(g.handleModels))
		model  = g.authenticated(http.HandlerFunc(g.handleModel))
	)
	mux := http.NewServeMux()
	mux.Handle("POST /v1/chat/completions", named("chat", chat))
	mux.Handle("/v1/chat/completions", named("chat", onlyMethods("POST")))
	mux.Handle("POST /v1/completions", named("completion", text))
	mux.Handle("/v1/completions", named("completion", onlyMethods("POST")))
	mux.Handle("GET /v1/models", named("models", models))
	mux.Handle("/v1/models", named("models", onlyMethods("GET, HEAD")))
	mux.Handle("GET /v1/models/{id...}", named("model", model))
	mux.Handle("/v1/models/{id...}", named("model", onlyMethods("GET, HEAD")))
	mux.Handle("/", named("other", http.HandlerFunc(handleUnknown)))

	return g.around(g.shared(mux))
}
