package anthropic_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"company/internal/adapters"
)

// A request that another client wrote gets the model, the limit and a budget of thinking that fits.
func TestForwardedRequestIsFitted(t *testing.T) {
	url, got := echoServer(t, nil)
	client := newClient(t, adapters.Profile{Model: "m", BaseURL: url})
	for limit, want := range map[int]string{4096: "map[budget_tokens:2048 type:enabled]", 1500: "<nil>",
		9000: "map[budget_tokens:8000 type:enabled]"} {
		var copied bytes.Buffer
		resp, err := client.Forward(t.Context(), adapters.Request{MaxTokens: limit}, adapters.Forwarded{
			Body: map[string]json.RawMessage{"messages": json.RawMessage(`[{"role":"user","content":"hi"}]`),
				"thinking": json.RawMessage(`{"type":"enabled","budget_tokens":8000}`)},
			Header: http.Header{"Anthropic-Beta": {"a-beta"}}, Begin: func(string) io.Writer { return &copied },
			Learnt: &adapters.Learnt{}})
		if err != nil || resp.Message.Content != "ok" || copied.String() != ok {
			t.Fatalf("%+v, %v, copied %q", resp, err, copied.String())
		}
		sent := got()[len(got())-1]
		if fmt.Sprint(sent.Body["thinking"]) != want || fmt.Sprint(sent.Body["max_tokens"]) != fmt.Sprint(limit) ||
			sent.Body["model"] != "m" || sent.Header.Get("Anthropic-Beta") != "a-beta" {
			t.Errorf("%d: %v %v", limit, sent.Body, sent.Header)
		}
	}
}
