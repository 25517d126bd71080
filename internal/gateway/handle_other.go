package gateway

import "net/http"

func handleUnknown(w http.ResponseWriter, _ *http.Request) { refuse(w, errNoEndpoint()) }

func onlyMethods(allowed string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", allowed)
		refuse(w, errMethod(allowed))
	})
}
