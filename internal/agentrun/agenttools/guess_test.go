package agenttools

import (
	"strings"
	"testing"
)

// WRK-13: a claim of finished work that guesses is not a claim. Code, quotations and other uses of these words are fine.
func TestFindGuess(t *testing.T) {
	for claim, want := range map[string]string{
		"It should work now.":                      "It should work",
		"This probably fixes it.":                  "probably",
		"The tests seem to pass.":                  "seem to pass",
		"Hopefully that is all":                    "Hopefully",
		"I think the limit is right":               "I think",
		"All tests should now pass.":               "tests should now pass",
		"Returns early for possibly nil maps.":     "",
		"Adds Maybe<T> with map.":                  "",
		"Tests that should pass now do.":           "",
		"Document how the cache should work.":      "",
		"Renders 'probably' and \"I think\" as is": "",
		"Logs `probably` less.":                    "",
		"Prints\n```\nit should work\n```\nagain.": "",
	} {
		if got := findGuess(claim); got != want {
			t.Errorf("%q guesses %q, want %q", claim, got, want)
		}
	}
}

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
