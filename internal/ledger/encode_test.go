package ledger

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"company/internal/company"
	"company/internal/company/jcs"
)

// Feature: ledger, Property 2: Canonical Events
//
// An event that is written field by field has the canonical text of any value, and is
// given back as a reader finds it, or is refused with it (STA-22).
func TestEventsAreEncodedCanonically(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		odd := rapid.SampledFrom([]string{"", "t1", "a\"b\\c\n\x01", "<&>\u2028é😀", "\xff\xfe", "president"})
		data := rapid.SampledFrom(
			[]string{"", `{}`, "null", `{"b":1,"a":[1.50, 2e3,"<\u00e9>"]}`, "{ \"a\" :\n null}", `"\ud800"`, `{"a":1,"a":2}`,
				`{"n":9007199254740993}`, "{", "1 2"})
		e := company.Event{
			Seq:  rapid.OneOf(rapid.Uint64Range(1, 1<<20), rapid.Uint64Range(1<<53-1, 1<<53+3)).Draw(t, "seq"),
			Time: time.Unix(rapid.Int64Range(-1e11, 3e11).Draw(t, "time"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC(),
			Task: company.TaskID(odd.Draw(t, "task")), Subtask: company.SubtaskID(odd.Draw(t, "subtask")),
			Run:   company.RunID(odd.Draw(t, "run")),
			Actor: odd.Draw(t, "actor"), Kind: odd.Draw(t, "kind"), Data: json.RawMessage(data.Draw(t, "data")),
			Cause: odd.Draw(t, "cause"), Prev: company.Hash(odd.Draw(t, "prev")),
		}
		want, wantErr := jcs.Marshal(e)
		text, stored, err := encodeEvent(e)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%+v: %v, of any value %v", e, err, wantErr)
		}
		if err != nil {
			return
		}
		var read company.Event
		if err := json.Unmarshal(want, &read); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text, want) || !reflect.DeepEqual(stored, read) {
			t.Fatalf("%s\nwant %s\ngiven back as %+v, read as %+v", text, want, stored, read)
		}
	})
}
