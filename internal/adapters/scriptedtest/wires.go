// Package scriptedtest adds to the server of a scripted model what tests need of it: the protocols of Ollama and
// Anthropic, OpenAI's responses, and a model without tools.
package scriptedtest

import (
	"net/http"

	"company/internal/adapters/scripted"
)

// OtherWires lets a server speak the protocols of Ollama and Anthropic, and OpenAI's responses, too.
func OtherWires() scripted.Option {
	return func(s *scripted.Server) {
		s.Speak("POST /v1/messages", anthropic)
		s.Speak("POST /v1/responses", responses)
		s.Speak("POST /api/chat", ollama)
		s.Handle("POST /api/show", showModel("completion", "tools", "vision"))
		s.Handle("GET /api/tags", func(w http.ResponseWriter, _ *http.Request) {
			models := []any{map[string]any{"name": "scripted:latest", "model": "scripted:latest"}}
			scripted.WriteJSON(w, http.StatusOK, map[string]any{"models": models})
		})
	}
}

// showModel describes any model with these capabilities.
func showModel(capabilities ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		scripted.WriteJSON(w, http.StatusOK, map[string]any{
			"capabilities": capabilities,
			"model_info":   map[string]any{"general.architecture": "scripted", "scripted.context_length": 131072},
		})
	}
}
