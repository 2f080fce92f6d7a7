package agent

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"company/internal/company"
)

func requireEqual[T any](t tb, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %+v\nwant %+v", got, want)
	}
}

// Feature: agent-execution-engine, Property 19: Conversation History Persistence Round-Trip
//
// WRK-7: a transcript that went to disk comes back exactly.
func TestTranscriptRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.Custom(func(t *rapid.T) time.Time {
			return time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC()
		})
		text := rapid.String()
		want := Transcript{
			RunID: company.RunID(text.Draw(t, "run")), AgentID: text.Draw(t, "agent"),
			TotalTokens: rapid.Int().Draw(t, "tokens"),
			Messages: rapid.SliceOf(rapid.Custom(func(t *rapid.T) TranscriptMessage {
				return TranscriptMessage{rapid.SampledFrom([]string{"system", "user", "assistant"}).Draw(t, "role"),
					text.Draw(t, "content"), at.Draw(t, "at")}
			})).Draw(t, "messages"),
			ToolCalls: rapid.SliceOf(rapid.Custom(func(t *rapid.T) TranscriptCall {
				return TranscriptCall{
					ID: text.Draw(t, "id"), Name: text.Draw(t, "name"), Arguments: text.Draw(t, "args"),
					Result:  text.Draw(t, "result"),
					IsError: rapid.Bool().Draw(t, "err"), Timestamp: at.Draw(t, "at"), DurationMS: rapid.Int64().Draw(t, "ms"),
					Whole: company.Hash(text.Draw(t, "whole")),
				}
			})).Draw(t, "calls"),
		}
		data := want.Encode()
		got, err := DecodeTranscript(data)
		if err != nil {
			t.Fatal(err)
		}
		if len(want.Messages) == 0 {
			want.Messages = nil
		}
		if len(want.ToolCalls) == 0 {
			want.ToolCalls = nil
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
		if len(want.Messages)+len(want.ToolCalls) > 0 {
			cut := rapid.IntRange(0, len(data)-2).Draw(t, "cut")
			if _, err := DecodeTranscript(data[:cut]); company.CodeOf(err) != company.EInvalid {
				t.Fatalf("cut at %d of %d: %v", cut, len(data), err)
			}
		}
	})
}

// WRK-7: every field by the name that the requirement gives it.
func TestTranscriptNames(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	got := string(Transcript{
		RunID: "t1-01.1", AgentID: "worker-1", TotalTokens: 7,
		Messages:  []TranscriptMessage{{"user", "<hi>", at}},
		ToolCalls: []TranscriptCall{{ID: "c0", Name: "read", Arguments: "{}", Result: "x", Timestamp: at, DurationMS: 3}},
	}.Encode())
	want := `{"run":{"runId":"t1-01.1","agentId":"worker-1","messages":1,"toolCalls":1,"totalTokens":7}}
{"message":{"role":"user","content":"<hi>","timestamp":"2030-01-02T03:04:05Z"}}
{"toolCall":{"id":"c0","name":"read","arguments":"{}","result":"x","timestamp":"2030-01-02T03:04:05Z","durationMs":3}}
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
