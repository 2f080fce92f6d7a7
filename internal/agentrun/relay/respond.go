package relay

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"company/internal/adapters"
	"company/internal/lib/safetext"
)

// bodyTime limits the time in which a body comes. It comes from a container of this machine.
const bodyTime = time.Minute

// readBody reads the body of a request, which may be compressed.
func (r *Relay) readBody(w http.ResponseWriter, request *http.Request) ([]byte, error) {
	control := http.NewResponseController(w)
	// A ResponseWriter without deadlines ends with its server.
	_ = control.SetReadDeadline(time.Now().Add(bodyTime))
	defer func() { _ = control.SetReadDeadline(time.Time{}) }()
	defer context.AfterFunc(r.ctx, func() { _ = control.SetReadDeadline(time.Now()) })()
	var body io.Reader = http.MaxBytesReader(w, request.Body, maxBody)
	switch encoding := request.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
	case "gzip":
		inflated, err := gzip.NewReader(body)
		if err != nil {
			return nil, newRefusal("the body is not gzip")
		}
		body = inflated
	default:
		return nil, newRefusal("the content encoding %q is not understood", encoding)
	}
	data, err := io.ReadAll(io.LimitReader(body, maxBody+1))
	switch {
	case err != nil:
		return nil, newRefusal("the body cannot be read: %s", err)
	case len(data) > maxBody:
		return nil, newRefusal("the request has more than %d MiB", maxBody>>20)
	}
	return data, nil
}

// writeError answers with an error in the form of a wire.
func writeError(w http.ResponseWriter, wire adapters.Wire, status int, message string) {
	fault := map[string]any{"type": "invalid_request_error", "message": safetext.Cut(message, 1<<10)}
	answer := map[string]any{"error": fault}
	if wire == adapters.WireMessages {
		answer["type"] = "error"
	}
	writeJSON(w, status, answer)
}

func writeJSON(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // the program may be gone
}

// listModels answers with the one model that there is.
func (r *Relay) listModels(w http.ResponseWriter) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "has_more": false, "data": []any{map[string]any{
		"id": r.info.Model, "object": "model", "type": "model", "display_name": r.info.Model, "owned_by": "company"}}})
}

// bytesPerToken is about what a token covers.
const bytesPerToken = 4

// countTokens estimates the tokens of a request, without asking the server.
func (r *Relay) countTokens(w http.ResponseWriter, request *http.Request) {
	document, err := r.readRequest(w, request, adapters.WireMessages)
	if err != nil {
		writeError(w, adapters.WireMessages, http.StatusBadRequest, err.Error())
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"input_tokens": adapters.InputBound(document.request) / bytesPerToken})
}
