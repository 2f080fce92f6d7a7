package openai_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"company/internal/adapters"
	"company/internal/adapters/adaptertest"
	"company/internal/adapters/openai"
)

// What is learnt of a server applies to requests that other clients wrote: the name of the limit, and members that it
// refuses. The reply is copied.
func TestForwardedRequestIsAdapted(t *testing.T) {
	url, got := echoServer(t, func(body map[string]any) string {
		for _, name := range []string{"max_tokens", "verbosity", "stream_options"} {
			if body[name] != nil {
				return "Unsupported parameter: '" + name + "' is not supported with this model."
			}
		}
		return ""
	})
	client := adaptertest.Open(t, openai.New, adapters.Profile{Model: "m", BaseURL: url, MaxOutput: 70},
		adapters.Deps{})
	var learnt adapters.Learnt
	for range 2 {
		var copied bytes.Buffer
		resp, err := client.Forward(t.Context(), adapters.Request{MaxTokens: 50}, adapters.Forwarded{
			Body: map[string]json.RawMessage{"messages": json.RawMessage(`[{"role":"user","content":"<hi>"}]`),
				"stream": json.RawMessage("true"), "verbosity": json.RawMessage(`"low"`),
				"max_tokens": json.RawMessage("9")},
			Begin: func(string) io.Writer { return &copied }, Learnt: &learnt})
		if err != nil || resp.Message.Content != "ok" || !strings.HasSuffix(copied.String(), "data: [DONE]\n\n") {
			t.Fatalf("%+v, %v, copied %q", resp, err, copied.String())
		}
	}
	last := got()[len(got())-1].Body
	if len(got()) != 5 || fmt.Sprint(last["max_completion_tokens"]) != "50" || last["model"] != "m" ||
		last["verbosity"] != nil ||
		!strings.Contains(fmt.Sprint(last["messages"]), "<hi>") {
		t.Errorf("%d requests, the last is %v", len(got()), last)
	}
	// What a program provokes is kept from others.
	adaptertest.Chat(t, client, adaptertest.Request())
	if own := got()[5].Body; own["max_tokens"] == nil || own["stream_options"] == nil {
		t.Errorf("the company's own request is %v", own)
	}
}
