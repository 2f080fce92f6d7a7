package agenttools

import (
	"strings"
	"testing"
)

// WRK-13: finish refuses a summary that guesses, twice. Then the pull request says so.
func TestFinishClaimsOnlyWhatWasSeen(t *testing.T) {
	b := newBench(t)
	w := WorkerTools(b.config)
	call(t, w, "write_file", `{"path":"new.txt","content":"x\n"}`)
	const guess = `{"summary":"It should work now.","risks":"slow","commit":"add new.txt"}`
	for range mostGuesses {
		res := call(t, w, "finish", guess)
		requireText(t, res, true, "Not finished", "It should work")
		if res.Final != nil || res.Changed {
			t.Errorf("%+v", res)
		}
	}
	res := call(t, w, "finish", guess)
	requireText(t, res, false, "finished at")
	if final := res.Final.(Finish); !strings.Contains(final.Risks, `The summary guesses ("It should work"). slow`) {
		t.Errorf("risks: %q", final.Risks)
	}
}
